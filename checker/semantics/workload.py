"""Workloads: the causal-sends of the application.

Each actor has a workload position of its own. Only a causal-send or a delivery at that actor can
move it. So a workload is a set of pure functions on one actor's position.

Question: How is the workload of a check made?
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import combinations
from typing import Any, TypeAlias

from attrs import evolve, field, frozen

from antecede.checker.model import LabelledMessage, Message, Request
from antecede.checker.support.amounts import counted
from antecede.checker.support.errors import InputError
from antecede.checker.support.settings import check_text, is_kind, names_in, shown, whole_number

Position: TypeAlias = Any


Destinations: TypeAlias = tuple[int, ...]
Label: TypeAlias = str | int


@frozen(eq=False)
class Workload:
    """A workload for a fixed number of actors.

    Attributes:
        kind: one of SUMMARIES.
        text: the workload in full, as `--workload` takes it.
        most: the greatest number of messages that one actor causal-sends.
        initial: actor -> position.
        sent: position -> the number of messages that the actor has causal-sent.
        choices: (actor, position) -> the possible destinations of the next message.
        row: actor -> the destinations of its messages in order, or, if it `chooses`, of any of
            them.
        chooses: actors choose the destinations of each message.
        after_send: (actor, position, destinations) -> position.
        after_delivery: (actor, position, message) -> position.
        ended: (actor, position) -> whether the application has come to its end.
        symmetric: actors may be renamed without changing the workload.
        self_sends: some message may be addressed to its own sender.
        reacts: deliveries may move a position.
        fan_out: the greatest number of destinations of one message.
        splits: a send takes two transitions; see `split`.
        requests: per actor the receives of its program, in order; only for programs.
        sends: per actor the names of its sends, in order; only if sends can wait for deliveries.
        labels: (sender, number) of a message -> its label; messages without labels are missing.
        offers: the labels from which the application chooses one for each other message.
    """

    kind: str
    text: str
    most: int
    initial: Callable[[int], Position]
    sent: Callable[[Position], int]
    choices: Callable[[int, Position], tuple[Destinations, ...]]
    row: Callable[[int], tuple[Destinations, ...]]
    chooses: bool
    after_send: Callable[[int, Position, Destinations], Position]
    after_delivery: Callable[[int, Position, Message], Position]
    ended: Callable[[int, Position], bool]
    symmetric: bool
    self_sends: bool
    reacts: bool = False
    fan_out: int = 1
    splits: bool = False
    requests: tuple[tuple[Request, ...], ...] | None = None
    sends: tuple[tuple[str, ...], ...] | None = None
    labels: Mapping[tuple[int, int], Label] = field(factory=dict)
    offers: tuple[Label, ...] = ()

    def offered(self, actor: int, number: int) -> tuple[Label | None, ...]:
        """Return the labels from which the application chooses; only None: it has no choice."""
        return (None,) if (actor, number) in self.labels else self.offers or (None,)

    def message(
        self, actor: int, number: int, destinations: Destinations, label: Label | None = None
    ) -> Message:
        """Return a message of an actor, with its label if it has one.

        Args:
            actor: the sender.
            number: the number of the message.
            destinations: its destinations.
            label: the label that the application chose, if it had a choice.
        """
        label = self.labels.get((actor, number), label)
        if label is None:
            return Message(actor, number, destinations)
        return LabelledMessage(actor, number, destinations, label)


@frozen(eq=False)
class EndlessWorkload(Workload):
    """A workload of applications that never stop.

    Attributes:
        buffer: an actor may send only while it has fewer undelivered messages than this.
    """

    buffer: int = field(kw_only=True)


def labels_text(labels: Sequence[Any]) -> str:
    """Return a list of labels as `--labels` takes it.

    Raises:
        InputError: one is no text, or has a comma.
    """
    for label in labels:
        if not isinstance(label, str) or "," in label:
            raise InputError(f"labels has {shown(label)}; give texts without commas")
    return ",".join(labels)


def choosing(workload: Workload, text: str, actors: int) -> Workload:
    """Return a workload whose application also chooses one of some labels for each message.

    Messages to which the workload itself gives a label keep it.

    Args:
        workload: the workload.
        text: the labels, as `--labels` takes them.
        actors: the number of actors.

    Raises:
        InputError: a label occurs twice, is no printable text, or no message is without a label.
    """
    labels = names_in(text)
    check_text("labels", text)
    for label in labels:
        if labels.count(label) > 1 or not label.isprintable():
            why = "is given twice" if label.isprintable() else "has characters that do not print"
            raise InputError(
                f"the label {shown(label)} {why}; give each label once, as in add,edit"
            )
    if workload.labels and not any(
        (actor, number) not in workload.labels
        for actor in range(actors)
        for number in range(1, messages_of(workload, actor) + 1)
    ):
        raise InputError(
            f"--labels {text} has no effect, because the {workload.kind} gives every message a "
            "label; leave one of them out"
        )
    return evolve(workload, offers=labels)


def messages_of(workload: Workload, actor: int) -> int:
    """Return the number of messages that an actor causal-sends if all that it waits for comes."""
    if workload.sends is not None:
        return len(workload.sends[actor])
    position = workload.initial(actor)
    while choices := workload.choices(actor, position):
        position = workload.after_send(actor, position, choices[0])
    return workload.sent(position)


SENDS = {
    "joint": "a causal-send, with the choice of its destinations, is one transition",
    "split": "an application first decides to send, then chooses the destinations",
}


ARM: Destinations = ()
"""The choice of destinations that represents the decision to send."""


def most_sent(workload: Workload, positions: Iterable[Iterable[Position]]) -> tuple[int, ...]:
    """Return per actor the greatest number of causal-sends at any of its positions."""
    return tuple(max(map(workload.sent, met)) for met in positions)


def split(workload: Workload) -> Workload:
    """Return a workload where each causal-send is preceded by a transition that arms it.

    A position is (whether the actor is armed, position in `workload`).
    """

    def choices(actor: int, position: tuple[bool, Position]) -> tuple[Destinations, ...]:
        armed, inner = position
        destinations = workload.choices(actor, inner)
        return destinations if armed or not destinations else (ARM,)

    def after_send(
        actor: int, position: tuple[bool, Position], destinations: Destinations
    ) -> tuple[bool, Position]:
        if destinations == ARM:
            return True, position[1]
        return False, workload.after_send(actor, position[1], destinations)

    def after_delivery(
        actor: int, position: tuple[bool, Position], message: Message
    ) -> tuple[bool, Position]:
        return position[0], workload.after_delivery(actor, position[1], message)

    return evolve(
        workload,
        initial=lambda actor: (False, workload.initial(actor)),
        sent=lambda position: workload.sent(position[1]),
        choices=choices,
        after_send=after_send,
        after_delivery=after_delivery,
        ended=lambda actor, position: workload.ended(actor, position[1]),
        splits=True,
    )


@frozen
class Recorded:
    """A position in a workload, and the messages that its actor has delivered so far, in order."""

    position: Position
    delivered: tuple[Message, ...] = ()


def recording(workload: Workload) -> Workload:
    """Return a workload whose positions also record the deliveries of their actors.

    Only the first delivery of a message at an actor is recorded.
    """

    def after_delivery(actor: int, here: Recorded, message: Message) -> Recorded:
        after = workload.after_delivery(actor, here.position, message)
        return Recorded(after, (*here.delivered, message))

    return evolve(
        workload,
        initial=lambda actor: Recorded(workload.initial(actor)),
        sent=lambda here: workload.sent(here.position),
        choices=lambda actor, here: workload.choices(actor, here.position),
        after_send=lambda actor, here, destinations: evolve(
            here, position=workload.after_send(actor, here.position, destinations)
        ),
        after_delivery=after_delivery,
        ended=lambda actor, here: workload.ended(actor, here.position),
        reacts=True,
    )


SUMMARIES = {
    "any": "each actor sends --messages messages, each to any one other actor",
    "broadcast": "each actor sends --messages messages, each to all other actors",
    "multicast": "each actor sends --messages messages, each to any one or more other actors",
    "self": "like any, but an actor may also send to itself",
    "script": (
        "script:[[1,2],[0],[]]: for each actor, the destinations of its messages, in order; [1,2] "
        'in place of a destination is one message to both, and {"to":1,"label":"edit"} a message '
        "with a label"
    ),
    "reaction": (
        'reaction:[{"name":"m1","from":0,"to":[2]},{"name":"m2","from":2,"to":[1],'
        '"after":["m1"]}]: messages with names; each may wait until others reach its sender'
    ),
    "endless": (
        "endless:B: every actor sends forever, to any one other actor, while fewer than B of its "
        "own messages are undelivered; endless:B:[[1,2],[0],[]]: for each actor, the possible "
        "destinations (an inner list [1,2] is one message to both)"
    ),
    "program": (
        'program:[[{"send":"m1","to":[1]}],[{"receive":"m1"}]]: for each actor, its sends and '
        "receives, in order; a receive accepts any message, or only the messages that it names"
    ),
}


def _count(position: int) -> int:
    return position


def _one_more(_actor: int, position: int, _destinations: Destinations) -> int:
    return position + 1


def _unmoved(_actor: int, position: Position, _message: Message) -> Position:
    return position


def _counted(
    kind: str,
    text: str,
    most: int,
    row: Callable[[int], tuple[Destinations, ...]],
    choices: Callable[[int, int], tuple[Destinations, ...]],
    *,
    chooses: bool,
    symmetric: bool,
    self_sends: bool = False,
    fan_out: int = 1,
) -> Workload:
    """Return a workload whose position is the number of messages sent."""
    return Workload(
        kind=kind,
        text=text,
        most=most,
        initial=lambda _actor: 0,
        sent=_count,
        choices=choices,
        row=row,
        chooses=chooses,
        after_send=_one_more,
        after_delivery=_unmoved,
        ended=lambda actor, position: not choices(actor, position),
        symmetric=symmetric,
        self_sends=self_sends,
        fan_out=fan_out,
    )


def _others(actors: int, actor: int) -> Destinations:
    return tuple(j for j in range(actors) if j != actor)


def _alone(everyone: Iterable[int]) -> tuple[Destinations, ...]:
    return tuple((j,) for j in everyone)


CHOICES: Mapping[str, Callable[[int, int], tuple[Destinations, ...]]] = {
    "any": lambda actors, actor: _alone(_others(actors, actor)),
    "broadcast": lambda actors, actor: (_others(actors, actor),),
    "multicast": lambda actors, actor: tuple(
        group for size in range(1, actors) for group in combinations(_others(actors, actor), size)
    ),
    "self": lambda actors, _actor: _alone(range(actors)),
}
"""Workload of --messages messages -> (actors, actor) -> the destinations to choose from."""


def counted_sends(kind: str, actors: int, messages: int) -> Workload:
    """Return a workload of CHOICES: each actor sends `messages` messages."""

    # Computed on demand, so that a system that is too large is refused at once.
    @cache
    def destinations(actor: int) -> tuple[Destinations, ...]:
        return CHOICES[kind](actors, actor)

    def choices(actor: int, position: int) -> tuple[Destinations, ...]:
        return destinations(actor) if position < messages else ()

    return _counted(
        kind,
        kind,
        messages,
        destinations,
        choices,
        chooses=True,
        symmetric=True,
        self_sends=kind == "self",
        fan_out=actors - 1 if kind in ("broadcast", "multicast") else 1,
    )


def endless(actors: int, argument: str) -> EndlessWorkload:
    """Return the workload `endless`: every actor sends forever, to any other or as listed.

    All positions are equal, because the past does not limit what an actor may send.

    Args:
        actors: the number of actors.
        argument: BUFFER, or BUFFER:[[destinations of actor 0], …]; a list in place of a destination
            is a message to all actors in the list.

    Raises:
        InputError: the argument is not a number, or does not list other actors for each actor.
    """
    number, _, listed = argument.partition(":")
    what = "how many messages of an actor may be undelivered (endless:1)"
    buffer = whole_number(number, what, most=MOST_BUFFER)
    rows = _targets(actors, listed)
    text = f"endless:{buffer}"
    if listed:
        told = [[to[0] if len(to) == 1 else to for to in row] for row in rows]
        text += ":" + json.dumps(told, separators=(",", ":"))
    return EndlessWorkload(
        kind="endless",
        text=text,
        most=1,
        initial=lambda _actor: 0,
        sent=_count,
        choices=lambda actor, _position: rows[actor],
        row=lambda actor: rows[actor],
        chooses=True,
        after_send=lambda _actor, position, _destinations: position,
        after_delivery=_unmoved,
        ended=lambda _actor, _position: False,
        symmetric=not listed,
        self_sends=False,
        fan_out=max((len(to) for row in rows for to in row), default=1),
        buffer=buffer,
    )


MOST_BUFFER = 1_000
"""The greatest BUFFER. A larger number is taken for a typing error."""


def counting(workload: EndlessWorkload) -> EndlessWorkload:
    """Return an endless workload whose positions count, so that messages have numbers."""
    return evolve(workload, after_send=_one_more)


def _targets(actors: int, listed: str) -> list[tuple[Destinations, ...]]:
    """Return per actor its possible destinations; any other actor if `listed` is empty."""
    if not listed:
        return [_alone(_others(actors, i)) for i in range(actors)]
    rows = json_list("endless", listed)
    if len(rows) != actors:
        raise InputError(f"an endless workload needs one list per actor: {actors}, got {len(rows)}")
    targets = []
    for actor, row in enumerate(rows):
        groups = [target if isinstance(target, list) and target else [target] for target in row]
        for target in (one for group in groups for one in group):
            check_destination(actors, actor, target)
        targets.append(tuple(sorted({tuple(sorted(set(group))) for group in groups})))
    return targets


Listed: TypeAlias = int | Sequence[int] | Mapping[str, Any]
"""A message of a script: its destination, several, or a table with `to` and `label`."""


def script(actors: int, sends: Sequence[Sequence[Listed]]) -> Workload:
    """Return the workload that lists, per actor, the destinations of its messages in order.

    Raises:
        InputError: not one list per actor, or a destination that is not another actor.
    """
    if len(sends) != actors:
        raise InputError(
            f"a script needs one list per actor: {actors} actors, {counted(len(sends), 'list')}"
        )
    labels: dict[tuple[int, int], Label] = {}
    plan: list[list[Destinations]] = []
    for actor, row in enumerate(sends):
        plan.append([])
        for number, listed in enumerate(row, 1):
            to, label = _to_and_label(listed)
            plan[actor].append(_targets_of(actors, actor, to))
            if label is not None:
                labels[actor, number] = label

    def choices(actor: int, position: int) -> tuple[Destinations, ...]:
        return tuple(plan[actor][position : position + 1])

    def told(actor: int, number: int, to: Destinations) -> Any:
        where = to[0] if len(to) == 1 else list(to)
        label = labels.get((actor, number))
        return where if label is None else {"to": where, "label": label}

    rows = [[told(i, n, to) for n, to in enumerate(row, 1)] for i, row in enumerate(plan)]
    made = _counted(
        "script",
        "script:" + json.dumps(rows, separators=(",", ":")),
        max(map(len, plan), default=0),
        lambda actor: tuple(plan[actor]),
        choices,
        chooses=False,
        symmetric=False,
        fan_out=max((len(to) for row in plan for to in row), default=1),
    )
    return evolve(made, labels=labels)


def _to_and_label(listed: Listed) -> tuple[Any, Label | None]:
    """Return the destinations of a message in a script, as written, and its label.

    Raises:
        InputError: a table has other keys, or a label that cannot be used.
    """
    if not isinstance(listed, Mapping):
        return listed, None
    if listed.keys() != {"to", "label"}:
        raise InputError(
            f"the message {dict(listed)!r} of the script needs the keys 'to' and 'label', such as "
            '{"to": 1, "label": "edit"}'
        )
    return listed["to"], checked_label(listed["label"])


def checked_label(label: Any) -> Label:
    """Return the label of a message.

    Raises:
        InputError: it is neither a text nor a whole number.
    """
    if not (isinstance(label, str) or is_kind(label, int)):
        raise InputError(f"the label is {shown(label)}; give a text or a whole number")
    return label  # type: ignore[no-any-return]


def _targets_of(actors: int, actor: int, to: Any) -> Destinations:
    """Return the destinations of a message: one, or a list of different ones.

    Raises:
        InputError: one of them is not another actor, or there are none, or one twice.
    """
    targets = to if isinstance(to, list | tuple) else [to]
    for target in targets:
        check_destination(actors, actor, target)
    if not targets or len(set(targets)) < len(targets):
        raise InputError(
            f"a message of actor {actor} has the destinations {list(targets)}; give one or more "
            "different actors"
        )
    return tuple(sorted(targets))


def check_destination(actors: int, actor: int, target: object) -> None:
    """Check that `target` is another actor.

    Raises:
        InputError: it is not; names the valid choices.
    """
    if not isinstance(target, int) or isinstance(target, bool) or not 0 <= target < actors:
        raise InputError(
            f"destination {target!r} of actor {actor}: give an actor from 0 to {actors - 1}"
        )
    if target == actor:
        raise InputError(f"actor {actor} sends to itself; give another actor as destination")


def json_list(kind: str, argument: str) -> Any:
    """Return the JSON list in the argument of a workload."""
    try:
        sends = json.loads(argument)
    except json.JSONDecodeError as error:
        raise InputError(
            f"the workload {kind!r} needs a JSON list after the colon ({error.msg} at character "
            f"{error.pos}); for example {SUMMARIES[kind].partition(']:')[0]}]"
        ) from None
    except (ValueError, RecursionError):
        raise InputError(
            f"the workload {kind!r} is nested too deeply, or a number in it is too long"
        ) from None
    if not isinstance(sends, list) or (
        kind != "reaction" and not all(isinstance(row, list) for row in sends)
    ):
        raise InputError(f"the workload {kind!r} needs a JSON list of lists or tables: {argument}")
    return sends
