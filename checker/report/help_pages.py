"""The help page of each command: examples, and the options that most people need."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen


@frozen
class HelpPage:
    """The parts of a command's help page that cannot be derived from its options.

    Attributes:
        examples: pairs of a command line and its purpose.
        main: the parameters that `--help` shows, in this order; `--help-all` shows the others.
    """

    examples: tuple[tuple[str, str], ...]
    main: tuple[str, ...]


PAGES: Mapping[str, HelpPage] = {
    "check": HelpPage(
        (
            ("antecede check mfss", "a shipped protocol"),
            ("antecede check chat.py:CHAT --actors 2", "your own protocol"),
            ("antecede check museum/partisan-unordered --trace bug.svg", "draw the counterexample"),
            ("antecede check mfss --workload 'script:[[1,2],[],[1]]'", "choose who sends to whom"),
        ),
        (
            *("actors", "messages", "network", "workload", "properties", "expect"),
            *("engine", "max_seconds", "trace_files", "json_file"),
        ),
    ),
    "test": HelpPage(
        (
            ("antecede test node.py:Node", "a Python class"),
            ("antecede test 'pipe:./node --id 1'", "a program that answers in JSON lines"),
        ),
        (
            *("actors", "messages", "network", "workload", "properties", "expect"),
            *("walks", "max_seconds", "trace_file", "json_file"),
        ),
    ),
    "replay": HelpPage(
        (
            ("antecede replay bug.json", "does the bug still exist?"),
            ("antecede replay bug.json --trace bug.svg", "draw it"),
        ),
        ("protocol", "trace_files", "trace_format", "interactive"),
    ),
    "explore": HelpPage(
        (
            ("antecede explore cykas-secret-mode", "start at the initial state"),
            ("antecede explore bug.json", "start with a saved counterexample"),
        ),
        (
            *("actors", "messages", "network", "workload", "properties"),
            *("protocol", "port", "no_browser"),
        ),
    ),
    "list": HelpPage(
        (
            ("antecede list", "everything"),
            ("antecede list cykas", "one protocol"),
        ),
        (),
    ),
    "sweep": HelpPage(
        (
            ("antecede sweep --protocol mfss,cykas --actors 2,3", "two protocols, two sizes"),
            ("antecede sweep museum --network fifo", "a folder of specs on another network"),
        ),
        (
            *("protocols", "actors", "messages", "network", "workload", "properties"),
            *("processes", "max_seconds", "output", "quiet"),
        ),
    ),
    "table": HelpPage(
        (
            ("antecede table --bounds 3x2", "a quick one"),
            ("antecede table --history clocks", "vector clocks in every state"),
        ),
        ("size", "history", "engine", "max_seconds", "max_memory", "form", "output", "quiet"),
    ),
    "claims": HelpPage(
        (
            ("antecede claims --source hybrid --quick", "the claims of one paper"),
            ("antecede claims --output claims.md", "all claims as a page"),
        ),
        ("source", "quick", "rows", "max_seconds", "output", "json_file", "quiet"),
    ),
    "prove": HelpPage(
        (
            ("antecede prove mfss", "a shipped proof"),
            ("antecede prove mfss --link", "also compare the model with the Python code"),
        ),
        (
            *("timeout", "expect", "links", "actors", "messages"),
            *("mutated", "suggests", "json_file", "quiet"),
        ),
    ),
    "simulate": HelpPage(
        (
            ("antecede simulate mfss,cykas --processes 25,50", "compare two protocols"),
            ("antecede simulate --figure cykas-4 --quick", "a figure of a paper, in a minute"),
        ),
        (
            *("figures", "quick", "actors", "messages", "bandwidth", "delay"),
            *("hotspots", "seeds", "output", "quiet"),
        ),
    ),
    "audit": HelpPage(
        (
            ("antecede audit log.jsonl", "the log of a real system"),
            ("antecede audit log.jsonl --trace bug.svg", "draw the first violation"),
        ),
        (
            *("log_format", "event", "fields", "unfinished"),
            *("trace_file", "json_file", "place", "master"),
        ),
    ),
}
"""Command -> its page."""
