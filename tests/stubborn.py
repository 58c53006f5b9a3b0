"""Functions that no exception ends, for the text of a protocol's file."""

from __future__ import annotations

HALF_AN_HOUR = 1800
"""A limit in seconds that the functions of PASSING let pass."""

FUNCTIONS = """
from pathlib import Path

def begin():
    Path("begun").touch()

def never():
    begin()
    while True:
        pass

def dive():
    try:
        return dive()
    except RecursionError:
        while True:  # a frame below the limit, where no handler of a signal can be called
            pass

def deep(*_):
    begin()
    return dive()

def loops(*_):
    never()

def catches(*_):
    while True:
        try:
            try:
                never()
            except BaseException:
                never()
        except BaseException:
            pass
"""
"""The beginning of a file. The functions make a file `begun` when they begin to hang."""

PASSING = f"""{FUNCTIONS}
import sys
import time
from antecede.checker.support.block import UNTIL, block

now = time.monotonic

def begin():
    Path("begun").touch()
    if "--max-seconds" in sys.argv:  # a limit of less than an hour has passed
        time.monotonic = lambda: now() + 3600
        block.numbers[UNTIL] = 1.0  # for the process that supervises this one
"""
"""As FUNCTIONS, but a limit passes at once. So no test depends on the speed of the machine."""
