"""Models and links in files of one's own: what they name is found, once, or refused."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from antecede import prove
from antecede.checker.prove import obligations
from antecede.checker.prove.front import model_named
from antecede.checker.support.errors import InputError, ProtocolError
from antecede.checker.support.registry import import_file, imported_already
from antecede.cli import main
from tests.conftest import ROOT

# --- the protocol of a model

MISSING = {
    "nothere.py:X": "there is no file 'nothere.py'",
    "there.py:Y": "'Y'",
    "mfs": "'mfs'",
}
"""Protocol of a model -> a part of the reason why it is refused."""


@pytest.fixture(name="folder")
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder, in which a file has one protocol."""
    monkeypatch.chdir(tmp_path)
    Path("there.py").write_text("from antecede.protocols.mfss import MFSS as X\n")
    return tmp_path


@pytest.mark.parametrize("protocol", MISSING)
def test_the_command_refuses_a_model_whose_protocol_does_not_exist(
    protocol: str, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = folder / "mine_proof.py"
    file.write_text(
        "from attrs import evolve\n"
        "from antecede.protocols.mfss_proof import MFSS\n"
        f"MINE = evolve(MFSS, protocol={protocol!r})\n"
    )
    monkeypatch.setattr(obligations, "prove", None)  # nothing is proved
    assert main(["prove", "mine_proof.py:MINE"]) == 2
    refused = " ".join(capsys.readouterr().err.split())
    assert f"names the protocol {protocol!r}, which is not found: " in refused
    assert MISSING[protocol] in refused


@pytest.mark.parametrize("protocol", MISSING)
@pytest.mark.usefixtures("folder")
def test_python_refuses_a_model_whose_protocol_does_not_exist(protocol: str) -> None:
    with pytest.raises(InputError, match="which is not found") as refused:
        prove(evolve(model_named("mfss"), protocol=protocol))
    assert MISSING[protocol] in str(refused.value)


@pytest.mark.parametrize("part", ["protocol", "link"])
def test_a_model_whose_protocol_or_link_is_no_text_is_refused(part: str) -> None:
    """For example, the link itself instead of its name."""
    wrong: dict[str, Any] = {part: 5}
    model = evolve(model_named("mfss"), **wrong)
    with pytest.raises(InputError, match=f"the {part} of the model .* is 5; give its name as a te"):
        prove(model)


@pytest.mark.usefixtures("folder")
def test_a_model_may_name_a_protocol_in_a_file() -> None:
    assert prove(evolve(model_named("mfss"), protocol="there.py:X")).verdict == "PROVED"


# --- the files of a protocol, its proof and its link

MINE = """
from attrs import frozen
from antecede import Protocol, Step
from antecede.protocols.mfss import Ack
from antecede.protocols.unordered import Data


@frozen
class State:
    buffer: tuple = ()
    waits: bool = False


def post(state):
    if state.waits or not state.buffer:
        return Step(state)
    head, *rest = state.buffer
    return Step(State(tuple(rest), True), sends=((head.receiver, Data(head)),))


def causal_send(state, message):
    return post(State((*state.buffer, message), state.waits))


def receive(state, src, packet):
    if isinstance(packet, Ack):
        return post(State(state.buffer, False))
    return Step(state, sends=((src, Ack()),), deliveries=(packet.message,))


MINE = Protocol(
    name="mine", initial=lambda actor, actors: State(), causal_send=causal_send, receive=receive
)
"""
PROOF = """
from attrs import evolve
from antecede.checker.prove.link import Link
from antecede.protocols import mfss_proof


def rebuild(view, actor):
    return State(mfss_proof.buffered(view, actor), bool(mfss_proof.waiting(view, actor)))


LINK = Link(events=mfss_proof.events, rebuild=rebuild, channels=mfss_proof.channels)
MODEL = evolve(mfss_proof.MFSS, protocol={protocol!r}, link={link!r})
"""


@pytest.fixture(name="modules")
def _modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return the current folder, from which modules can be imported; they are forgotten later."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", None)).startswith(str(tmp_path)):
            del sys.modules[name]


def write_proof(modules: Path, before: str, protocol: str, link: str) -> None:
    """Write the file mine_proof.py: some code, and a model with this protocol and link."""
    proof = PROOF.format(protocol=protocol, link=link)
    (modules / "mine_proof.py").write_text(f"{before}\n{proof}")


LINKS = ("mine_proof:LINK", "mine_proof.py:LINK", "mine_proof.py")


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("protocol", ["mine.py:MINE", "mine_proof.py:MINE"])
def test_a_protocol_in_another_file_has_the_classes_of_its_link(
    protocol: str, link: str, modules: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (modules / "mine.py").write_text(MINE)
    write_proof(modules, "from mine import MINE, State", protocol, link)
    assert main(["prove", "mine_proof.py:MODEL", "--link", "--actors", "2"]) == 0
    assert "LINKED" in capsys.readouterr().out


@pytest.mark.parametrize("link", LINKS)
def test_a_protocol_in_the_file_of_its_proof_has_the_classes_of_its_link(
    link: str, modules: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_proof(modules, MINE, "mine_proof.py:MINE", link)
    assert main(["prove", "mine_proof.py:MODEL", "--link", "--actors", "2"]) == 0
    assert "LINKED" in capsys.readouterr().out


def test_a_file_that_changed_is_imported_again(modules: Path) -> None:
    file = modules / "mine_proof.py"
    file.write_text("X = 1\n")
    module = import_file(file)
    assert module is imported_already("mine_proof.py:X")
    file.write_text("X = 22\n")
    assert imported_already("mine_proof.py:X") is None


@pytest.mark.integration
def test_a_link_does_not_compare_an_old_module_of_a_file_that_changed(modules: Path) -> None:
    """Python keeps the module that the file of the proof imported."""
    protocol = modules / "mine.py"
    protocol.write_text(MINE)
    write_proof(modules, "from mine import MINE, State", "mine.py:MINE", "mine_proof.py:LINK")
    linked = partial(prove, "mine_proof.py:MODEL", link=True, actors=2, messages=1)
    assert linked().verdict == "PROVED"
    protocol.write_text(MINE.replace("deliveries=(packet.message,)", "deliveries=()"))
    with pytest.raises(InputError, match=r"'mine\.py' has changed since Python imported"):
        linked()
    assert prove("mine_proof.py:MODEL").verdict == "PROVED", "it is about the model only"
    importlib.reload(sys.modules["mine"])
    assert "DIFFERENT" in str(linked())


def test_a_file_whose_import_failed_is_imported_again(modules: Path) -> None:
    """Perhaps it failed because another module was missing."""
    (modules / "mine_proof.py").write_text("import not_there\n")
    for _ in range(2):
        with pytest.raises(ProtocolError, match="No module named 'not_there'"):
            import_file(modules / "mine_proof.py")
        assert imported_already("mine_proof.py:X") is None


def test_a_file_that_cannot_be_read_is_named(
    modules: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_path: Path) -> bytes:
        raise PermissionError("not allowed")

    write_proof(modules, MINE, "mine_proof.py:MINE", "mine_proof.py:LINK")
    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(ProtocolError, match=r"importing mine_proof\.py failed: PermissionError"):
        import_file(Path("mine_proof.py"))
    assert imported_already("mine_proof.py:X") is None


def test_equal_texts_of_different_classes_are_explained(
    modules: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (modules / "mine.py").write_text(MINE)
    (modules / "copy_of_mine.py").write_text(MINE)
    write_proof(
        modules, "from mine import MINE, State", "copy_of_mine.py:MINE", "mine_proof.py:LINK"
    )
    assert main(["prove", "mine_proof.py:MODEL", "--link", "--actors", "2"]) == 1
    shown = " ".join(capsys.readouterr().out.split())
    assert "DIFFERENT" in shown
    assert "The two texts are equal, but the values (user_protocol_copy_of_mine_" in shown
    assert "protocol='mine_proof.py:MINE'" in shown


def test_a_link_that_a_file_does_not_have_is_named(
    modules: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_proof(modules, MINE, "mine_proof.py:MINE", "mine_proof.py:LONK")
    assert main(["prove", "mine_proof.py:MODEL", "--link", "--actors", "2"]) == 2
    refused = " ".join(capsys.readouterr().err.split())
    assert "the model's link 'mine_proof.py:LONK' cannot be loaded: " in refused
    assert "LINK" in refused


def test_the_example_of_the_page_on_proofs_is_proved_and_linked(
    modules: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (ROOT / "docs" / "proofs.md").read_text(encoding="utf-8")
    protocol, proof = re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    (modules / "mine.py").write_text(protocol)
    (modules / "mine_proof.py").write_text(proof)
    [command] = re.findall(r"^antecede (prove mine_proof.*)$", page, re.MULTILINE)
    assert main(command.split()) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "PROVED" in shown
    assert "LINKED" in shown
    assert "81 states and 180 transitions" in shown
