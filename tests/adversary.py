"""The adversary of checks of an order: no protocol delivers the same messages in more orders.

`unordered` on the network `unordered` may deliver each sent message at any time, so it has all runs
of every protocol, as far as sends and deliveries are concerned. If it satisfies a property of their
order, no protocol can violate it, and a check of it says nothing.
"""

from __future__ import annotations

from functools import cache

from antecede.checker.check.pipeline import check
from antecede.checker.check.spec import Spec, system_of
from antecede.checker.model import What
from antecede.checker.search.options import Bounds, Options
from antecede.checker.search.result import Verdict

FEW = Bounds(max_states=20_000)
"""A violation shows long before."""


def cannot_fail(spec: Spec) -> list[str]:
    """Return the properties of order that the check asks for and that nobody can violate."""
    properties = system_of(spec).properties
    names = spec.properties or tuple(prop.name for prop in properties)  # with their files
    return [
        prop.name
        for prop, name in zip(properties, names, strict=True)
        if prop.what in (What.DELIVERY, What.SEQUENCES) and prop.name != "integrity"
        if not can_fail(name, spec.actors, spec.messages, spec.workload, spec.file)
    ]


@cache
def can_fail(name: str, actors: int, messages: int, workload: str, file: str | None) -> bool:
    """Return whether the adversary violates a property of the order of deliveries."""
    asked = Spec("unordered", actors, messages, workload=workload, properties=(name,), file=file)
    found = check(asked, Options(engine="plain"), FEW, selfcheck="off")
    return found.result.verdict is Verdict.VIOLATED
