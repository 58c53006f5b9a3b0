"""Models and links in files of one's own: what they name is found, once, or refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from attrs import evolve

from antecede import prove
from antecede.checker.prove import obligations
from antecede.checker.prove.front import model_named
from antecede.checker.support.errors import InputError
from antecede.cli import main

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


@pytest.mark.usefixtures("folder")
def test_a_model_may_name_a_protocol_in_a_file() -> None:
    assert prove(evolve(model_named("mfss"), protocol="there.py:X")).verdict == "PROVED"
