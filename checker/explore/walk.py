"""Walking through a path by hand: forwards, backwards, and into other enabled transitions."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from attrs import define, evolve, field

from antecede.checker.model import Property, State, Transition, Where
from antecede.checker.paths.path import Path, for_replay, holds_along, replay
from antecede.checker.report.prose import Wording
from antecede.checker.semantics.transition import enabled


@define(eq=False)
class Walk:
    """A path and a place on it.

    Attributes:
        path: what was replayed; its steps beyond `at` are those that were taken before.
        at: how many of its steps have been taken.
    """

    path: Path
    at: int = 0
    words: Wording = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Stand where asked, with names for the messages."""
        self.path = evolve(self.path, system=for_replay(self.path.system))
        self.go(self.at)

    @property
    def state(self) -> State:
        """The state here."""
        return self.path.steps[self.at - 1].state if self.at else self.path.initial

    def go(self, number: int) -> None:
        """Go to after the step with this number, 0 for the start, or as near as there is."""
        self.at = min(max(number, 0), self.path.length)
        self.words = Wording.of(self.path)

    def choices(self) -> tuple[Transition, ...]:
        """Return the transitions enabled here."""
        return enabled(self.path.system, self.state)

    def take(self, transition: Transition) -> None:
        """Take a transition from here; the steps that came after are forgotten."""
        taken = [step.transition for step in self.path.steps[: self.at]]
        self.path = replay(self.path.system, [*taken, transition])
        self.go(self.at + 1)

    def so_far(self) -> Path:
        """Return the path up to here, with the property that it violates, if it does one."""
        path = evolve(self.path, steps=self.path.steps[: self.at], violates=None)
        wrong = next((p for p in path.system.properties if _violates(path, p)), None)
        return path if wrong is None else evolve(path, violates=wrong.name)


def _violates(path: Path, prop: Property) -> bool:
    searched = prop.sought or prop.where is Where.FROM_EVERYWHERE_ON
    return not searched and not holds_along(path, prop)


def view(walk: Walk, *, changed_only: bool = False) -> str:
    """Return where a walk stands: the step, the actors' states, clocks, and what is in flight."""
    words, path = walk.words, walk.path
    head = "At the start."
    if walk.at:
        head = f"{walk.at} of {path.length}. {words.step(path.steps[walk.at - 1], {})}"
    lines = [head, ""]
    wide = max(len(words.actor(actor)) for actor in range(path.system.actors))
    before = path.steps[walk.at - 2].state if walk.at > 1 else path.initial
    for actor, state in enumerate(walk.state.actors):
        clocks = [s.history[actor].knows for s in (before, walk.state)]
        changed = walk.at > 0 and (before.actors[actor] != state or clocks[0] != clocks[1])
        if changed_only and not changed:
            continue
        clock = " ".join(map(str, walk.state.history[actor].knows))
        mark = "*" if changed else " "
        lines.append(f"{mark} {words.actor(actor):<{wide}} clock {clock}  {words.value(state)}")
    lines += ["", *_in_flight(walk)]
    violates = walk.so_far().violates
    if violates is not None:
        lines += ["", f"{violates} is violated here."]
    return "\n".join(lines)


def _in_flight(walk: Walk) -> Iterator[str]:
    actors, words = walk.path.system.actors, walk.words
    found = [
        f"  {words.actor(place // actors)} → {words.actor(place % actors)}: {words.value(packet)}"
        for place, channel in enumerate(walk.state.channels)
        for packet in channel
    ]
    yield "In flight:" if found else "Nothing is in flight."
    yield from found


def choice_text(walk: Walk, transition: Transition) -> str:
    """Return what a transition would do, in words."""
    ahead = Walk(evolve(walk.path, steps=walk.path.steps[: walk.at]), walk.at)
    ahead.take(transition)
    return ahead.words.step(ahead.path.steps[-1], {})


HELP = """Enter, n   one step forward        p   one step back
g NUMBER   go to a step            b   list what else can happen here
b NUMBER   let that happen         c   only what changed, or everything
s FILE     save the path up to here (.json, .svg, .html, .txt, …)
h   help                           q   quit"""


def interact(
    walk: Walk,
    read: Callable[[], str | None],
    say: Callable[[str], None],
    save: Callable[[Path, str], None],
) -> None:
    """Let a person walk.

    Args:
        walk: where to begin.
        read: returns the next line, None at the end of the input.
        say: shows a text.
        save: writes a path to a file; it may raise InputError.
    """
    changed_only = False
    say(f"{view(walk)}\n\n{HELP}")
    while (line := read()) is not None:
        command, _, argument = line.strip().partition(" ")
        if command == "q":
            return
        if command == "h":
            say(HELP)
        elif command == "s":
            save(walk.so_far(), argument.strip())
        elif command == "b" and not argument:
            say(_choices(walk))
        else:
            if command == "c":
                changed_only = not changed_only
            elif (wrong := _moved(walk, command, argument)) is not None:
                say(wrong)
                continue
            say(view(walk, changed_only=changed_only))


def _choices(walk: Walk) -> str:
    texts = [choice_text(walk, transition) for transition in walk.choices()]
    numbered = [f"{number:4}. {text}" for number, text in enumerate(texts, 1)]
    return "\n".join(numbered) or "Nothing can happen here: the run is over."


def _moved(walk: Walk, command: str, argument: str) -> str | None:
    """Move as a command says; return what is wrong with it, if something is."""
    if command in ("", "n"):
        walk.go(walk.at + 1)
    elif command == "p":
        walk.go(walk.at - 1)
    elif command == "g" and argument.isdecimal():
        walk.go(int(argument))
    elif command == "b" and argument.isdecimal():
        choices = walk.choices()
        if not 1 <= int(argument) <= len(choices):
            return f"there is no choice {argument}; here are {len(choices)} (b lists them)"
        walk.take(choices[int(argument) - 1])
    else:
        return f"unknown command {command!r}; h lists the commands"
    return None
