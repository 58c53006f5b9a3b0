"""Fixtures of the campaigns' tests."""

from __future__ import annotations

import pytest

from antecede import properties


@pytest.fixture(autouse=True)
def _registry_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Undo what a written case does: its file registers properties of users."""
    monkeypatch.setattr(properties, "REGISTRY", properties.REGISTRY)
