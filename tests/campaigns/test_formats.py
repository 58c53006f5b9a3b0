"""Short campaigns of logs in all formats, and that they would notice what was once wrong."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from antecede.checker.logs.readers import records, shiviz, span_formats, spans
from antecede.checker.logs.readers.sources import Source
from antecede.checker.logs.readers.spans import Spans
from tests.campaigns.formats import BY_TIME, IN_ORDER, compare_formats

Patch = pytest.MonkeyPatch


@pytest.mark.integration
def test_the_same_run_has_the_same_findings_in_all_formats(tmp_path: Path) -> None:
    tally = Counter[str]()
    assert [] == [each for n in range(25) for each in compare_formats(f"ci/{n}", tmp_path, tally)]
    for file in {**IN_ORDER, **BY_TIME}:
        for word in ("HOLDS", "VIOLATED"):
            assert tally[f"{file} with tests/naive_audit.py: {word}"]
    assert tally["formats of spans with equal times: UNDECIDED"]


def drops_links(patch: Patch) -> None:
    convert = span_formats._of_jaeger

    def without(*given: object) -> object:
        resource, span = convert(*given)  # type: ignore[arg-type]
        return resource, {**span, "links": []}

    patch.setattr(span_formats, "_of_jaeger", without)


SEEDED: dict[str, Callable[[Patch], None]] = {
    "references FOLLOWS_FROM are no links": drops_links,
    "microseconds are nanoseconds": lambda patch: patch.setattr(
        span_formats, "_nanoseconds", lambda start, duration=0: str(start // 1_000_000 + duration)
    ),
    "text before an object is no event": lambda patch: patch.setattr(
        records, "_BEGIN", re.compile("(?!)")
    ),
    "a clock of words is a clock": lambda patch: patch.setattr(shiviz, "_clock", lambda _text: {}),
    "each delivery of a span is the first": lambda patch: patch.setattr(
        Spans, "_differ", lambda *_: True
    ),
    "the first order of equal times is taken": lambda patch: patch.setattr(
        "antecede.checker.logs.executions.in_every_order", lambda found, _moments: found
    ),
    "a document ends with its first line": lambda patch: patch.setattr(
        spans, "documents", lambda source: (((), n, v) for n, v in one_line_values(source))
    ),
}


def one_line_values(source: Source) -> Iterator[tuple[int, Any]]:
    for number, line in source.lines():
        value = span_formats._value(line)
        if value is None:
            source.note_foreign(number, "no JSON")
        else:
            yield number, value


@pytest.mark.parametrize("name", list(SEEDED))
def test_a_seeded_bug_is_found_and_written_down(
    name: str, monkeypatch: Patch, tmp_path: Path
) -> None:
    SEEDED[name](monkeypatch)
    seeds = (f"seeded/{number}" for number in range(40))
    assert next(filter(None, (compare_formats(s, tmp_path, Counter()) for s in seeds)), None)
