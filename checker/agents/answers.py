"""Short texts about results, for agents: the verdict first, the next step last.

The results are the objects that `checker.render.json` writes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from antecede.checker.api.wording import in_python
from antecede.checker.render import json as formats
from antecede.checker.semantics.names import Names, names_from
from antecede.checker.support.amounts import counted
from antecede.checker.support.errors import InputError
from antecede.checker.support.reading import as_toml, small_text_in
from antecede.checker.support.settings import shown

MOST_STEPS = 40
"""The most steps of a run that the answer to a check shows."""

MOST_CHARACTERS = 6_000
"""The greatest length of an answer; `explain` then says how to read on."""

Object = Mapping[str, Any]


def check_answer(result: Object, trace: str) -> str:
    """Return the answer to a check; `trace` is the file of its result, for replay and explain."""
    lines = [_verdict(result), _question(result), _counts(result), *_details(result)]
    if (run := result["counterexample"]) is not None:
        lines += [f"Why: {run['explanation']}"] if run["explanation"] else []
        lines += [*_steps(run), f"Trace: {trace}"]
    return with_end(lines, f"Next: {_next(result, trace)}")


def _verdict(result: Object) -> str:
    """Return the verdict with the violated property, and how it compares with the expectation."""
    violated = [name for name, verdict in result["properties"].items() if verdict == "VIOLATED"]
    text = f"{result['verdict']}{': ' if violated else ''}{', '.join(violated)}"
    if result["spec"] is not None:
        text += " (as the spec expects)" if result["as_expected"] else ""
        text += "".join(f"\nNot as the spec expects: {each}." for each in result["differences"])
    return text


def _question(result: Object) -> str:
    size = f"{counted(result['actors'], 'actor')}, {counted(result['messages'], 'message')} each"
    channel = f"network {result['network'] or 'of the protocol'}, workload {result['workload']}"
    return f"{result['protocol']}: {size}, {channel}"


def _counts(result: Object) -> str:
    return (
        f"{counted(result['unique_states'], 'unique state')}, "
        f"{counted(result['total_states'], 'total state')}, depth {result['depth']}, "
        f"{result['seconds']:.1f} seconds"
    )


def _details(result: Object) -> Iterator[str]:
    """Yield what limits the verdict."""
    if result["error"] is not None:
        yield f"Error: {in_python(result['error'])}"
    if result["stopped_by"] is not None:
        yield f"Stopped: {in_python(result['stopped_by'])}"
    for reason in dict.fromkeys(result["vacuous"].values()):
        yield f"Vacuous: {reason}"
    yield from result["remarks"]
    for condition in result["conditions"]:
        yield f"Condition: {condition}"
    if result["never_seen"]:
        yield f"Never happened: {'; '.join(result['never_seen'])}"


def _steps(run: Object) -> list[str]:
    """Return the steps of a run in words."""
    steps = run["transitions"]
    lines = [f"{step['number']:3}. {step['text']}" for step in steps[:MOST_STEPS]]
    if len(steps) > MOST_STEPS:
        lines.append(f"     … and {counted(len(steps) - MOST_STEPS, 'more step')}")
    if "loop" in run:
        lines.append(f"     The steps after step {run['loop']['after']} repeat forever.")
    return lines


def _next(result: Object, trace: str) -> str:
    """Return what an agent should do now."""
    verdict = result["verdict"]
    if verdict == "VIOLATED" and result["as_expected"]:
        return "nothing; the spec expects this violation."
    if verdict == "VIOLATED" and result["counterexample"] is None:
        return (
            "look at the violated property. It asks for an example, and no run within these "
            "bounds is one; allow more messages, or repair the protocol."
        )
    if verdict == "VIOLATED":
        return (
            f"find the step that is wrong; {_call('explain', trace=trace)} shows the states. "
            f"Repair the protocol, then call {_call('replay', trace=trace, **_named(result))}."
        )
    if verdict == "ERROR":
        return "repair the function of the protocol that the error names, then call validate."
    if verdict == "INCOMPLETE":
        return (
            "there is no verdict yet. Check fewer actors or messages, or raise max_states or "
            "max_seconds."
        )
    if verdict == "VACUOUS":
        return (
            "nothing was violated, but nothing could be. Choose a workload or more messages, so "
            "that a wrong protocol can violate the property."
        )
    if result["spec"] is not None and not result["as_expected"]:
        return "find out why the result changed, then correct the protocol or the spec."
    if result["spec"] is not None:
        return "nothing; the protocol does what the spec says."
    more = "check more actors or messages, then save a spec, which later checks repeat:"
    return f"{more}\n{_spec(result)}"


def _named(result: Object) -> dict[str, str]:
    """Return the arguments that replay needs for a protocol and a property in a file."""
    given = {"protocol": result["protocol"], "property": result["counterexample"]["property"]}
    return {name: value for name, value in given.items() if ".py" in (value or "")}


def _call(tool: str, **arguments: str) -> str:
    """Return the call of a tool with its arguments."""
    return f"{tool}({', '.join(f'{name}={value!r}' for name, value in arguments.items())})"


def _spec(result: Object) -> str:
    """Return the spec that asks the same question and expects the same verdict."""
    keys = ("protocol", "actors", "messages", "network", "workload")
    table = {key: result[key] for key in keys if result[key]}
    table["properties"] = list(result["properties"])
    lines = [f"{key} = {as_toml(value)}" for key, value in table.items()]
    return "\n".join([*lines, "[expect]", f'verdict = "{result["verdict"].lower()}"'])


def checks_answer(results: Object) -> str:
    """Return the answer to a check of several specs: a line for each, the wrong ones first."""
    checks = sorted(results["checks"], key=lambda each: each["as_expected"])
    refused = [f"ERROR  {refusal(each)}" for each in results["refused"]]
    lines = [
        f"{each['verdict']}{'' if each['as_expected'] else ' (NOT AS EXPECTED)'}  "
        f"{each['spec'] or each['protocol']}"
        for each in checks
    ]
    right = sum(each["as_expected"] for each in checks)
    head = f"{right} of {counted(len(checks) + len(refused), 'check')} as expected"
    wrong = right < len(checks) + len(refused)
    last = "check each spec that is wrong alone, to see its run." if wrong else "nothing."
    return with_end([head, *refused, *lines], f"Next: {last}")


def refusal(refused: Object) -> str:
    """Return why a spec could not be checked, with its name once."""
    label, error = refused["spec"], refused["error"]
    return str(error if error.startswith(label) else f"{label}: {error}")


REPAIR = "Next: repair what the error names, then call validate."
"""The last line of an answer about a target that cannot be checked."""


def validate_answer(result: Object, target: str) -> str:
    """Return the answer to a short check that looks for mistakes only.

    If time ends the check, there is a mistake, too, because its states are so few.
    """
    in_time = "--max-states" in (result["stopped_by"] or "--max-states")
    if result["verdict"] == "ERROR" or not in_time:
        return with_end(["NOT VALID", _question(result), *_details(result)], REPAIR)
    early = " A property is violated already." if result["verdict"] == "VIOLATED" else ""
    return "\n".join(
        [
            "VALID",
            _question(result),
            f"The first {counted(result['unique_states'], 'state')} raise no error.{early}",
            f"Next: {_call('check', target=target)}.",
        ]
    )


def replay_answer(violated: bool, text: str, trace: str) -> str:
    """Return the answer to a replay; `text` is the report of the command."""
    head = " ".join(text.strip().partition("\n\n")[0].split())
    if violated:
        end = f"read {_call('explain', trace=trace)}, and repair the protocol."
        return f"STILL VIOLATED\n{head}\nNext: {end}"
    return (
        f"NO LONGER VIOLATED\n{head}\nNext: check the protocol again, because another run may "
        "violate the property."
    )


def explain_answer(trace: str, first: int) -> str:
    """Return why a saved run violates its property, and its steps with the states that they change.

    The file is only read; no protocol runs.

    Raises:
        InputError: the file is not a trace, or the run has no such step.
    """
    run = formats.table_in(small_text_in(trace, "the trace"), trace)
    formats.trace_of(run, trace)
    steps, names = run["transitions"], names_from(run.get("names", {}))
    if first > max(len(steps), 1):
        raise InputError(f"first is {first}; the run has {counted(len(steps), 'step')}")
    head = [f"{run.get('property') or 'no property'}: {counted(len(steps), 'step')}"]
    head += [f"Why: {run['explanation']}"] if run.get("explanation") else []
    before = _states(steps[first - 2], first - 1) if first > 1 else []
    lines, length = list[str](), sum(map(len, head))
    for number, step in enumerate(steps[first - 1 :], first):
        states = _states(step, number)
        told = _step_with_states(number, step, states, before, names)
        length += len(told)
        if length > MOST_CHARACTERS and lines:
            read_on = _call("explain", trace=trace) + f" with first={number}"
            return "\n".join([*head, *lines, f"Next: {read_on} shows the other steps."])
        lines.append(told[:MOST_CHARACTERS])
        before = states
    end = "Next: find the first step that is wrong, and repair the function that takes it."
    return "\n".join([*head, *lines, end])


def _states(step: Object, number: int) -> list[str]:
    """Return the states of all actors after a step.

    Raises:
        InputError: they are no texts.
    """
    states = step.get("state", [])
    if not isinstance(states, list) or not all(isinstance(each, str) for each in states):
        raise InputError(
            f"transition {number}: state is {shown(states)}; it must be a list of texts"
        )
    return states


def _step_with_states(
    number: int, step: Object, states: Sequence[str], before: Sequence[str], names: Names
) -> str:
    """Return a step in words, and the states of the actors that it changes."""
    changed = [n for n, state in enumerate(states) if n >= len(before) or state != before[n]]
    told = [f"       {names.actor(n)}: {states[n]}" for n in changed]
    return "\n".join([f"{number:3}. {step.get('text', step['kind'])}", *told])


def with_end(lines: Sequence[str], end: str) -> str:
    """Return as many lines as an answer may have, and the last one."""
    text = "\n".join(lines)
    if len(text) > MOST_CHARACTERS:
        text = f"{text[:MOST_CHARACTERS]}\n… ({len(text) - MOST_CHARACTERS:,} more characters)"
    return f"{text}\n{end}"
