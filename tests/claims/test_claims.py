"""What the papers claim, decided by checks: nothing is hard-coded, and bugs turn verdicts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from antecede.checker.claims import SOURCES
from antecede.checker.claims.claim import (
    Claim,
    Evidence,
    Growth,
    Ruling,
    Source,
    Unchecked,
    at_most,
    at_rest,
    comes_to,
    control_packets,
    exactly,
    grows,
    holds,
    never_exceeds,
    reaches,
    violated,
)
from antecede.checker.claims.hybrid_table import COLUMNS, ROWS
from antecede.checker.claims.judge import Finding, Judge, command_of
from antecede.checker.model import Protocol, Receive, Step
from antecede.checker.registry import protocol_named
from antecede.checker.search.options import Bounds, Options
from antecede.checker.spec import Spec, system_of
from antecede.protocols.cykas import Yct
from antecede.protocols.mfss import MFSS, Data, Mfss
from tests.conftest import Command

CLAIMS = [claim for source in SOURCES.values() for claim in source.claims]
PLAIN = Options(engine="plain")
ONE_SENDS, ONE_RECEIVES = "endless:1:[[1,2],[],[]]", "endless:1:[[1],[],[]]"
"""Alice goes on sending to Bob and Carol, or to Bob alone."""


def judge(**values: Any) -> Judge:
    return Judge(PLAIN, Bounds(), **values)


def finding(evidence: Evidence, **values: Any) -> Finding:
    return judge(**values).finding(evidence)


# The data


def test_every_claim_has_a_key_of_its_own_and_evidence() -> None:
    assert len(CLAIMS) == len({claim.key for claim in CLAIMS})
    for claim in CLAIMS:
        assert claim.evidence, claim.key
        assert re.fullmatch(r"[a-z0-9-]+", claim.key), claim.key


def test_table_1_of_the_hybrid_paper_is_complete() -> None:
    cells = [claim.cell for claim in CLAIMS if claim.cell is not None]
    assert {(row, column) for row in ROWS for column in COLUMNS} == {
        (cell.row, cell.column) for cell in cells
    }
    assert len(ROWS) * len(COLUMNS) == len(cells)


def specs() -> Iterator[Spec]:
    """Yield every spec of the claims, within its bounds and the quick ones."""
    for claim in CLAIMS:
        for evidence in claim.evidence:
            if isinstance(evidence, Unchecked):
                continue
            yield evidence.spec
            if not isinstance(evidence, Growth) and evidence.quick is not None:
                actors, messages = evidence.quick
                yield evolve(evidence.spec, actors=actors, messages=messages)


def test_every_check_can_be_run_and_asks_what_its_protocol_can_answer() -> None:
    for spec in specs():
        system_of(spec)


# Verdicts


@pytest.mark.parametrize(
    ("evidence", "ruling", "text"),
    [
        (holds("mfss", (2, 2)), Ruling.CONFIRMED, "HOLDS (81 states)"),
        (
            holds("unordered", (2, 2)),
            Ruling.REFUTED,
            "causal-delivery VIOLATED after 4 transitions",
        ),
        (
            violated("unordered", "causal-delivery", (2, 2)),
            Ruling.CONFIRMED,
            "causal-delivery VIOLATED after 4 transitions",
        ),
        (
            violated("mfss", "causal-delivery", (2, 2)),
            Ruling.UNDECIDED,
            "no violation within these bounds (81 states)",
        ),
        (
            at_most(1, "messages_per_pair", "fifo", (2, 2)),
            Ruling.REFUTED,
            "messages per pair: 2, claimed at most 1",
        ),
        (
            reaches(3, "messages_per_pair", "fifo", (2, 2)),
            Ruling.UNDECIDED,
            "messages per pair: 2, claimed at least 3",
        ),
        (
            exactly(2, "messages_per_pair", "fifo", (2, 2)),
            Ruling.CONFIRMED,
            "messages per pair: 2, claimed exactly 2",
        ),
        (control_packets("mfss", size=(2, 1)), Ruling.REFUTED, "control packets: Ack"),
        (
            control_packets("cykas", "Ack", "Yct", size=(2, 1)),
            Ruling.UNDECIDED,
            "control packets: Ack; no Yct in these bounds",
        ),
        (
            at_rest("cykas-as-printed", "acknowledged", "sent", size=(2, 2)),
            Ruling.REFUTED,
            "an actor at rest is not sent",
        ),
        (
            at_rest("mfss", "sent", size=(2, 2)),
            Ruling.CONFIRMED,
            "every run ends, and every actor is then sent",
        ),
        (
            grows("packet_integers", "1", "rst"),
            Ruling.UNDECIDED,
            "packet integers, at most 1: 4 of 1 for 2 actors, 9 of 1 for 3 actors, 16 of 1",
        ),
        (
            grows("packet_integers", "n²", "rst"),
            Ruling.CONSISTENT,
            "packet integers, at most n²: 4 of 4 for 2 actors, 9 of 9 for 3 actors, 16 of 16",
        ),
        (
            never_exceeds(2, "eager-sent", "cykas", network="fifo", workload=ONE_SENDS),
            Ruling.REFUTED,
            "eager-sent of Alice comes to 3 after 9 transitions, while Ack from Carol to Alice",
        ),
        (
            comes_to(2, "eager-sent", "cykas", network="fifo", workload=ONE_SENDS),
            Ruling.CONFIRMED,
            "eager-sent of Alice comes to 2 after 6 transitions",
        ),
        (
            never_exceeds(0, "eager-sent", "cykas", network="fifo", workload=ONE_RECEIVES),
            Ruling.CONFIRMED,
            "nobody comes to eager-sent=1 (",
        ),
        (
            comes_to(1, "eager-sent", "cykas", network="fifo", workload=ONE_RECEIVES),
            Ruling.UNDECIDED,
            "nobody comes to eager-sent=1 (",
        ),
        (
            never_exceeds(0, "mode", "cykas", workload="endless:1", bounds=Bounds(max_states=9)),
            Ruling.UNDECIDED,
            "mode=1 was not seen: --max-states 9 reached",
        ),
        (
            violated(
                "cykas",
                "no-starvation",
                network="fifo",
                workload=ONE_SENDS,
                bound=("eager-sent=2",),
            ),
            Ruling.UNDECIDED,
            "INCOMPLETE: --bound eager-sent=2 reached",
        ),
        (Unchecked("nobody looked"), Ruling.UNDECIDED, "nobody looked"),
        (holds("mfzz", (2, 2)), Ruling.UNDECIDED, "unknown protocol 'mfzz'"),
        (
            holds("mfss", (2, 2), properties=("no-such",)),
            Ruling.UNDECIDED,
            "unknown property 'no-such'",
        ),
    ],
)
def test_evidence_is_judged_by_what_was_found(
    evidence: Evidence, ruling: Ruling, text: str
) -> None:
    found = finding(evidence)
    assert ruling == found.ruling
    assert text in found.text


def test_a_check_that_hits_a_bound_leaves_the_claim_open() -> None:
    found = Judge(PLAIN, Bounds(max_states=20)).finding(holds("mfss", (2, 2)))
    assert (Ruling.UNDECIDED, "INCOMPLETE: --max-states 20 reached") == (found.ruling, found.text)


def test_a_space_too_large_to_be_measured_leaves_the_claim_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from antecede.checker.search.costs import measure

    monkeypatch.setattr(
        "antecede.checker.claims.judge.measure", lambda system, _: measure(system, most=20)
    )
    found = finding(at_most(1, "messages_per_pair", "mfss", (2, 2)))
    assert Ruling.UNDECIDED == found.ruling
    assert "not measured: more than 20 states" in found.text


def test_a_measurement_that_takes_too_long_leaves_the_claim_open() -> None:
    found = Judge(PLAIN, Bounds(max_seconds=1e-9)).finding(exactly(1, "buffered", "mfss", (2, 2)))
    assert (Ruling.UNDECIDED, "not measured: --max-seconds 1e-09 reached") == (
        found.ruling,
        found.text,
    )


def test_who_interrupts_gets_what_was_decided_so_far(
    antecede: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr("antecede.checker.claims.judge.measure", interrupted)
    ran = antecede("claims", "--source", "tree", "--quick", "--engine", "plain")
    assert 3 == ran.code
    lines = ran.out.splitlines()
    assert "interrupted by the user" in lines[-2]
    assert lines[-1].startswith("2 claims: 1 CONFIRMED")


def test_one_refutation_outweighs_what_is_open_and_that_what_agrees() -> None:
    good, bad = holds("mfss", (2, 1)), holds("unordered", (2, 2))
    unknown = Unchecked("why")

    def ruling(*evidence: Evidence) -> tuple[Ruling, str]:
        source = Source("s", "", (Claim("k", "", "", evidence),))
        (found,) = judge().judged(source)
        return found.ruling, found.reason

    assert (Ruling.CONFIRMED, "") == ruling(good)
    assert (Ruling.UNDECIDED, "why") == ruling(good, unknown)
    assert (Ruling.REFUTED, "") == ruling(good, unknown, bad)


def test_what_was_run_once_is_judged_anew_but_not_run_again() -> None:
    once = judge()
    first = once.finding(holds("unordered", (2, 2), properties=("causal-delivery",)))
    second = once.finding(violated("unordered", "causal-delivery", (2, 2)))
    assert (Ruling.REFUTED, Ruling.CONFIRMED) == (first.ruling, second.ruling)
    assert first.report is not None
    assert second.report is not None
    assert first.report.result is second.report.result


def test_one_question_under_two_bounds_is_searched_twice() -> None:
    once = judge()
    asked: dict[str, Any] = {"network": "fifo", "workload": ONE_SENDS}
    texts = [once.finding(comes_to(n, "eager-sent", "cykas", **asked)).text for n in (1, 2, 3)]
    assert ["comes to 1 after 3", "comes to 2 after 6", "comes to 3 after 9"] == [
        text.removeprefix("eager-sent of Alice ").partition(" transitions")[0] for text in texts
    ]


def test_two_who_take_turns_starve_the_third_and_the_lasso_is_told_as_one() -> None:
    (claim,) = (claim for claim in CLAIMS if claim.key == "hybrid-cykas-starvation")
    found = finding(claim.evidence[0])
    assert Ruling.CONFIRMED == found.ruling
    assert "no-starvation VIOLATED after 5 transitions, then 14 for ever" == found.text
    assert "--bound mode=3 --bound eager-sent=2 --expect violated" in found.command


def test_the_command_of_a_check_says_all_of_it() -> None:
    check = violated("cykas", "causal-delivery", (3, 2), network="duplicating")
    assert (
        "antecede check cykas --actors 3 --messages 2 --network duplicating "
        "--property causal-delivery --expect violated"
    ) == command_of(check.spec)
    script = reaches(1, "overtaken", "cykas", (3, 2), workload="script:[[1],[],[]]")
    assert (
        "antecede check cykas --actors 3 --workload 'script:[[1],[],[]]' --measures"
    ) == command_of(script.spec, measures=True)


def test_the_command_of_a_bounded_search_says_its_bounds() -> None:
    bounds = Bounds(max_states=50)
    kept = comes_to(3, "unacked", "hybrid-basic", workload=ONE_SENDS, bounds=bounds)
    assert command_of(kept.spec).endswith(
        "--property causal-delivery --bound unacked=3 --max-states 50"
    )


def test_what_is_said_of_a_yct_that_comes_twice_is_shown_by_one() -> None:
    (claim,) = (claim for claim in CLAIMS if claim.key == "hybrid-cykas-yct")
    report = finding(claim.evidence[0]).report
    assert report is not None
    assert report.result.counterexample is not None
    taken = [step.transition for step in report.result.counterexample.steps]
    told = [t.dst for t in taken if isinstance(t, Receive) and isinstance(t.packet, Yct)]
    assert 2 == len(told)
    assert 1 == len(set(told))


# Seeded bugs


def posts_without_waiting(state: Mfss, message: Any) -> Step:
    after = Mfss(state.OB, state.unacknowledged + 1)
    return Step(after, sends=((message.receiver, Data(message)),))


def with_careless_mfss(name: str) -> Protocol:
    careless = evolve(MFSS, causal_send=posts_without_waiting)
    return careless if name == "mfss" else protocol_named(name)


@pytest.mark.parametrize(
    "key",
    [
        "mf-proposition-1",
        "mf-lemma-2",
        "mf-lemma-3",
        "mf-4-1",
        "mf-endless",
        "cykas-table-1-mfss",
        "hybrid-table-1-network-order-mf",
        "hybrid-table-1-throughput-in-transit-mf",
        "hybrid-table-1-throughput-pipelining-mf",
    ],
)
def test_a_seeded_bug_refutes_what_is_said_of_the_protocol(key: str) -> None:
    (claim,) = (claim for claim in CLAIMS if claim.key == key)
    # Three actors with one message each have no second message to post too early.
    evidence = tuple(
        evolve(e, quick=(2, 2))
        for e in claim.evidence
        if not isinstance(e, Unchecked | Growth) and e.spec.protocol == "mfss"
    )
    found = judge(quick=True, named=with_careless_mfss)
    source = Source("seeded", "", (evolve(claim, evidence=evidence),))
    if claim.key == "mf-4-1":
        source = Source("seeded", "", (evolve(claim, evidence=claim.evidence[2:]),))
    if claim.key == "mf-endless":  # of safety; what the bug counts grows without an end
        source = Source("seeded", "", (evolve(claim, evidence=evidence[:1]),))
    (judged,) = found.judged(source)
    assert Ruling.REFUTED == judged.ruling


# The command


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, Path]:
    """Run everything once, quickly."""
    from antecede import cli

    folder = tmp_path_factory.mktemp("claims")
    files = ("--output", str(folder / "claims.md"), "--json", str(folder / "claims.json"))
    return cli.main(["claims", "--quick", "--engine", "plain", "--quiet", *files]), folder


def test_all_claims_come_out_as_known(reported: tuple[int, Path]) -> None:
    """As known, not as wished: the papers are wrong where they are refuted here."""
    code, folder = reported
    found = json.loads((folder / "claims.json").read_text())
    assert 3 == code
    by_verdict: dict[str, set[str]] = {}
    for claim in found["claims"]:
        by_verdict.setdefault(claim["verdict"], set()).add(claim["key"])
    assert {
        "hybrid-table-1-network-failures-mf",
        "hybrid-algorithm-1",
        "hybrid-algorithm-2",
        "cykas-3-2-as-printed",
        "cykas-3-2-endless",
        "cykas-3-5-endless",
        "hybrid-cykas-space",
    } == by_verdict["REFUTED"]
    assert {
        "mf-lemma-4",
        "matrix-step-2",
    } == by_verdict["UNDECIDED"]
    assert len(CLAIMS) == sum(found["counts"].values())
    assert len(CLAIMS) == len(found["claims"])


def test_every_refutation_can_be_replayed(reported: tuple[int, Path], antecede: Command) -> None:
    _, folder = reported
    found = json.loads((folder / "claims.json").read_text())
    checks = [check for claim in found["claims"] for check in claim["checks"] if check["trace"]]
    assert len(checks) > 20
    for claim in found["claims"]:
        if claim["verdict"] == "REFUTED":
            assert any(check["trace"] for check in claim["checks"]), claim["key"]
        assert (claim["verdict"] == "UNDECIDED") == bool(claim["reason"])
    for check in checks:
        trace, violates = folder / check["trace"], "VIOLATED" in check["found"]
        assert trace.with_suffix(".svg").read_text().startswith("<svg")
        assert int(violates) == antecede("replay", trace).code, trace


def test_the_page_regenerates_table_1_and_links_to_files_that_exist(
    reported: tuple[int, Path],
) -> None:
    _, folder = reported
    page = (folder / "claims.md").read_text(encoding="utf-8")
    assert "| network: failures | reliable ✓ | reliable ✓ | reliable ✓ | any ✗ | " in page
    assert "| liveness | yes ✓ | yes ✓ | no ✓ | yes ✓ | no ✓ | yes ✓ |" in page
    for source in SOURCES.values():
        assert f"## {source.name}\n" in page
    links = re.findall(r"\]\((claims/[^)]+)\)", page)
    assert links
    for link in links:
        assert (folder / link).is_file()


def test_one_source_that_is_decided_exits_0(antecede: Command, tmp_path: Path) -> None:
    ran = antecede(
        *("claims", "--source", "tree", "--quick", "--engine", "plain", "--json", "-"),
    )
    assert 0 == ran.code
    found = json.loads(ran.out)
    assert {"tree"} == {claim["source"] for claim in found["claims"]}
    assert found["quick"]
    assert not list(tmp_path.iterdir())


def test_each_claim_has_its_line(antecede: Command) -> None:
    ran = antecede("claims", "--source", "mf", "--quick", "--engine", "plain")
    assert 3 == ran.code
    assert 1 + len(SOURCES["mf"].claims) == len(ran.out.splitlines())
    assert re.search(r"^UNDECIDED   mf .* Lemma 4: the input buffer is not", ran.out, re.MULTILINE)
    assert "11 claims: 10 CONFIRMED, 0 CONSISTENT, 0 REFUTED, 1 UNDECIDED" in ran.out


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("--source", "cycas"), "unknown source 'cycas'; did you mean 'cykas'?"),
        (("--output", "claims"), "--output 'claims' has no ending"),
        (("--output", "no/claims.md"), "cannot write to 'no/claims.md'"),
        (("--output", "x.md", "--json", "x.md"), "--json and --output both name 'x.md'"),
        (("--engine", "spark"), "'spark' is not one of 'local', 'plain'"),
    ],
)
def test_wrong_input_is_refused_before_any_check(
    antecede: Command, tmp_path: Path, arguments: tuple[str, ...], text: str
) -> None:
    ran = antecede("claims", *arguments, cwd=tmp_path)
    assert 2 == ran.code
    assert text in ran.err


def test_a_file_in_the_place_of_the_folder_is_refused(antecede: Command, tmp_path: Path) -> None:
    (tmp_path / "claims").write_text("mine")
    ran = antecede("claims", "--output", "claims.md", cwd=tmp_path)
    assert 2 == ran.code
    assert "counterexamples would go to 'claims', which is no folder" in ran.err
