"""Random mutants of the checker's own code: would its tests notice a small mistake in it?

Each mutant changes one place of one file of PARTS, in a copy of the repository: a comparison, an
operator, a condition, a number, a call that is left out. The tests that are nearest to the file run
first, and the first failure ends the run. A failure counts only if the same test passes without the
mutant. What the fast level misses is tried with the tests of `make integration`.

python -m tests.mutants.code --mutants 300 --output mutants.jsonl   # many hours
python -m tests.mutants.code --seconds 600 --near                   # the nearest tests, for a look

A row per mutant is appended to the output; a second run with the same seed goes on where the first
one ended. If the mutant is in a kernel, all kernels run as plain Python, because compiling them
takes longer than most tests.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from copy import deepcopy
from pathlib import Path
from resource import RLIMIT_CPU, setrlimit

from attrs import asdict, frozen

from tests.budget import FAST, INTEGRATION

ROOT = Path(__file__).parents[2]
PARTS = ("semantics", "search", "paths", "engine", "logs")
SEED = 58
LEVELS = {"fast": FAST, "integration": INTEGRATION}

ENDLESS = 120
"""The seconds after which a test is ended that a mutant may keep from ending."""

TEXTS = ("tests/test_prose.py", "tests/test_budget.py", "tests/mutants/test_code.py")
"""Tests of texts and of tests, which say nothing about a mutant."""

SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.And: ast.Or,
    ast.Or: ast.And,
}


@frozen
class Place:
    """A change of a piece of source: from `start` to `end`, in bytes, `new` takes its place."""

    file: str
    line: int
    start: int
    end: int
    old: str
    new: str

    @property
    def name(self) -> str:
        """The file and the line with the change, on one line."""
        old, new = (" ".join(text.split()) for text in (self.old, self.new))
        return f"{self.file}:{self.line}: {old} -> {new}"


def places(file: str, source: str) -> list[Place]:
    """Return all changes of a file that the operators of this module can make."""
    tree = ast.parse(source)
    starts = [0]
    for line in source.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found = []
    for node in _code(tree):
        for changed in _changes(node):
            start = starts[node.lineno - 1] + node.col_offset
            end = starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
            old = source.encode()[start:end].decode()
            new = ast.unparse(ast.fix_missing_locations(changed))
            bracketed = f"({new})" if isinstance(node, ast.expr) else new
            found.append(Place(file, node.lineno, start, end, old, bracketed))
    return found


def _code(node: ast.AST) -> Iterator[ast.expr | ast.stmt]:
    """Yield the expressions and statements that run: no annotations, defaults or decorators."""
    if isinstance(node, (ast.Import, ast.ImportFrom, ast.JoinedStr, ast.Raise, ast.Assert)):
        return
    if isinstance(node, (ast.expr, ast.stmt)):
        yield node
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "args") and not isinstance(
            node, ast.Call
        ):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _code(child)


def _changes(node: ast.expr | ast.stmt) -> Iterator[ast.AST]:
    """Yield the mutants of one node."""
    match node:
        case ast.Compare(ops=[op]):
            yield _evolved(node, ops=[SWAPS[type(op)]()])
        case ast.BoolOp(op=op) | ast.BinOp(op=op) if type(op) in SWAPS:
            yield _evolved(node, op=SWAPS[type(op)]())
        case ast.AugAssign(op=op):
            yield ast.Pass()
            if type(op) in SWAPS:
                yield _evolved(node, op=SWAPS[type(op)]())
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield operand
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value)):
            yield ast.Constant(value + 1)
        case ast.IfExp(body=body, orelse=orelse):
            yield _evolved(node, body=orelse, orelse=body)
        case ast.Expr(value=ast.Call()) | ast.Break() | ast.Continue():
            yield ast.Pass()
        case ast.Return(value=value) if value is not None and not isinstance(value, ast.Constant):
            yield ast.Return(ast.Constant(None))


def _evolved(node: ast.AST, **changes: object) -> ast.AST:
    copy = deepcopy(node)
    for name, value in changes.items():
        setattr(copy, name, value)
    return copy


def drawn(seed: int, number: int, root: Path = ROOT) -> list[Place]:
    """Return `number` places, in each part as many as the share of its lines."""
    all_places = [
        place
        for part in PARTS
        for path in sorted((root / "checker" / part).rglob("*.py"))
        for place in places(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8"))
    ]
    return random.Random(seed).sample(all_places, min(number, len(all_places)))


def nearest(file: str, root: Path = ROOT) -> tuple[list[str], list[str]]:
    """Return the test files near a source file, the nearest first, and all others.

    Near are the file's own tests, those that import its module, and those of its folder.
    """
    path = Path(file)
    module = ".".join(("antecede", *path.with_suffix("").parts)).removesuffix(".__init__")
    package, _, name = module.rpartition(".")
    imports = re.compile(
        rf"\b{re.escape(module)}\b|from {re.escape(package)} import [^\n]*\b{name}\b"
    )
    stem = path.stem.removesuffix("_kernels")
    folder = Path("tests", *path.parent.parts[1:])

    def distance(test: Path) -> tuple[int, int, str]:
        relative = test.relative_to(root)
        text = test.read_text(encoding="utf-8")
        if test.stem == f"test_{stem}":
            rank = 0
        elif imports.search(text):
            rank = 1
        elif relative.parent == folder:
            rank = 2
        elif folder in relative.parents or relative.parent in folder.parents:
            rank = 3 if relative.parent != Path("tests") else 4
        else:
            rank = 5 if relative.parent.name in ("semantics", "search", "threads") else 6
        return rank, len(text), relative.as_posix()

    ranked = sorted(map(distance, (root / "tests").rglob("test_*.py")))
    ranked = [each for each in ranked if each[2] not in TEXTS]
    return [t for rank, _, t in ranked if rank < 3], [t for rank, _, t in ranked if rank >= 3]


def is_kernel(file: str) -> bool:
    """Return whether Numba compiles the functions of a file."""
    return file.endswith("_kernels.py") or bool({"compiled", "kernels"} & set(Path(file).parts))


@frozen
class Row:
    """What became of a mutant: `by` is the level that caught it, or `nothing`.

    Attributes:
        test: the test that failed, or what else ended the run.
        seconds: the processor time of its tests.
    """

    mutant: str
    by: str
    test: str
    seconds: float


class Copy:
    """A copy of the repository, in which tests run, with a mutant or without."""

    def __init__(self, folder: Path, limit: float) -> None:
        self.root = folder / "copy"
        self.limit = limit
        self._passes: dict[tuple[str, bool], bool] = {}
        for link in ("src", "checker", "protocols", "properties", "specs", "tests", "benchmarks"):
            shutil.copytree(ROOT / link, self.root / link, symlinks=True, ignore=_caches)
        shutil.copytree(ROOT / "docs", self.root / "docs", ignore=_caches)
        for path in ROOT.iterdir():
            if path.is_file():
                shutil.copy(path, self.root / path.name, follow_symlinks=False)

    def judge(self, place: Place, levels: Sequence[str], near: bool) -> Row:
        """Run the tests of the levels on a mutant until one of them fails."""
        path = self.root / place.file
        whole = path.read_bytes()
        kernels = is_kernel(place.file)
        close, others = nearest(place.file, self.root)
        spent = 0.0
        for level in levels:
            ignored: list[str] = []
            while True:
                path.write_bytes(whole[: place.start] + place.new.encode() + whole[place.end :])
                try:
                    failed, seconds = self._failing(
                        level, close if near else close + others, kernels, ignored
                    )
                finally:
                    path.write_bytes(whole)
                spent += seconds
                if failed is None:
                    break
                if not failed.startswith("tests/") or self._passes_without(level, failed, kernels):
                    return Row(place.name, level, failed, round(spent, 1))
                ignored.append(failed)
        return Row(place.name, "nothing", "", round(spent, 1))

    def _passes_without(self, level: str, test: str, interpreted: bool) -> bool:
        """Return whether a test passes on the code as it is."""
        key = (test, interpreted)
        if key not in self._passes:
            self._passes[key] = self._failing(level, [test], interpreted, [])[0] is None
        return self._passes[key]

    def _failing(
        self, level: str, tests: Sequence[str], interpreted: bool, ignored: Sequence[str]
    ) -> tuple[str | None, float]:
        """Run tests; return the first that fails, or how the run ended, and the processor time."""
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "--tb=no", "-rfE"]
        command += ["-p", "no:cacheprovider", "-p", "no:budget", "-m", LEVELS[level]]
        command += [f"--timeout={ENDLESS}"]
        command += [f"--deselect={test}" for test in ignored]
        env = {**os.environ, "PYTHONPATH": str(self.root / "src"), "TMPDIR": str(self.root.parent)}
        if interpreted:
            env["NUMBA_DISABLE_JIT"] = "1"
            command += ["-W", "ignore:overflow encountered:RuntimeWarning"]  # as kernels do
        before = os.times()
        process = subprocess.Popen(
            [*command, *tests],
            cwd=self.root,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            preexec_fn=lambda: setrlimit(RLIMIT_CPU, (int(self.limit), int(self.limit))),
        )
        try:
            out = process.communicate(timeout=20 * self.limit)[0]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out = process.communicate()[0]
        if process.returncode < 0:
            return f"no end within {self.limit:.0f} s of processor time", self._since(before)
        found = re.search(r"^(?:FAILED|ERROR) (\S+(?: \S+)*?)(?: - |$)", out, re.MULTILINE)
        if process.returncode in (0, 5):
            return None, self._since(before)
        if found is None:
            raise RuntimeError(f"pytest ended with {process.returncode}: {out[-2000:]}")
        return found[1], self._since(before)

    @staticmethod
    def _since(before: os.times_result) -> float:
        now = os.times()
        return now.children_user + now.children_system - sum(before[2:4])


def _caches(_folder: str, names: list[str]) -> set[str]:
    return {name for name in names if name in ("__pycache__", "results", "build")}


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw mutants, judge them, and say which of them nothing notices."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--mutants", type=int, default=300)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="processor time in all")
    parser.add_argument(
        "--limit", type=float, default=3600, help="processor time of one run of tests"
    )
    parser.add_argument("--level", choices=LEVELS, action="append", help="default: both")
    parser.add_argument("--near", action="store_true", help="only the tests near the file")
    parser.add_argument("--no-kernels", action="store_true", help="leave out what Numba compiles")
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "code-mutants.jsonl")
    asked = parser.parse_args(arguments)
    asked.output.parent.mkdir(parents=True, exist_ok=True)
    lines = asked.output.read_text("utf-8").splitlines() if asked.output.exists() else []
    rows = {row["mutant"]: Row(**row) for row in map(json.loads, lines)}
    spent = 0.0
    with tempfile.TemporaryDirectory(prefix="antecede-mutants-") as folder:
        copy = Copy(Path(folder), asked.limit)
        for place in drawn(asked.seed, asked.mutants):
            if place.name in rows or spent > asked.seconds:
                continue
            if asked.no_kernels and is_kernel(place.file):
                continue
            row = copy.judge(place, asked.level or list(LEVELS), asked.near)
            rows[row.mutant] = row
            spent += row.seconds
            with asked.output.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(row)) + "\n")
            print(f"{row.by:<12} {row.seconds:6.1f} s  {row.mutant}  {row.test}", flush=True)
    counts = Counter(row.by for row in rows.values())
    print(", ".join(f"{by}: {number}" for by, number in counts.most_common()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
