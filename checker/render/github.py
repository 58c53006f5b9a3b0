"""Results as annotations, which GitHub Actions shows at the lines of a pull request.

A line `::error file=…,line=…,title=…::text` on standard output becomes a mark in the file; see
"Workflow commands for GitHub Actions" in GitHub's documentation. The marks have the text and the
location of the results in the SARIF log (`checker.render.sarif`), followed by the steps of the
counterexample.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from antecede.checker.check.report import Checked
from antecede.checker.render import sarif


def text(done: Sequence[Checked]) -> str:
    """Return a line per result that is not as expected; empty if there is none."""
    return "\n".join(_line(found) for found in sarif.results(done))


def _line(found: Mapping[str, Any]) -> str:
    level = "warning" if found["kind"] == "open" else "error"
    said = "\n".join([sarif.unescaped(found["message"]["text"]), *_steps(found)])
    title = f"antecede: {found['ruleId']}"
    place = {**_place(found["locations"][0]), "title": title}
    properties = ",".join(f"{key}={_property(str(value))}" for key, value in place.items())
    return f"::{level} {properties}::{_data(said)}"


def _place(location: Mapping[str, Any]) -> dict[str, Any]:
    """Return the file and the lines of a mark; empty if the file is not in the repository."""
    physical = location.get("physicalLocation")
    if physical is None or "uriBaseId" not in physical["artifactLocation"]:
        return {}
    region = physical["region"]
    file = sarif.path_of(physical["artifactLocation"])
    return {"file": file, "line": region["startLine"], "endLine": region["endLine"]}


def _steps(found: Mapping[str, Any]) -> list[str]:
    flows = found.get("codeFlows", ())
    return [
        sarif.unescaped(step["location"]["message"]["text"])
        for flow in flows
        for thread in flow["threadFlows"]
        for step in thread["locations"]
    ]


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
