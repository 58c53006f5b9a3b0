"""Adds the JSON schemas of files to the site, in its folder schemas."""

from __future__ import annotations

from typing import Any

from mkdocs.structure.files import File, Files

from antecede.checker.render.schemas import SCHEMAS, schema_text


def on_files(files: Files, *, config: Any) -> Files:
    """Add each schema as `antecede list --schema NAME` prints it."""
    for name in SCHEMAS:
        files.append(File.generated(config, f"schemas/{name}.json", content=schema_text(name)))
    return files
