"""A registered property whose predicate raises is wrong input, for every kind of property."""

from __future__ import annotations

import re
from typing import Any

import pytest

import antecede
from antecede import properties
from antecede.checker.model import Property, What, When
from antecede.checker.support.errors import InputError
from tests.conftest import Command

SIZE = ("--actors", "2", "--messages", "1")


def raises(_thing: Any) -> bool:
    raise ValueError("a bug")


KINDS = {
    "deliveries": (What.DELIVERY, When.ALWAYS),
    "a-delivery": (What.DELIVERY, When.SOMETIMES),
    "states": (What.LOCAL_STATE, When.ALWAYS),
    "joint": (What.GLOBAL_STATE, When.ALWAYS),
    "undelivered": (What.UNDELIVERED, When.AT_FINAL_STATES),
    "later": (What.UNDELIVERED, When.ALWAYS_POSSIBLE),
    "ended": (What.ENDED, When.AT_FINAL_STATES),
}
OWN = {name: Property(name, "as named", *kind, predicate=raises) for name, kind in KINDS.items()}


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    names = {name: f"{__name__}:{name}" for name in OWN}
    monkeypatch.setattr(properties, "REGISTRY", {**properties.REGISTRY, **names})
    for name, prop in OWN.items():
        monkeypatch.setitem(globals(), name, prop)


@pytest.mark.parametrize("engine", ["plain", "local"])
@pytest.mark.parametrize("name", KINDS)
def test_a_property_that_raises_is_wrong_input(name: str, engine: str, antecede: Command) -> None:
    ran = antecede("check", "mfss", *SIZE, "--engine", engine, "--property", name)
    assert 2 == ran.code
    said = " ".join((ran.out + ran.err).split())
    assert re.search(r"raised ValueError: a bug (\(|where: )line ", said)
    assert f"property {name!r}" in " ".join((ran.out + ran.err).split())
    assert "Traceback" not in ran.err


@pytest.mark.parametrize("name", ["deliveries", "undelivered", "ended"])
def test_the_python_interface_refuses_a_property_that_raises(name: str) -> None:
    with pytest.raises(InputError, match=f"property '{name}' raised ValueError: a bug"):
        antecede.check("mfss", actors=2, messages=1, properties=[name])
