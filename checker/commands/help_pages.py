"""The help page of each command: examples, and the options that most people need."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen


@frozen
class HelpPage:
    """The parts of a command's help page that cannot be derived from its options.

    Attributes:
        summary: the purpose of the command, in a sentence.
        examples: pairs of a command line and its purpose.
        main: the parameters that `--help` shows, in this order; `--help-all` shows the others.
        module: the module of the command, if it is not called like the command.
    """

    summary: str
    examples: tuple[tuple[str, str], ...]
    main: tuple[str, ...]
    module: str = ""


PAGES: Mapping[str, HelpPage] = {
    "check": HelpPage(
        "Check protocols, specs, or every spec in a folder.",
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
        "Run real code on a network that the checker controls.",
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
        "Replay a saved counterexample in plain Python.",
        (
            ("antecede replay bug.json", "does the bug still exist?"),
            ("antecede replay bug.json --trace bug.svg", "draw it"),
        ),
        ("protocol", "trace_files", "trace_format", "interactive"),
    ),
    "explore": HelpPage(
        "Step through the state space by hand, on a local web page.",
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
        "List the protocols, properties, networks, workloads, histories, searches and engines.",
        (
            ("antecede list", "everything"),
            ("antecede list cykas", "one protocol"),
        ),
        (),
        module="listing",
    ),
    "sweep": HelpPage(
        "Check every combination of protocols, bounds, networks and encodings.",
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
        "Reproduce the verification table of the Cykas paper, with its figures beside ours.",
        (
            ("antecede table --bounds 3x2", "a quick one"),
            ("antecede table --history clocks", "vector clocks in every state"),
        ),
        ("size", "history", "engine", "max_seconds", "max_memory", "form", "output", "quiet"),
    ),
    "claims": HelpPage(
        "Decide the claims of the papers by checks: confirmed, consistent, refuted or undecided.",
        (
            ("antecede claims --source hybrid --quick", "the claims of one paper"),
            ("antecede claims --output claims.md", "all claims as a page"),
        ),
        ("source", "quick", "rows", "max_seconds", "output", "json_file", "quiet"),
    ),
    "prove": HelpPage(
        "Prove a protocol's abstract model for every number of actors and messages.",
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
        "Run protocols in simulated time, and compare how long they take.",
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
        "Find violations of causal delivery in the logs of a real system.",
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

COMMAND_GROUPS = {
    "Check a protocol": ("check", "test", "replay", "explore", "list"),
    "Many checks": ("sweep", "table", "claims"),
    "Other methods": ("prove", "simulate", "audit"),
}
"""Heading -> commands."""
