"""docs/engine.md shows the statistics that its command prints today."""

from __future__ import annotations

import re

from benchmarks.engine import PAGE, block, command
from benchmarks.page import part
from tests.conftest import Command

TIMES = re.compile(r"\d+\.\d+, \d+% of the time")


def test_the_statistics_on_the_page_are_those_of_a_fresh_run(antecede: Command) -> None:
    page = PAGE.read_text(encoding="utf-8")
    ran = antecede(*command(page))
    assert 0 == ran.code
    assert TIMES.sub("-", block(ran.out)) == TIMES.sub("-", part(page, "statistics"))


def test_the_page_explains_every_statistic_that_it_shows() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for name in re.findall(r"^  ([a-z][a-z ]*): ", part(page, "statistics"), re.MULTILINE):
        assert f"| {name} |" in page
