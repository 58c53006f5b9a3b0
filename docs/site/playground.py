"""Adds to the site what the playground loads: antecede, what it imports, and Pyodide.

Pyodide is Python for a page of a browser. npm installs it in the folder build, and this hook copies
its files to the site. Without npm, the site has the page, and the page says what is missing.
"""

from __future__ import annotations

import io
import json
import logging
import re
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
OWN = Path(__file__).with_suffix("")
TUTORIAL = ROOT / "docs" / "tutorial.md"

PYODIDE = "314.0.7"
RUNTIME = (
    "pyodide.mjs",
    "pyodide.asm.mjs",
    "pyodide.asm.wasm",
    "pyodide-lock.json",
    "python_stdlib.zip",
)
PACKAGES = ("attrs", "jinja2", "markupsafe")
"""What the plain engine and the pictures import. MarkupSafe has a form in plain Python, too."""

PARTS = ("checker", "protocols", "properties")
LEFT_OUT = (".so", ".pyc", ".pyi", "RECORD")

log = logging.getLogger("mkdocs.hooks.playground")


def on_files(files: Files, *, config: Any) -> Files:
    """Add the files of the playground, in the folder playground of the site."""

    def add(name: str, content: str | bytes) -> None:
        files.append(File.generated(config, f"playground/{name}", content=content))

    broken, repaired = examples(TUTORIAL.read_text(encoding="utf-8"))
    add("broken.py", broken)
    add("repaired.py", repaired)
    for file in sorted(OWN.glob("*.mjs")):
        add(file.name, file.read_bytes())
    add("packages.zip", packages())
    runtime = installed(ROOT / "build" / "npm")
    for name in RUNTIME if runtime else ():
        place = f"playground/{name}"
        files.append(File.generated(config, place, abs_src_path=str(runtime / name)))
    return files


def examples(tutorial: str) -> tuple[str, str]:
    """Return the protocol of the tutorial, as it is written first and as it is repaired."""
    fence = r'^```python title="past\.py"{}\n(.*?)^```$'
    kind = re.MULTILINE | re.DOTALL
    broken = re.findall(fence.format(""), tutorial, kind)
    repairs = re.findall(fence.format(r' replaces="(\w+)"'), tutorial, kind)
    if len(broken) != 1 or len(repairs) != 1:
        raise ValueError("the tutorial no longer writes past.py once and repairs it once")
    ((name, function),) = repairs
    old = re.compile(rf"^def {name}\(.*?(?=\n\n\n)", kind)
    return broken[0], old.sub(lambda _: function.rstrip(), broken[0])


def packages() -> bytes:
    """Return a ZIP archive of antecede and what it imports. It is equal for equal files."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as out:
        for place, file in sorted(packaged()):
            out.writestr(zipfile.ZipInfo(place), file.read_bytes(), zipfile.ZIP_DEFLATED)
    return archive.getvalue()


def packaged() -> Iterator[tuple[str, Path]]:
    """Yield (place in the archive, file) for each file of the packages, with their licences."""
    yield "check.py", OWN / "check.py"
    yield "antecede/__init__.py", ROOT / "src" / "antecede" / "__init__.py"
    for part in PARTS:
        for file in (ROOT / part).rglob("*"):
            if file.is_file() and "__pycache__" not in file.parts:
                yield f"antecede/{file.relative_to(ROOT).as_posix()}", file
    for name in PACKAGES:
        for path in distribution(name).files or ():
            if not path.name.endswith(LEFT_OUT) and ".." not in path.parts:
                yield path.as_posix(), Path(str(path.locate()))


def installed(folder: Path) -> Path | None:
    """Return the folder of Pyodide, which npm installs if it is not there; None without npm."""
    found = folder / "node_modules" / "pyodide"
    about = found / "package.json"
    if about.is_file() and json.loads(about.read_text(encoding="utf-8"))["version"] == PYODIDE:
        return found
    if (npm := shutil.which("npm")) is None:
        log.info("npm is not installed, so the playground has no Python")
        return None
    folder.mkdir(parents=True, exist_ok=True)
    command = [npm, "install", "--prefix", str(folder), "--no-audit", "--no-fund"]
    command += ["--ignore-scripts", "--no-package-lock", "--no-save", f"pyodide@{PYODIDE}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        log.info("npm could not install Pyodide: %s", done.stderr.strip()[-200:])
        return None
    return found
