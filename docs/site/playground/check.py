"""Checks the protocol in the text field of the playground. It runs in Pyodide."""

import json
from pathlib import Path

from antecede import check
from antecede.checker.support.errors import InputError

FILE = Path("protocol.py")


def checked(source: str, actors: str, messages: str) -> str:
    """Return what the page shows, as JSON: HTML with the picture, and the report as text.

    Args:
        source: the protocol, as Python code.
        actors: their number, as the reader wrote it; also the messages per actor.
    """
    FILE.write_text(source, encoding="utf-8")
    try:
        result = check(str(FILE), actors=int(actors), messages=int(messages), engine="plain")
    except InputError as error:
        return json.dumps({"error": str(error)})
    return json.dumps({"html": result._repr_html_(), "report": str(result)})
