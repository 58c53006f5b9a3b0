"""The blocks of pages that `benchmarks/blocks.py` writes show what their commands print today."""

from __future__ import annotations

import re

import pytest

from benchmarks.blocks import BLOCKS, TIMES, block, command
from benchmarks.page import part
from tests.conftest import ROOT, in_a_process


@pytest.mark.integration
@pytest.mark.parametrize(("page", "name"), BLOCKS)
def test_a_block_shows_what_its_command_prints(page: str, name: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    ran = in_a_process(*command(text, name), cwd=ROOT)
    assert ran.code in (0, 1)
    assert TIMES.sub("-", block(page, name, ran.out)) == TIMES.sub("-", part(text, name))


def test_the_page_explains_every_statistic_that_it_shows() -> None:
    page = (ROOT / "docs/engine.md").read_text(encoding="utf-8")
    for name in re.findall(r"^  ([a-z][a-z ]*): ", part(page, "statistics"), re.MULTILINE):
        assert f"| {name} |" in page
