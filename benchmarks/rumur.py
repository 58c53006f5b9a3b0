"""Exploration of a system that is written in Murphi with rumur: benchmarks/rumur.

rumur explores each model completely, and without symmetry reduction except for `rst_symmetric`. So
rumur's states are our unique states, and its fired rules and the start are our total states.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

from attrs import evolve

from benchmarks.verifiers import ENVIRONMENT, Found, compiler, done, field, model_of, number

MODELS = Path(__file__).resolve().parent / "rumur"
WAYS = {"rumur, one thread": 1, "rumur, two threads": 2}
"""A way to run rumur -> its number of threads."""
OPTIONS = (
    "--deadlock-detection=off",  # the models say which final states are errors
    "--counterexample-trace=off",  # so that states need no pointers
    "--value-type=int32_t",
    "--output-format=machine-readable",
)
COMPILED = ("-std=c11", "-O3", "-march=native", "-w")
INLINED = (
    "-finline-limit=100000",
    "--param=inline-unit-growth=10000",
    "--param=large-function-insns=1000000",
)
"""Options of GCC with which verifiers are about three times as fast.

In rumur's C, a function reads or writes each variable. It becomes a few instructions if it is
inlined where the place of the variable is constant.
"""


def missing() -> str:
    """Return that rumur is missing in words, or an empty text."""
    if shutil.which("rumur") is None:
        return "rumur is not installed (there is no command rumur), so it was not measured."
    return ""


def model(check: str, models: Path = MODELS) -> Path:
    """Return the file of the model of a check."""
    return models / f"{model_of(check)[0]}.m"


def verifier(
    check: str, folder: Path, threads: int, unique: int, *options: str, models: Path = MODELS
) -> Path:
    """Generate and compile rumur's verifier of a check in a folder.

    Args:
        check: protocol, bounds and history, such as `mfss 3x2 clocks`.
        folder: the folder for rumur's files; one verifier per folder.
        threads: the number of threads of the verifier.
        unique: an estimate of the number of states. The table of states has two to four slots for
            each, because rumur searches a fuller table for longer.
        options: more options of the compiler.
        models: the folder of the models.

    Raises:
        SystemExit: rumur or the compiler failed.
    """
    cc = str(compiler())
    macros = ["-E", "-P", "-x", "c", *model_of(check)[1], str(model(check, models))]
    (folder / "model.m").write_text(done([cc, *macros], folder), encoding="utf-8")
    symmetry = "exhaustive" if "symmetric" in model(check).name else "off"
    asked = ["rumur", *OPTIONS, f"--symmetry-reduction={symmetry}", f"--threads={threads}"]
    asked += ["--output=verifier.c", "model.m"]
    done(asked, folder)
    generated = (folder / "verifier.c").read_text(encoding="utf-8")
    size = -(-number(r"STATE_SIZE_BITS = (\d+)", generated) // 8)
    slots = 2 << max(unique.bit_length(), 15)  # a verifier with a very small table crashes
    done([*asked, f"--set-capacity={8 * size * slots}"], folder)  # eight bytes per slot, times size
    inlined = () if "clang" in done([cc, "--version"], folder) else INLINED
    asked = [*COMPILED, *inlined, *options, "-o", "verifier", "verifier.c", "-lpthread"]
    done([cc, *asked], folder)
    return folder / "verifier"


def explored(verifier: Path) -> Found:
    """Run a verifier; the duration is the process's, because rumur rounds to seconds.

    Raises:
        SystemExit: the verifier crashed, or see `parsed`.
    """
    started = time.perf_counter()
    asked = [str(verifier)]
    with subprocess.Popen(asked, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT) as process:
        said = process.stdout.read() if process.stdout else ""
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - started
    if process.returncode not in (0, 1):  # 1: there is an error
        raise SystemExit(f"rumur's verifier: exit code {process.returncode}\n{said}")
    return evolve(parsed(said), seconds=seconds, peak=usage.ru_maxrss * 1024.0)


def parsed(said: str) -> Found:
    """Parse the output of rumur's verifier, which says nothing about seconds and memory.

    Raises:
        SystemExit: the search did not end, or the output is not in the format of rumur.
    """
    summary = field(r"^<summary (.*)/>$", said)
    return Found(
        unique=number(r'states="(\d+)"', summary),
        total=number(r'rules_fired="(\d+)"', summary) + 1,
        seconds=0.0,
        peak=0.0,
        violated=field(r"<message>(.*)</message>", said) if 'errors="0"' not in summary else "",
    )
