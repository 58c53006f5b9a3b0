"""The measured costs of a protocol, in lines for people."""

from __future__ import annotations

from collections.abc import Iterator

from antecede.checker.search.measures import Measures


def text(measures: Measures) -> str:
    """Return the measures for people."""
    return "\n".join(f"  {name}: {value}" for name, value in _lines(measures))


def _lines(measures: Measures) -> Iterator[tuple[str, str]]:
    yield (
        "measured",
        f"{measures.states:,} states without symmetry, {measures.final_states:,} of them final",
    )
    yield (
        "messages in transit at most",
        f"{measures.messages_per_sender} per sender, {measures.messages_per_pair} per pair",
    )
    yield (
        "packets in transit at most",
        f"{measures.packets_per_sender} per sender, {measures.packets_per_pair} per pair",
    )
    kinds = ", ".join(
        f"{name} {kind.integers}{'' if kind.carries else ' (control)'}"
        for name, kind in measures.packets.items()
    )
    yield "control data per packet, in integers, at most", kinds or "nothing is sent"
    yield "control packets per message at most", _ratio(measures)
    yield "messages in one actor's state at most", str(measures.buffered)
    yield "integers in one actor's state at most", str(measures.state_integers)
    yield "messages of a sender overtaken by its later ones at most", str(measures.overtaken)
    for name, respected in measures.at_rest.items():
        yield f"every actor at rest is {name}", "yes" if respected else "no"


def _ratio(measures: Measures) -> str:
    if not measures.acyclic:
        return "no bound, because runs need not end"
    if measures.control_packets is None:
        return "no message is sent"
    return f"{float(measures.control_packets):.4g}"
