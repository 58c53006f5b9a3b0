"""Adds the JSON schemas of files to wheels and sdists; they are derived from the code."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PLACES = {"wheel": "antecede/checker/schemas", "sdist": "schemas"}


class Schemas(BuildHookInterface[Any]):
    """Writes each schema as `antecede list --schema NAME` prints it."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the files of the schemas; an editable installation needs none."""
        if version == "editable":
            return
        sys.path.insert(0, str(Path(self.root) / "src"))
        from antecede.checker.render.schemas import SCHEMAS, schema_text

        self.folder = TemporaryDirectory()
        for name in SCHEMAS:
            file = Path(self.folder.name) / f"{name}.json"
            file.write_text(schema_text(name), encoding="utf-8")
            place = f"{PLACES[self.target_name]}/{name}.json"
            build_data["force_include"][str(file)] = place

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the folder of the files."""
        if version != "editable":
            self.folder.cleanup()
