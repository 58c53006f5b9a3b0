// Checks specs with the plain engine in Pyodide: node specs.mjs PYODIDE PACKAGES.zip SPECS.
import fs from "node:fs";

const [runtime, packages, specs] = process.argv.slice(2);
const { loadPyodide } = await import(`${runtime}/pyodide.mjs`);
const python = await loadPyodide({ indexURL: `${runtime}/` });
python.unpackArchive(new Uint8Array(fs.readFileSync(packages)), "zip", { extractDir: "/packages" });
python.FS.mkdir("/specs");
python.FS.mount(python.FS.filesystems.NODEFS, { root: specs }, "/specs");
console.log(python.runPython(`
import json
import sys
from pathlib import Path

sys.path.insert(0, "/packages")
from antecede.checker.check.pipeline import check
from antecede.checker.check.targets import targets_of
from antecede.checker.search.options import Bounds, Options

found = {}
for file in sorted(Path("/specs").glob("*.toml")):
    (spec,) = targets_of([str(file)], {}).specs
    report = check(spec, Options(engine="plain"), Bounds(max_states=3_000))
    found[file.name] = [str(report.result.verdict), list(report.differences), report.result.error]
json.dumps({"version": sys.version_info[:2], "found": found})
`));
