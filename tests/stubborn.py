"""Functions that no exception ends, for the text of a protocol's file."""

from __future__ import annotations

FUNCTIONS = """
from pathlib import Path

def never():
    Path("begun").touch()
    while True:
        pass

def dive():
    try:
        return dive()
    except RecursionError:
        while True:  # a frame below the limit, where no handler of a signal can be called
            pass

def deep(*_):
    Path("begun").touch()
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
