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
        exit_codes: the meaning of each exit code.
        module: the module of the command, if it is not called like the command.
    """

    summary: str
    examples: tuple[tuple[str, str], ...]
    main: tuple[str, ...]
    exit_codes: Mapping[int, str]
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
        {
            0: "as expected: the verdict, and everything else that the spec expects",
            1: "not as expected: a different verdict, count or counterexample",
            2: "wrong usage or input, or a handler of the protocol failed",
            3: "no verdict: INCOMPLETE (a bound or Ctrl-C ended the search), or VACUOUS (nothing "
            "happened that the property is about). With --expect vacuous, VACUOUS gives 0",
            4: "internal error of antecede",
        },
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
        {
            0: "the expected verdict",
            1: "a different verdict",
            2: "wrong usage or input, or the code failed",
            3: "no violation found before a bound ended the search",
        },
    ),
    "replay": HelpPage(
        "Replay a saved counterexample in plain Python.",
        (
            ("antecede replay bug.json", "does the bug still exist?"),
            ("antecede replay bug.json --trace bug.svg", "draw it"),
        ),
        ("protocol", "trace_files", "trace_format", "interactive"),
        {
            0: "the run no longer violates its property",
            1: "the run still violates its property",
            2: "the file is not a trace, or the protocol no longer allows the run",
        },
    ),
    "explore": HelpPage(
        "Step through the runs of a protocol by hand, on a local web page.",
        (
            ("antecede explore cykas-secret-mode", "start at the initial state"),
            ("antecede explore bug.json", "start with a saved counterexample"),
        ),
        (
            *("actors", "messages", "network", "workload", "properties"),
            *("protocol", "port", "no_browser"),
        ),
        {0: "ended by Ctrl-C", 2: "wrong usage or input"},
    ),
    "list": HelpPage(
        "List the protocols, properties, networks, workloads, histories, searches and engines.",
        (
            ("antecede list", "everything"),
            ("antecede list cykas", "one protocol"),
        ),
        (),
        {0: "success", 2: "a name is unknown"},
        module="listing",
    ),
    "sweep": HelpPage(
        "Check every combination of protocols, sizes, networks and workloads.",
        (
            ("antecede sweep --protocol mfss,cykas --actors 2,3", "two protocols, two sizes"),
            ("antecede sweep museum --network fifo", "a folder of specs on another network"),
            ("antecede sweep chat.py:CHAT --smallest", "the smallest bound that reveals a bug"),
        ),
        (
            *("protocols", "actors", "messages", "network", "workload", "properties"),
            *("smallest", "max_messages", "max_seconds", "output"),
        ),
        {
            0: "every check ended with HOLDS or VIOLATED; with --smallest: the smallest bound was "
            "found, or nothing within the limits is violated",
            2: "wrong usage or input; with --smallest also: a handler of the protocol failed",
            3: "a check ended with another result, such as INCOMPLETE; with --smallest: a smaller "
            "bound may be violated",
        },
    ),
    "table": HelpPage(
        "Reproduce the verification table of the Cykas paper, beside the printed numbers.",
        (
            ("antecede table --bounds 3x2", "a smaller table, in seconds"),
            ("antecede table --history clocks", "states with vector clocks"),
        ),
        ("size", "history", "engine", "max_seconds", "max_memory", "form", "output", "quiet"),
        {
            0: "no verdict differs from the paper",
            1: "a verdict differs from the paper",
            2: "wrong usage or input",
            3: "a search did not reach a verdict",
        },
    ),
    "claims": HelpPage(
        "Decide the claims of the papers by checks: confirmed, consistent, refuted or undecided.",
        (
            ("antecede claims --source hybrid --quick", "the claims of one paper"),
            ("antecede claims --output claims.md", "all claims as a page"),
        ),
        ("source", "quick", "rows", "max_seconds", "output", "json_file", "quiet"),
        {0: "every claim is decided", 2: "wrong usage or input", 3: "a claim is undecided"},
    ),
    "prove": HelpPage(
        "Prove a protocol's abstract model for every number of actors and messages.",
        (
            ("antecede prove mfss", "a shipped proof"),
            ("antecede prove mfss --link", "and compare its model with the Python code"),
        ),
        (
            *("timeout", "expect", "links", "actors", "messages"),
            *("mutated", "suggests", "json_file", "quiet"),
        ),
        {
            0: "the expected result",
            1: "a different result, or model and code differ",
            2: "wrong usage or input",
            3: "UNKNOWN: the solver gave up, or Ctrl-C ended it",
            4: "internal error of antecede",
        },
    ),
    "simulate": HelpPage(
        "Run protocols in simulated time, and compare how long they take.",
        (
            ("antecede simulate mfss,cykas --actors 25,50", "compare two protocols"),
            ("antecede simulate --figure cykas-4 --quick", "a figure of a paper, in a minute"),
        ),
        (
            *("figures", "quick", "actors", "messages", "bandwidth", "delay"),
            *("hotspots", "seeds", "output", "quiet"),
        ),
        {
            0: "every run delivered every message once and in causal order",
            1: "a run lost or repeated a message, or violated causal order (with --figure, "
            "violations by fifo and unordered are expected and do not count)",
            2: "wrong usage or input",
            3: "a run failed on the Spark cluster",
        },
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
        {
            0: "no violation",
            1: "a violation",
            2: "a log cannot be read, or it has no causal-send",
            3: "no message was delivered",
        },
    ),
}
"""Command -> its page."""

COMMAND_GROUPS = {
    "Check a protocol": ("check", "test", "replay", "explore", "list"),
    "Many checks": ("sweep", "table", "claims"),
    "Other methods": ("prove", "simulate", "audit"),
}
"""Heading -> commands."""
