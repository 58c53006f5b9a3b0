"""Claims of the papers, decided by checks: nothing is hard-coded, and bugs turn verdicts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from antecede.checker.check.spec import Spec, system_of
from antecede.checker.model import Protocol, Receive, Step
from antecede.checker.papers.claims.claim import (
    Check,
    Claim,
    Evidence,
    Ruling,
    Runs,
    Source,
    Unchecked,
    evidence_of,
    source_named,
    sources,
)
from antecede.checker.papers.claims.judge import Finding, Judge, Judged, command_of
from antecede.checker.papers.claims.report import SIGNS, markdown
from antecede.checker.search.options import Bounds, Options
from antecede.checker.support.errors import InputError
from antecede.checker.support.registry import protocol_named
from antecede.protocols.cykas import Yct
from antecede.protocols.mfss import MFSS, Mfss
from antecede.protocols.unordered import Data
from tests.adversary import cannot_fail
from tests.conftest import Command

CLAIMS = [claim for source in sources() for claim in source.claims]
PLAIN = Options(engine="plain")
ONE_SENDS, ONE_RECEIVES = "endless:1:[[1,2],[],[]]", "endless:1:[[1],[],[]]"
"""Alice goes on sending to Bob and Carol, or to Bob alone."""


def evidence(protocol: str, size: str = "2x2", **words: Any) -> Evidence:
    """Return evidence from the words that a file of claims has for it."""
    actors, messages = map(int, size.split("x"))
    return evidence_of({"protocol": protocol, "actors": actors, "messages": messages, **words})


def spec_of(given: Evidence) -> Spec:
    assert not isinstance(given, Runs | Unchecked)
    return given.spec


def judge(**values: Any) -> Judge:
    return Judge(PLAIN, Bounds(), **values)


def finding(given: Evidence, **values: Any) -> Finding:
    return judge(**values).finding(given)


# The data


def test_every_claim_has_a_key_of_its_own_and_evidence() -> None:
    assert len(CLAIMS) == len({claim.key for claim in CLAIMS})
    for claim in CLAIMS:
        assert claim.evidence, claim.key
        assert re.fullmatch(r"[a-z0-9-]+", claim.key), claim.key


def test_table_1_of_the_hybrid_paper_is_complete() -> None:
    cells = [claim.cell for claim in CLAIMS if claim.cell is not None]
    rows, columns = source_named("hybrid").rows, source_named("hybrid").columns
    assert {(row, column) for row in rows for column in columns} == {
        (cell.row, cell.column) for cell in cells
    }
    assert len(rows) * len(columns) == len(cells) == 48


def specs() -> Iterator[Spec]:
    """Yield every spec of the claims, within its bounds and the quick ones."""
    for claim in CLAIMS:
        for given in claim.evidence:
            if isinstance(given, Unchecked | Runs):
                continue
            yield given.spec
            if given.quick is not None:
                yield given.quick


def test_every_check_can_be_run_and_asks_what_its_protocol_can_answer() -> None:
    for spec in specs():
        system_of(spec)


NO_VERDICT = {
    "measure",
    "control_packets",
    "final_invariants",
    "kept",
    "statement",
    "generates_all",
    "proof",
}
"""The keys of evidence that is no check of properties."""


def checks(given: Evidence) -> list[Spec]:
    """Return the checks of a piece of evidence that confirm a claim if nothing is violated."""
    if not isinstance(given, Check) or given.table.keys() & (NO_VERDICT | {"violates"}):
        return []
    return [given.spec, *([] if given.quick is None else [given.quick])]


@pytest.mark.integration
@pytest.mark.parametrize("source", sources(), ids=lambda source: source.name)
def test_no_check_of_a_claim_is_about_an_order_that_nobody_can_violate(source: Source) -> None:
    for claim in source.claims:
        for spec in (spec for given in claim.evidence for spec in checks(given)):
            assert [] == cannot_fail(spec), (claim.key, spec.workload, spec.actors, spec.messages)


def test_a_check_that_nobody_can_fail_is_noticed() -> None:
    (empty, chain) = (
        evidence("mfss", "3x1"),
        evidence("mfss", "3x1", workload="script:[[2,1],[2],[]]"),
    )
    assert [["causal-delivery"], []] == [cannot_fail(spec_of(given)) for given in (empty, chain)]


WORDS: dict[str, tuple[dict[str, Any], str]] = {
    "a word that nothing reads": ({"protocol": "mfss", "quikc": "2x1"}, "'quikc'"),
    "a wrong value": ({"protocol": "mfss", "actors": "two"}, "actors is 'two'"),
    "no protocol": ({"actors": 2}, "lacks the key 'protocol'"),
}


@pytest.mark.parametrize("case", WORDS)
def test_evidence_with_a_mistake_is_refused(case: str) -> None:
    words, sentence = WORDS[case]
    with pytest.raises(InputError, match=sentence):
        evidence_of(words)


def test_evidence_that_rows_decide_is_no_check() -> None:
    (claim,) = (claim for claim in source_named("cykas").times if claim.key == "figure-5-rare")
    assert (Runs("cykas-5", "like_mfss_where_rare", "like_mfss_where_rare"),) == claim.evidence
    assert Ruling.UNDECIDED == finding(claim.evidence[0]).ruling


# Verdicts


@pytest.mark.integration
@pytest.mark.parametrize(
    ("given", "ruling", "text"),
    [
        (evidence("mfss"), Ruling.CONFIRMED, "HOLDS (81 states)"),
        (
            evidence("unordered"),
            Ruling.REFUTED,
            "causal-delivery VIOLATED after 4 transitions",
        ),
        (
            evidence("unordered", violates="causal-delivery"),
            Ruling.CONFIRMED,
            "causal-delivery VIOLATED after 4 transitions",
        ),
        (
            evidence("mfss", violates="causal-delivery"),
            Ruling.UNDECIDED,
            "no violation within these bounds (81 states)",
        ),
        (
            evidence("fifo", measure="messages_per_pair", at_most=1),
            Ruling.REFUTED,
            "messages per pair: 2, claimed at most 1",
        ),
        (
            evidence("fifo", measure="messages_per_pair", at_least=3),
            Ruling.UNDECIDED,
            "messages per pair: 2, claimed at least 3",
        ),
        (
            evidence("fifo", measure="messages_per_pair", exactly=2),
            Ruling.CONFIRMED,
            "messages per pair: 2, claimed exactly 2",
        ),
        (evidence("mfss", "2x1", control_packets=[]), Ruling.REFUTED, "control packets: Ack"),
        (
            evidence("cykas", "2x1", control_packets=["Ack", "Yct"]),
            Ruling.UNDECIDED,
            "control packets: Ack; no Yct in these bounds",
        ),
        (
            evidence("cykas-as-printed", final_invariants=["acknowledged", "sent"]),
            Ruling.REFUTED,
            "some run ends, and then the predicate `sent` does not hold for all actors",
        ),
        (
            evidence("mfss", final_invariants=["sent"]),
            Ruling.CONFIRMED,
            "every run ends, and then the predicate `sent` holds for all actors",
        ),
        (
            evidence("rst", "2x1", measure="packet_integers", law="1"),
            Ruling.UNDECIDED,
            "packet integers, at most 1: 4 of 1 for 2 actors, 9 of 1 for 3 actors, 16 of 1",
        ),
        (
            evidence("rst", "2x1", measure="packet_integers", law="n²"),
            Ruling.CONSISTENT,
            "packet integers, at most n²: 4 of 4 for 2 actors, 9 of 9 for 3 actors, 16 of 16",
        ),
        (
            evidence(
                "cykas", "3x1", kept="eager-sent", at_most=2, network="fifo", workload=ONE_SENDS
            ),
            Ruling.REFUTED,
            "eager-sent of Alice comes to 3 after 9 transitions, while Ack from Carol to Alice",
        ),
        (
            evidence(
                "cykas", "3x1", kept="eager-sent", at_least=2, network="fifo", workload=ONE_SENDS
            ),
            Ruling.CONFIRMED,
            "eager-sent of Alice comes to 2 after 6 transitions",
        ),
        (
            evidence(
                "cykas", "3x1", kept="eager-sent", at_most=0, network="fifo", workload=ONE_RECEIVES
            ),
            Ruling.CONFIRMED,
            "no actor reaches eager-sent=1 (",
        ),
        (
            evidence(
                "cykas", "3x1", kept="eager-sent", at_least=1, network="fifo", workload=ONE_RECEIVES
            ),
            Ruling.UNDECIDED,
            "no actor reaches eager-sent=1 (",
        ),
        (
            evidence("cykas", "3x1", kept="mode", at_most=0, workload="endless:1", max_states=9),
            Ruling.UNDECIDED,
            "mode=1 was not seen: --max-states 9 reached",
        ),
        (
            evidence(
                "cykas",
                "3x1",
                violates="no-starvation",
                network="fifo",
                workload=ONE_SENDS,
                bound=["eager-sent=2"],
            ),
            Ruling.UNDECIDED,
            "INCOMPLETE: --bound eager-sent=2 reached",
        ),
        (
            evidence(
                "cykas",
                "3x1",
                properties=["no-starvation"],
                within=True,
                network="fifo",
                workload=ONE_SENDS,
                bound=["eager-sent=2"],
            ),
            Ruling.CONFIRMED,
            "no violation within the bounds, which some runs exceed (",
        ),
        (
            evidence(
                "cykas",
                "3x1",
                properties=["no-starvation"],
                within=True,
                workload=ONE_SENDS,
                max_states=9,
            ),
            Ruling.UNDECIDED,
            "INCOMPLETE: --max-states 9 reached",
        ),
        (Unchecked("nobody looked"), Ruling.UNDECIDED, "nobody looked"),
        (evidence("mfzz"), Ruling.UNDECIDED, "unknown protocol 'mfzz'"),
        (
            evidence("mfss", properties=["no-such"]),
            Ruling.UNDECIDED,
            "unknown property 'no-such'",
        ),
    ],
)
def test_evidence_is_judged_by_what_was_found(given: Evidence, ruling: Ruling, text: str) -> None:
    found = finding(given)
    assert ruling == found.ruling
    assert text in found.text


def test_a_check_that_hits_a_bound_leaves_the_claim_open() -> None:
    found = Judge(PLAIN, Bounds(max_states=20)).finding(evidence("mfss"))
    assert (Ruling.UNDECIDED, "INCOMPLETE: --max-states 20 reached") == (found.ruling, found.text)


def test_a_check_that_no_protocol_can_fail_leaves_the_claim_open_and_says_why() -> None:
    found = finding(evidence("mfss", "3x1"))
    assert Ruling.UNDECIDED is found.ruling
    assert "VACUOUS: no order of these messages can violate causal-delivery" == found.text


def test_a_space_too_large_to_be_measured_leaves_the_claim_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from antecede.checker.papers.claims.measures import measure

    monkeypatch.setattr(
        "antecede.checker.papers.claims.judge.measure", lambda system, _: measure(system, most=20)
    )
    found = finding(evidence("mfss", measure="messages_per_pair", at_most=1))
    assert Ruling.UNDECIDED == found.ruling
    assert "not measured: more than 20 states" in found.text


def test_a_measurement_that_takes_too_long_leaves_the_claim_open() -> None:
    found = Judge(PLAIN, Bounds(max_seconds=1e-9)).finding(
        evidence("mfss", measure="buffered", exactly=1)
    )
    assert Ruling.UNDECIDED is found.ruling
    assert found.text.endswith(": not measured: --max-seconds 1e-09 reached")


def test_who_interrupts_gets_what_was_decided_so_far(
    antecede: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr("antecede.checker.papers.claims.judge.measure", interrupted)
    ran = antecede("claims", "--source", "tree", "--quick", "--engine", "plain")
    assert 3 == ran.code
    lines = ran.out.splitlines()
    assert "interrupted by the user" in lines[-2]
    assert lines[-1].startswith("2 claims: 1 CONFIRMED")


def test_one_refutation_outweighs_what_is_open_and_that_what_agrees() -> None:
    good, bad = evidence("mfss"), evidence("unordered")
    unknown = Unchecked("why")

    def ruling(*given: Evidence) -> tuple[Ruling, str]:
        source = Source("s", "", (Claim("k", "", "", given),))
        (found,) = judge().judged(source)
        return found.ruling, found.reason

    assert (Ruling.CONFIRMED, "") == ruling(good)
    assert (Ruling.UNDECIDED, "why") == ruling(good, unknown)
    assert (Ruling.REFUTED, "") == ruling(good, unknown, bad)


def test_what_was_run_once_is_judged_anew_but_not_run_again() -> None:
    once = judge()
    first = once.finding(evidence("unordered", properties=["causal-delivery"]))
    second = once.finding(evidence("unordered", violates="causal-delivery"))
    assert (Ruling.REFUTED, Ruling.CONFIRMED) == (first.ruling, second.ruling)
    assert first.report is not None
    assert second.report is not None
    assert first.report.result is second.report.result


def test_one_question_under_two_bounds_is_searched_twice() -> None:
    once = judge()
    asked: dict[str, Any] = {"network": "fifo", "workload": ONE_SENDS}
    texts = [
        once.finding(evidence("cykas", "3x1", kept="eager-sent", at_least=n, **asked)).text
        for n in (1, 2, 3)
    ]
    assert ["comes to 1 after 3", "comes to 2 after 6", "comes to 3 after 9"] == [
        text.removeprefix("eager-sent of Alice ").partition(" transitions")[0] for text in texts
    ]


@pytest.mark.integration
def test_two_who_take_turns_starve_the_third_and_the_lasso_is_told_as_one() -> None:
    (claim,) = (claim for claim in CLAIMS if claim.key == "hybrid-cykas-starvation")
    found = finding(claim.evidence[0])
    assert Ruling.CONFIRMED == found.ruling
    assert "no-starvation VIOLATED after 5 transitions, then 14 forever" == found.text
    assert "--bound mode=3 --bound eager-sent=2 --expect violated" in found.command


def test_the_command_of_a_check_says_all_of_it() -> None:
    check = evidence("cykas", "3x2", violates="causal-delivery", network="duplicating")
    assert (
        "antecede check cykas --actors 3 --messages 2 --network duplicating "
        "--property causal-delivery --expect violated"
    ) == command_of(spec_of(check))


def test_the_command_of_a_bounded_search_says_its_bounds() -> None:
    kept = evidence(
        "hybrid-basic", "3x1", kept="unacked", at_least=3, workload=ONE_SENDS, max_states=50
    )
    assert command_of(spec_of(kept)).endswith(
        "--property integrity --bound unacked=3 --max-states 50"
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
    after = Mfss(state.OB, (*state.unacknowledged, message.receiver))
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
        "mf-figure-7",
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
    given = tuple(
        evolve(e, quick=evolve(e.spec, actors=2, messages=2))
        for e in claim.evidence
        if isinstance(e, Check) and "law" not in e.table and e.spec.protocol == "mfss"
    )
    found = judge(quick=True, named=with_careless_mfss)
    source = Source("seeded", "", (evolve(claim, evidence=given),))
    if claim.key == "mf-4-1":
        source = Source("seeded", "", (evolve(claim, evidence=claim.evidence[2:]),))
    if claim.key == "mf-figure-7":  # a program has its own size
        source = Source("seeded", "", (evolve(claim, evidence=claim.evidence[:1]),))
    if claim.key == "mf-endless":  # of safety; what the bug counts grows without an end
        source = Source("seeded", "", (evolve(claim, evidence=given[:1]),))
    (judged,) = found.judged(source)
    assert Ruling.REFUTED == judged.ruling


# The words of the claims, and the page


PAGE = (Path(__file__).parents[3] / "docs" / "claims.md").read_text(encoding="utf-8")
BLOCKS = PAGE.split("\n### ")[1:]
LIVENESS = {"all-delivered", "can-deliver"}
SCRIPTED = ("script", "program", "reaction")


def shows_liveness(given: Evidence) -> bool:
    """Return whether a check shows that messages of a finite workload are delivered.

    A script or a program that the claim names is finite by its words.
    """
    if not isinstance(given, Check) or given.spec.workload.startswith(SCRIPTED):
        return False
    checks_all = not given.table and LIVENESS & set(given.spec.properties)
    return bool(checks_all) or "final_invariants" in given.table


def says_too_much(claim: Claim) -> bool:
    """Return whether a claim keeps quiet that only finite workloads support it."""
    specs = [given.spec for given in claim.evidence if isinstance(given, Check)]
    decided = any(spec.workload.startswith("endless") for spec in specs)
    if decided or "**REFUTED**" in block_of(claim) or not any(map(shows_liveness, claim.evidence)):
        return False
    return not re.search("finite workload|within the bounds", f"{claim.text} {claim.note}")


def test_a_claim_that_only_finite_workloads_support_says_so() -> None:
    assert [] == [claim.key for claim in CLAIMS if says_too_much(claim)]


def block_of(claim: Claim) -> str:
    """Return the block of a claim on the page."""
    return next(block for block in BLOCKS if f"** (`{claim.key}`): " in block)


def linked(text: str) -> str:
    """Return a text with links to the pages that it names."""
    return re.sub(r"docs/(\w+)\.md", r"[\1](\1.md)", text)


def test_the_page_has_the_words_of_all_claims_in_their_order() -> None:
    heads = [block.partition("\n<details")[0].splitlines() for block in BLOCKS]
    assert [claim.place for claim in CLAIMS] == [head[0] for head in heads]
    for claim, head in zip(CLAIMS, heads, strict=True):
        assert head[2].endswith(f"** (`{claim.key}`): {claim.text}")
        assert (f"*{linked(claim.note)}*" in head) == bool(claim.note)
    for source in sources():
        remark = f"{linked(source.remark)}\n\n" if source.remark else ""
        assert f"## {source.name}\n\n**Source:** {source.citation}.\n\n{remark}" in PAGE


def test_the_page_counts_the_verdicts_of_its_claims() -> None:
    verdicts = re.findall(r"^\*\*([A-Z]+)\*\* \(`", PAGE, re.MULTILINE)
    counts = ", ".join(f"{verdicts.count(ruling)} {ruling}" for ruling in SIGNS)
    assert f"\n{len(CLAIMS)} claims: {counts}.\n" in PAGE


def test_the_page_has_the_commands_of_plain_checks() -> None:
    for claim in CLAIMS:
        plain = [one for one in claim.evidence if isinstance(one, Check) and not one.table]
        for given in plain:
            assert f"```sh\n{command_of(given.spec)}\n```" in block_of(claim)


# The command


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, Path]:
    """Run everything once, quickly."""
    from antecede import cli

    folder = tmp_path_factory.mktemp("claims")
    files = ("--output", str(folder / "claims.md"), "--json", str(folder / "claims.json"))
    return cli.main(["claims", "--quick", "--engine", "plain", "--quiet", *files]), folder


@pytest.mark.integration
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
        "hybrid-table-1-space-process-cykas",
        "hybrid-algorithm-1",
        "hybrid-algorithm-2",
        "hybrid-4-2-optimal",
        "cykas-2-1-yct",
        "cykas-3-2-as-printed",
        "cykas-3-2-endless",
        "cykas-3-5-endless",
        "hybrid-cykas-space",
        "cykas-3-1-step",
        "tree-theorem-4-1-printed",
        "tree-theorem-4-1-consistent",
        "tree-arrival-irreflexive",
        "tree-lemma-4-3",
        "tree-lemma-4-4",
        "tree-lemma-4-5-printed",
        "tree-lemma-4-6",
        "matrix-step-2",
    } == by_verdict["REFUTED"]
    unchecked = {c.key for c in CLAIMS if any(isinstance(e, Unchecked) for e in c.evidence)}
    assert unchecked == by_verdict["UNDECIDED"]
    assert len(CLAIMS) == sum(found["counts"].values())
    assert len(CLAIMS) == len(found["claims"])


def trusting(run: dict[str, Any]) -> Iterator[str]:
    """Yield the options that let a replay import the files that a saved run names."""
    for key in ("protocol", "property"):
        if ".py:" in (run[key] or ""):
            yield from (f"--{key}", run[key])


@pytest.mark.integration
def test_every_refutation_can_be_replayed(reported: tuple[int, Path], antecede: Command) -> None:
    _, folder = reported
    found = json.loads((folder / "claims.json").read_text())
    checks = [check for claim in found["claims"] for check in claim["checks"] if check["trace"]]
    assert len(checks) > 20
    for claim in found["claims"]:
        if claim["verdict"] == "REFUTED":
            shown = [one["trace"] or "prove " in one["command"] for one in claim["checks"]]
            assert any(shown), claim["key"]
        assert (claim["verdict"] == "UNDECIDED") == bool(claim["reason"])
    for check in checks:
        trace = folder / check["trace"]
        violates = "VIOLATED" in check["found"] or "a handler raises" in check["found"]
        assert trace.with_suffix(".svg").read_text().startswith("<svg")
        trusted = trusting(json.loads(trace.read_text()))
        assert int(violates) == antecede("replay", trace, *trusted).code, trace


@pytest.mark.integration
def test_the_page_regenerates_table_1_and_links_to_files_that_exist(
    reported: tuple[int, Path],
) -> None:
    _, folder = reported
    page = (folder / "claims.md").read_text(encoding="utf-8")
    assert "| network: failures | reliable ✓ | reliable ✓ | reliable ✓ | any ✗ | " in page
    assert "| liveness | yes ✓ | yes ? | no ✓ | yes ✓ | no ✓ | yes ? |" in page
    for source in sources():
        assert f"## {source.name}\n" in page
    links = re.findall(r"\]\((claims/[^)]+)\)", page)
    assert links
    for link in links:
        assert (folder / link).is_file()


@pytest.mark.integration
def test_the_page_has_a_block_for_each_claim_with_its_commands(
    reported: tuple[int, Path],
) -> None:
    _, folder = reported
    page = (folder / "claims.md").read_text(encoding="utf-8")
    blocks = page.split("\n### ")[1:]
    keys = [
        re.findall(r"^\*\*[A-Z]+\*\* \(`([\w-]+)`\): ", block, re.MULTILINE) for block in blocks
    ]
    assert [[claim.key] for claim in CLAIMS] == keys
    found = json.loads((folder / "claims.json").read_text())["claims"]
    for block, claim in zip(blocks, found, strict=True):
        commands = re.findall(r"^```sh\n(.*)\n```$", block, re.MULTILINE)
        assert [check["command"] for check in claim["checks"] if check["command"]] == commands


@pytest.mark.integration
def test_checks_are_folded_except_those_that_refute(reported: tuple[int, Path]) -> None:
    _, folder = reported
    for block in (folder / "claims.md").read_text(encoding="utf-8").split("\n### ")[1:]:
        opened = "<details markdown open>" in block
        assert opened == ("**REFUTED**" in block)
        assert block.count("<details markdown") == block.count("</details>") <= 1
        assert ("```sh" in block) == ("</details>" in block)


@pytest.mark.integration
def test_final_invariants_are_named_in_a_sentence(reported: tuple[int, Path]) -> None:
    _, folder = reported
    page = (folder / "claims.md").read_text(encoding="utf-8")
    assert ": every run ends, and then the predicate `told` holds for all actors (" in page
    assert "the predicates `sent` and `acknowledged` hold for all actors (" in page


def test_a_page_links_to_the_pages_beside_it_and_only_to_these(tmp_path: Path) -> None:
    noted = evolve(CLAIMS[0], note="see docs/proofs.md and docs/nowhere.md")
    (tmp_path / "proofs.md").write_text("")
    page = markdown([Judged("mf", noted, ())], {}, command="", folder=tmp_path)
    assert "*see [proofs](proofs.md) and docs/nowhere.md*" in page


@pytest.mark.integration
def test_one_source_that_is_decided_exits_0(antecede: Command, tmp_path: Path) -> None:
    ran = antecede(
        *("claims", "--source", "tree", "--quick", "--engine", "plain", "--json", "-"),
    )
    assert 0 == ran.code
    found = json.loads(ran.out)
    assert {"tree"} == {claim["source"] for claim in found["claims"]}
    assert found["quick"]
    assert not list(tmp_path.iterdir())


def test_a_claim_whose_handler_fails_exits_2(
    antecede: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    fails = evolve(MFSS, receive=lambda *_: Step(1 / 0))
    judges = partial(Judge, named=lambda _name: fails)
    monkeypatch.setattr("antecede.checker.papers.claims.judge.Judge", judges)
    ran = antecede("claims", "--claim", "mf-lemma-4", "--engine", "plain")
    assert 2 == ran.code
    assert "ERROR: receive of protocol 'mfss' raised ZeroDivisionError" in ran.out


@pytest.mark.parametrize("key", ["mf-section-2-server-fifo", "matrix-sent-agrees"])
def test_a_claim_about_an_object_of_the_library_is_decided_in_any_folder(
    antecede: Command, tmp_path: Path, key: str
) -> None:
    ran = antecede("claims", "--claim", key, "--quick", "--engine", "plain", cwd=tmp_path)
    assert 0 == ran.code
    assert re.match(f"CONFIRMED .* {key} ", ran.out)


@pytest.mark.integration
def test_each_claim_has_its_line(antecede: Command) -> None:
    ran = antecede("claims", "--source", "mf", "--quick", "--engine", "plain")
    assert 3 == ran.code  # one statement cannot be decided here
    assert 1 + len(source_named("mf").claims) == len(ran.out.splitlines())
    assert re.search(r"^CONFIRMED .* mf-lemma-4 +.*Lemma 4$", ran.out, re.MULTILINE)
    assert "22 claims: 21 CONFIRMED, 0 CONSISTENT, 0 REFUTED, 1 UNDECIDED" in ran.out


def test_one_claim_is_decided_alone_and_its_findings_are_printed(antecede: Command) -> None:
    ran = antecede("claims", "--claim", "tree-lemma-4-3", "--engine", "plain")
    assert 0 == ran.code
    first, text, finding, last = ran.out.splitlines()
    assert re.match(r"REFUTED +\S+ s  tree-lemma-4-3 ", first)
    assert "  A step keeps a configuration well-formed." == text
    assert finding.endswith("after M-Send m1: the configuration is no longer well-formed")
    assert last.startswith("1 claim: 0 CONFIRMED, 0 CONSISTENT, 1 REFUTED")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("--source", "cycas"), "unknown source 'cycas'; did you mean 'cykas'?"),
        (("--claim", "tree-lemma-4-7"), "unknown claim 'tree-lemma-4-7'; did you mean"),
        (("--source", "mf", "--claim", "tree-lemma-4-3"), "unknown claim 'tree-lemma-4-3'"),
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


def test_an_exception_confirms_that_a_handler_raises_it_and_shows_the_run() -> None:
    raises: dict[str, Any] = {"properties": ["causal-delivery"], "raises": "IndexError"}
    found = finding(evidence("hybrid-sps-as-printed", **raises))
    assert (Ruling.CONFIRMED, "a handler raises IndexError in step 12") == (
        found.ruling,
        found.text,
    )
    assert found.path is not None


@pytest.mark.parametrize(
    ("protocol", "exception"), [("mfss", "IndexError"), ("hybrid-sps-as-printed", "KeyError")]
)
def test_a_claim_that_a_handler_raises_stays_open_if_it_does_not(
    protocol: str, exception: str
) -> None:
    assert Ruling.UNDECIDED == finding(evidence(protocol, raises=exception)).ruling


@pytest.mark.parametrize(
    ("protocol", "ruling"),
    [("mfss", Ruling.CONSISTENT), ("fifo", Ruling.REFUTED), ("unordered", Ruling.REFUTED)],
)
def test_a_claim_about_classes_is_decided_by_the_computations(
    protocol: str, ruling: Ruling
) -> None:
    between = {"generates_all": "mailbox", "generates_only": "causal"}
    found = finding(evidence(protocol, "3x2", **between))
    assert ruling == found.ruling
    assert f"antecede classes {protocol} --actors 3" == found.command


def test_a_claim_about_classes_stays_open_if_a_bound_ends_the_enumeration() -> None:
    between = {"generates_all": "mailbox", "generates_only": "causal"}
    few = Judge(PLAIN, Bounds(max_states=100))
    assert Ruling.UNDECIDED == few.finding(evidence("mfss", "3x2", **between)).ruling


@pytest.mark.parametrize(
    ("model", "fails", "ruling"),
    [
        ("rst", False, Ruling.CONFIRMED),
        ("rst-no-step-2", True, Ruling.REFUTED),
        ("rst-column", False, Ruling.UNDECIDED),
        ("sps", False, Ruling.CONFIRMED),
        ("sps-alone", False, Ruling.UNDECIDED),
    ],
)
def test_a_proof_decides_a_claim_about_every_number_of_actors(
    model: str, fails: bool, ruling: Ruling
) -> None:
    pytest.importorskip("z3")
    found = finding(evidence("rst", proof=model, fails=fails))
    assert (ruling, f"antecede prove {model}") == (found.ruling, found.command)
