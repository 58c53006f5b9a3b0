"""A protocol is checked on the network that it needs, unless another one is asked for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from attrs import evolve

from antecede.checker.check.spec import Expectation, Spec, load_spec, overridden, system_of
from antecede.checker.render.about import question
from antecede.checker.search.options import Options
from antecede.checker.search.result import Verdict
from antecede.checker.support.errors import InputError
from antecede.checker.support.registry import protocol_named, protocol_names
from antecede.checker.sweep.sweep import combined
from tests.conftest import ROOT, Command, search

FIFO = {name for name in protocol_names() if protocol_named(name).network == "fifo"}


def asked(spec: Spec) -> str:
    """Return what a report says was asked."""
    return question(system_of(spec))


def test_a_protocol_is_checked_on_the_network_that_it_needs() -> None:
    assert "fifo" == system_of(Spec("tree")).network.name
    assert "unordered" == system_of(Spec("mfss")).network.name
    assert Verdict.HOLDS == search("mfss-fifo", 2, 2).verdict


def test_whoever_names_a_network_gets_it() -> None:
    assert "unordered" == system_of(Spec("tree", network="unordered")).network.name
    assert Verdict.VIOLATED == search("mfss-fifo", 2, 2, network="unordered").verdict


def test_the_protocols_that_need_fifo_links_say_so() -> None:
    assert {"tree", "tree-star", "ks", "newtop", "newtop-null", "mfss-fifo"} < FIFO
    assert "hybrid-basic-no-timeout" in FIFO


def test_the_report_says_that_the_protocol_needs_its_network() -> None:
    assert "network fifo, as it needs" in asked(Spec("tree"))
    assert "network unordered, though it needs fifo" in asked(Spec("tree", network="unordered"))
    assert "network unordered ·" in asked(Spec("mfss"))
    assert "network fifo ·" in asked(Spec("mfss", network="fifo"))


def test_the_command_and_its_catalogue_say_so_too(antecede: Command) -> None:
    found = antecede("check", "newtop", "--actors", 2, "--messages", 1, "--property", "integrity")
    assert "network fifo, as it needs" in found.out
    assert "network it needs: fifo" in antecede("list", "--all").out


def test_a_network_that_does_not_exist_is_refused_in_the_protocols_name(
    antecede: Command, tmp_path: Path
) -> None:
    protocol = evolve(protocol_named("mfss"), name="mine", network="fifi")
    with pytest.raises(InputError, match=r"'mine' declares a network .* did you mean 'fifo'"):
        system_of(Spec("mine"), protocol)
    with pytest.raises(InputError, match="must be a string"):
        system_of(Spec("mine"), evolve(protocol, network=7))  # type: ignore[arg-type]
    text = f"{(ROOT / 'protocols/mfss.py').read_text()}\nMFSS = evolve(MFSS, network='x')\n"
    (tmp_path / "mine.py").write_text(text)
    found = antecede("check", tmp_path / "mine.py:MFSS")
    assert 2 == found.code
    assert "Traceback" not in found.err


def test_a_sweep_asks_for_the_network_by_name() -> None:
    found = combined([Spec("tree"), Spec("mfss")], {})
    assert [("tree", "fifo"), ("mfss", "unordered")] == [
        (spec.protocol, spec.network) for spec in found
    ]


def test_numbers_are_still_expected_if_the_network_is_named_that_was_meant() -> None:
    spec = Spec("tree", expect=Expectation(counts={"knowledge": {"depth": 3}}))
    assert overridden(spec, {"network": "fifo"}).expect.counts
    assert not overridden(spec, {"network": "unordered"}).expect.counts
    loaded = load_spec(ROOT / "specs/protocols/ks-unordered.toml")
    assert not overridden(loaded, {"network": "fifo"}).expect.counts


def test_the_page_of_protocols_was_made_on_these_networks() -> None:
    text = (ROOT / "docs/protocols.md").read_text(encoding="utf-8")
    networks = dict(re.findall(r"^\| \[([\w-]+)\]\(#[\w-]+\) \| (\w+) \|", text, re.MULTILINE))
    assert set(FIFO) <= networks.keys()
    assert {"fifo"} == {networks[name] for name in FIFO}


def test_both_engines_follow_the_protocol() -> None:
    found = search("tree", 3, 1, options=Options(symmetry=False))
    assert search("tree", 3, 1).counts == found.counts
