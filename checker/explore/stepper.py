"""Stepping through a run in the terminal, forwards and backwards."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from attrs import define, evolve, field

from antecede.checker.model import Property, State, When
from antecede.checker.paths.path import Path, for_replay, holds_along
from antecede.checker.render.html import envelopes
from antecede.checker.render.prose import Wording
from antecede.checker.render.terminal import wrapped


@define(eq=False)
class Stepper:
    """A run and a place on it."""

    path: Path
    at: int = 0
    words: Wording = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.path = evolve(self.path, system=for_replay(self.path.system))
        self.words = Wording.of(self.path)

    @property
    def state(self) -> State:
        """The current state."""
        return self.path.steps[self.at - 1].state if self.at else self.path.initial

    def go(self, number: int) -> None:
        """Go to the state after the step with this number (0: the start), or to the nearest one."""
        self.at = min(max(number, 0), self.path.length)

    @property
    def violates(self) -> str | None:
        """The name of the property that the run violates here, or None."""
        path = evolve(self.path, steps=self.path.steps[: self.at], violates=None)
        return next((p.name for p in path.system.properties if _violates(path, p)), None)


def _violates(path: Path, prop: Property) -> bool:
    searched = prop.sought or prop.when is When.ALWAYS_POSSIBLE
    return not searched and not holds_along(path, prop)


def view(stepper: Stepper, width: int = 80, *, changed_only: bool = False) -> str:
    """Return the current view: the step, the actors' states, clocks, and packets in flight.

    Args:
        width: the greatest length of a line, in characters.
        changed_only: leave out the actors that the last step did not change.
    """
    words, path, at = stepper.words, stepper.path, stepper.at
    head = f"At the start of {path.length} steps."
    if at:
        head = f"{at} of {path.length}. {words.step(path.steps[at - 1], {})}"
    lines = [head, ""]
    wide = max(len(words.actor(actor)) for actor in range(path.system.actors))
    before = path.steps[at - 2].state if at > 1 else path.initial
    for actor, state in enumerate(stepper.state.actors):
        clocks = [s.history[actor].knows for s in (before, stepper.state)]
        changed = at > 0 and (before.actors[actor] != state or clocks[0] != clocks[1])
        if changed_only and not changed:
            continue
        clock = " ".join(map(str, stepper.state.history[actor].knows))
        mark = "*" if changed else " "
        lines.append(f"{mark} {words.actor(actor):<{wide}} clock {clock}  {words.value(state)}")
    lines += ["", *_in_flight(stepper)]
    if stepper.violates is not None:
        lines += ["", f"{stepper.violates} is violated here."]
    return "\n".join(_wrapped(line, width) for line in lines)


def _wrapped(line: str, width: int) -> str:
    """Return a line broken between words, further lines indented."""
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    return wrapped(line, indent, width)


def _in_flight(stepper: Stepper) -> Iterator[str]:
    packets = [f"  {text}" for text in envelopes(stepper.path, stepper.words, stepper.state)]
    yield "In flight:" if packets else "Nothing is in flight."
    yield from packets


HELP = """Enter, n   one step forward        p   one step back
g NUMBER   go to a step            c   only what changed, or everything
h          help                    q   quit"""


def interact(
    stepper: Stepper, read: Callable[[], str | None], say: Callable[[str], None], width: int = 80
) -> None:
    """Step through a run interactively.

    Args:
        read: returns the next line, None at the end of the input.
        width: the greatest length of a line, in characters.
    """
    changed_only = False
    say(f"{view(stepper, width)}\n\n{HELP}")
    while (line := read()) is not None:
        command, _, argument = line.strip().partition(" ")
        if command == "q":
            return
        if command == "h":
            say(HELP)
            continue
        if command == "c":
            changed_only = not changed_only
        elif (wrong := _moved(stepper, command, argument.strip())) is not None:
            say(_wrapped(wrong, width))
            continue
        say(view(stepper, width, changed_only=changed_only))


def _moved(stepper: Stepper, command: str, argument: str) -> str | None:
    """Execute a command; return an error message if it is impossible."""
    last = stepper.path.length
    match command:
        case "" | "n" if stepper.at == last:
            return f"this is the last of {last} steps; p goes back, q quits"
        case "" | "n":
            stepper.go(stepper.at + 1)
        case "p" if stepper.at == 0:
            return "this is the start"
        case "p":
            stepper.go(stepper.at - 1)
        case "g" if not argument.isdecimal() or int(argument) > last:
            asked = f"there is no step {argument}" if argument else "g asks for a number"
            return f"{asked}; this run has {last} steps: g 0, the start, to g {last}"
        case "g":
            stepper.go(int(argument))
        case _:
            return f"unknown command {command!r}; h lists the commands"
    return None
