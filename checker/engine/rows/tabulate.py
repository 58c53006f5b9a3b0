"""Tabulated exploration: a system's pure functions as tables, filled on demand.

Components of a state are numbered (see `checker.engine.rows.components`). A table entry is made by
calling the protocol, the network kind, the workload or the oracle once per distinct argument.
The kernels then work on numbers alone. The entries of the history are made in `histories`, and the
entries that judge final states in `final_states`.

The `full` history is tabulated as `clocks` plus two sequences of records per actor: its
deliveries, and the stamps of its own messages. The numbers of sequences need no Python call.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
from attrs import define, evolve, field

from antecede.checker.engine.rows import entries_kernels, histories
from antecede.checker.engine.rows import geometry as g
from antecede.checker.engine.rows.components import (
    NOT_ENABLED,
    Components,
    bits_of,
    call_of,
    in_call,
    in_result,
)
from antecede.checker.engine.rows.final_states import FinalStates
from antecede.checker.engine.rows.grading import ARMED, LOST, SENT, Change, Grading, packets_of
from antecede.checker.engine.rows.histories import NetworkSend
from antecede.checker.engine.rows.sequences import RenamedSequences, values_of
from antecede.checker.engine.rows.symmetry import Sends, Symmetry
from antecede.checker.engine.storage.arrays import Words
from antecede.checker.engine.storage.validation import numbers, seconds, whole
from antecede.checker.model import Delivery, Internal, Message, Packet, Property
from antecede.checker.semantics.crashes import CRASH, RECOVER, Crashed, cuts_of, sent_at
from antecede.checker.semantics.history import Ghost
from antecede.checker.semantics.judge import delivery_with, in_deliveries, in_state
from antecede.checker.semantics.marked import is_over, may_mark
from antecede.checker.semantics.transition import initial_state, network_sent
from antecede.checker.semantics.values import packet_class
from antecede.checker.semantics.workload import ARM, EndlessWorkload, most_sent
from antecede.checker.support.errors import AntecedeError, CapacityError, InputError
from antecede.checker.support.memory import without_collections

MOST_KINDS = 1 << 10
"""The most kinds of transitions that the kernels count."""


class SelfPacketError(AntecedeError):
    """An actor sends itself a packet but has no channel for it; restart with `self_channels`."""


@define(eq=False)
class Tabulation:
    """The tables of one system: the results of its functions, by the numbers of their arguments.

    Attributes:
        components: the components whose numbers the tables have.
        symmetry: learns renamings along with the tables; None without symmetry.
        final_states: makes the entries that judge final states.
        renamed: the renamings of sequences; None without symmetry or without sequences.
        most_choices: per kind and column of a key, the most transitions that an entry offers.
        kinds: names of the kinds of transitions, such as `receive Ack`.
        judgements: per judgement of a delivery, the bit set of properties that it shows; see
            `g.BAD`.
        table, code: as in `g.Tables`.
        entries: the number of entries.
        asked: the keys of every completed `fill`; `make_again` rebuilds the tables from them.
        filled: keys and values that `fill` stored, if another process needs them; otherwise None.
        used_code: the number of words of `code` that are used.
        grading: learns along with the tables whether every state has only one depth.
        outcomes: (actor, effects) -> the sends and deliveries as the kernels read them.
        delivers: some entry delivers a message. Kernels request entries of taken transitions only,
            so a reachable transition delivers one.
        seconds: the time spent in `fill`.
    """

    components: Components
    symmetry: Symmetry | None = None
    final_states: FinalStates = field(init=False)
    renamed: RenamedSequences | None = None
    most_choices: dict[int, int] = field(factory=dict)
    kinds: list[str] = field(factory=list)
    judgements: Words = field(init=False)
    table: Words = field(init=False)
    entries: int = 0
    asked: list[Words] = field(factory=list)
    filled: list[tuple[Words, Words]] | None = None
    code: Words = field(init=False)
    used_code: int = 0
    grading: Grading = field(factory=Grading)
    _orbits: dict[tuple[int, int], tuple[int, int]] = field(factory=dict)
    _envelopes: dict[tuple[int, int], list[tuple[int, int, bool]]] = field(factory=dict)
    _receipts: dict[tuple[int, int, int, bool], list[list[int]]] = field(factory=dict)
    outcomes: dict[tuple[int, int], list[int]] = field(factory=dict)
    _crashed: dict[tuple[int, int], int] = field(factory=dict)
    delivers: bool = False
    seconds: float = 0.0

    def __attrs_post_init__(self) -> None:
        """Start with empty tables."""
        self.final_states = FinalStates(self.components, self.symmetry)
        if self.symmetry is not None and self.components.full:
            self.renamed = RenamedSequences(self.symmetry)
        self.judgements = self._judge_deliveries()
        self.table = np.full(2 << 14, -1, np.int64)
        self.code = np.empty(1 << 14, np.int64)

    def start(self) -> list[list[int]]:
        """Return the numbers of the initial state, per actor and column; call it once."""
        c = self.components
        state = initial_state(c.system)
        ghosts = tuple(c.oracle.initial(i) for i in range(c.system.actors))
        if c.oracle.number is not None:
            self.grading.refute("the application never stops")
        if c.system.crashes is not None:
            self.grading.refute("an actor may crash at any time")
            assert self._kind(f"{Internal.kind} {CRASH}") == g.CRASH_KIND
        for actor, number in enumerate(c.initial_states()):
            self.grading.start(self._orbit(actor, number))
        return c.columns(evolve(state, history=ghosts))

    @without_collections()
    def fill(self, keys: Words) -> None:
        """Make the table entries for `keys`, by calling the functions that the keys encode.

        Raises:
            ProtocolError: a handler raised or returned something unusable.
            CapacityError: too many distinct values.
        """
        started = time.perf_counter()
        keys = distinct(keys)
        # Entries that exist stay: a second number for a sequence would tell equal states apart.
        keys = self._with_renamings(keys[values_of(self.table, keys) == -1])
        kinds = in_call(keys)[0]
        recorded = kinds == g.RECORD
        values = np.empty(len(keys), np.int64)
        self._fill_records(keys, recorded, values)
        renamed = self._rename_records(keys, kinds, values)
        for k in np.flatnonzero(~recorded & ~renamed):
            values[k] = self._value(int(keys[k]))
            if g.SEND <= kinds[k] <= g.LOSE or kinds[k] == g.RESTART:
                self._note_choices(int(keys[k]), int(values[k]))
        self.table = entries_kernels.with_room(self.table, self.entries + len(keys))
        entries_kernels.store(self.table, keys, values)
        if self.renamed is not None and recorded.any():
            self.renamed.learn(keys[recorded], values[recorded], self.table)
        self.entries += len(keys)
        self.asked.append(keys)
        if self.filled is not None:
            self.filled.append((keys, values))
        self.seconds += time.perf_counter() - started

    def record(self) -> dict[str, Any]:
        """Return the keys of all entries as data of a checkpoint; see `make_again`."""
        return {
            "asked": np.concatenate([np.empty(0, np.int64), *self.asked]),
            "lengths": np.array([len(keys) for keys in self.asked], np.int64),
            "made": self._made(),
            "calls": self.components.calls,
            "seconds": self.seconds,
        }

    def make_again(self, record: Mapping[str, Any]) -> None:
        """Rebuild the tables of another run by the same calls in the same order.

        All numbers then agree with the other run's numbers. The record begins with the calls made
        here so far.

        Raises:
            InputError: a call now returns a different value.
            ValueError: this is no such record.
        """
        asked = numbers("table keys", record["asked"], np.int64)
        lengths = numbers("numbers of table keys", record["lengths"], np.int64, most=len(asked))
        if lengths.sum() != len(asked):
            raise ValueError("the table keys do not fit their number")
        with_first = np.split(asked, np.cumsum(lengths)[:-1]) if len(lengths) else []
        for keys in with_first[len(self.asked) :]:
            self.fill(keys)
        if self._made() != record["made"]:
            raise InputError(
                "the protocol's handlers return something else than when the checkpoint was "
                "written: are they pure functions? start again"
            )
        self.components.calls = whole("the number of calls", record["calls"])
        self.seconds = seconds("the time of calls", record["seconds"])

    def _made(self) -> str:
        """Return a digest of the tables' content."""
        c = self.components
        hasher = hashlib.blake2b(digest_size=16)
        hasher.update(self.code[: self.used_code].tobytes())
        for interner in (*c.states, *c.bundles):
            hasher.update(interner.digest().encode())
        hasher.update(repr((self.entries, self.kinds, sorted(c.sequences.items()))).encode())
        return hasher.hexdigest()

    def _note_choices(self, key: int, spot: int) -> None:
        """Update `most_choices` with the entry at `spot`."""
        source = key >> 2 * g.NUMBER_BITS
        self.most_choices[source] = max(self.most_choices.get(source, 0), int(self.code[spot]))

    def _fill_records(self, keys: Words, chosen: Any, values: Words) -> None:
        """Number new sequences; a sequence is its predecessor plus one appended record."""
        columns = in_call(keys)[1]
        for column in distinct(columns[chosen]):
            places = np.flatnonzero(chosen & (columns == column))
            count = self.components.sequences.get(int(column), 1)
            if count + len(places) >= g.NUMBER_LIMIT:
                raise CapacityError(
                    f"more than {g.NUMBER_LIMIT:,} distinct delivery sequences of an actor; "
                    "use --history clocks or knowledge, which judge the same"
                )
            values[places] = count + np.arange(len(places))
            self.components.sequences[int(column)] = count + len(places)

    def _with_renamings(self, keys: Words) -> Words:
        """Return `keys` together with the keys of all renamings of the new sequences."""
        if self.renamed is None:
            return keys
        recorded = in_call(keys)[0] == g.RECORD
        if not recorded.any():
            return keys
        return np.concatenate([keys[~recorded], self.renamed.closed(keys[recorded], self.table)])

    def _rename_records(self, keys: Words, kinds: Words, values: Words) -> Any:
        """Fill the values of keys that rename sequences; return the mask of these keys."""
        column = (keys & g.NUMBER_MASK) >> g.ACTOR_BITS
        of_sequences = (column == g.RECORDED) | (column == g.STAMPS)
        chosen = (kinds == g.RENAME) & of_sequences
        if self.renamed is not None and chosen.any():
            values[chosen] = self.renamed.renamed(keys[chosen])
        return chosen

    def _value(self, key: int) -> int:
        """Return the value of an entry, which is made by the function for its kind."""
        kind, column, x, y = in_call(key)
        if kind in histories.ENTRIES:
            return histories.ENTRIES[kind](self.components, column, x, y)
        return _FILLERS[kind](self, column, x, y)

    def _emit(self, codes: list[int]) -> int:
        """Append to the code and return where it starts."""
        start, end = self.used_code, self.used_code + len(codes)
        if end > len(self.code):
            larger = np.empty(max(2 * len(self.code), end), np.int64)
            larger[:start] = self.code[:start]
            self.code = larger
        self.code[start:end] = codes
        self.used_code = end
        return start

    def _emit_all(self, effects: list[list[int]]) -> int:
        """Append the effects of an entry to the code, after their number."""
        return self._emit([len(effects), *chain.from_iterable(effects)])

    def _kind(self, name: str) -> int:
        if name not in self.kinds:
            if len(self.kinds) == MOST_KINDS:
                raise CapacityError(f"more than {MOST_KINDS:,} classes of packets")
            self.kinds.append(name)
        return self.kinds.index(name)

    @property
    def met(self) -> dict[str, Any]:
        """Facts for coverage: whether a message is delivered, and whether one stays undelivered.

        If sends may wait, also the most sends of an actor.
        """
        c = self.components
        coverage = {"delivers": self.delivers, "undelivered": self.final_states.undelivered}
        workload = c.system.workload
        if workload.sends is None:
            return coverage
        return coverage | {"most_sent": most_sent(workload, [p.values for p in c.positions])}

    def initially_shown(self) -> int:
        """Return the bit set of invariants violated and witnesses reached in the initial state."""
        state = initial_state(self.components.system)
        return bits_of(self.components.system, lambda prop: in_state(prop, state))

    def _result(self, kind: int, column: int, state: int, argument: int) -> int:
        """Return the result of a call of the protocol, which is made once; see `call_of`."""
        c = self.components
        call = call_of(kind, column, state, argument)
        if call not in c.results:
            if self.symmetry is None:
                c.results[call] = c.make(call)
            else:
                self.symmetry.learn(call)
        return c.results[call]

    def _outcome(self, actor: int, effects: int) -> list[int]:
        """Return the effects of a call as the kernels read them."""
        codes = self.outcomes.get((actor, effects))
        if codes is None:
            sends, deliveries = self.components.effects.values[effects]
            codes = self._outcome_codes(actor, sends, deliveries, sends)
            self.outcomes[actor, effects] = codes
        return codes

    def _outcome_codes(
        self, actor: int, sends: Sends, deliveries: tuple[Message, ...], whole: Sends
    ) -> list[int]:
        """Return the effects of a call from which `sends` get out, a part of the `whole` sends."""
        bundles: dict[int, list[Packet]] = {destination: [] for destination, _ in whole}
        for destination, packet in sends:
            bundles[destination].append(packet)
        codes = [len(bundles)]
        for destination, packets in bundles.items():
            channel = self._channel(actor, destination)
            codes += [destination, self.components.bundles[channel].number(tuple(packets))]
        events = self._events(actor, sends, deliveries)
        codes.append(len(events) // 2)
        return codes + events

    def _cuts(self, actor: int, result: int, content: int, subject: int) -> list[list[int]]:
        """Return the crashes in the middle of a step, as in RECEIVE, from the result of its call.

        Each one lists the same destinations as the whole step. It may list no packet for some.
        """
        c = self.components
        crashes, (after, effects) = c.system.crashes, in_result(result)
        if crashes is None or crashes.whole or actor not in crashes.of:
            return []
        sends, deliveries = c.effects.values[effects]
        cuts = list(cuts_of(sends, nothing=c.system.protocol.recover is not None))
        if not cuts:
            return []
        down = self._after_crash(actor, after)
        begins = [down, self._shown(actor, down), g.CRASH_KIND, content, subject]
        parts = (sent_at(cut, sends) for cut in cuts)
        return [begins + self._outcome_codes(actor, part, deliveries, sends) for part in parts]

    def _after_crash(self, actor: int, state: int) -> int:
        """Return the number of an actor's state after a crash in another state."""
        c = self.components
        if (actor, state) not in self._crashed:
            c.calls += 1
            durable = c.system.handlers.durable(c.states[actor].values[state])
            self._crashed[actor, state] = c.states[actor].number(Crashed(durable))
        return self._crashed[actor, state]

    def _events(self, actor: int, sends: Sends, deliveries: tuple[Message, ...]) -> list[int]:
        """Return the history's events in a step, after its causal-send, in their order."""
        c = self.components
        at_network = c.oracle.network_send is not None
        self.delivers |= bool(deliveries)
        events = []
        for message in deliveries:
            is_actor = 0 <= message.sender < c.system.actors
            if at_network and message.sender == actor:
                events += [c.messages.number(NetworkSend(message)), g.NETWORK_SENT]
            events += [c.messages.number(message), message.sender if is_actor else -1]
        for message in network_sent(actor, sends) if at_network else ():
            events += [c.messages.number(NetworkSend(message)), g.NETWORK_SENT]
        return events

    def _channel(self, src: int, dst: int) -> int:
        if (src, dst) not in self.components.channel_of:
            raise SelfPacketError(f"actor {src} sends itself a packet")
        return self.components.channel_of[src, dst]

    def _fill_send(self, actor: int, state: int, position: int) -> int:
        """Entry of SEND: per choice [state, shown, kind, position, message, step …], and cuts."""
        offers = [] if self._is_down(actor, state) else list(self._offers(actor, position))
        effects_of: list[list[int]] = []
        kind = self._kind("causal-send")
        for message, after in offers:
            if message is None:
                self.grading.still({ARMED: 1}, "arm")
                effects_of.append([state, 0, self._kind("arm"), after, -1, 0, 0])
                continue
            number = self.components.messages.number(message)
            result = self._result(g.SEND, actor, state, number)
            splits = self.components.system.workload.splits
            self._grade(actor, state, result, {SENT: 1, ARMED: -splits}, "causal-send")
            local, effects = in_result(result)
            begins = [local, self._shown(actor, local), kind, after, number]
            effects_of.append(begins + self._outcome(actor, effects))
            effects_of += self._cuts(actor, result, after, number)
        return self._emit_all(effects_of)

    def _offers(self, actor: int, position: int) -> Iterator[tuple[Message | None, int]]:
        """Yield each message that an actor may causal-send, with the actor's next position.

        The message None is the decision to send. If only one message is followed, positions carry
        no information, and bits of GATE replace the number of the position.
        """
        c = self.components
        workload = c.system.workload
        if c.oracle.number is not None:
            yield from ((message, -1) for message in self.followed_offers(actor, position))
            return
        here = c.positions[actor].values[position]
        for destinations in workload.choices(actor, here):
            after = c.positions[actor].number(workload.after_send(actor, here, destinations))
            number = workload.sent(here) + 1
            if destinations == ARM:
                yield None, after
                continue
            for label in workload.offered(actor, number):
                yield workload.message(actor, number, destinations, label), after

    def followed_offers(self, actor: int, gate: int) -> Iterator[Message]:
        """Yield the messages that an actor may causal-send if one message is followed; see GATE."""
        c = self.components
        assert c.oracle.number is not None
        workload, ghost = c.system.workload, Ghost(knows=int(gate & g.TAINT > 0))
        if not gate & g.ROOM:
            return
        for destinations in workload.choices(actor, workload.initial(actor)):
            for label in workload.offered(actor, 1):
                for marked in (False,) if gate & g.MARK else (False, True):
                    number = c.oracle.number(ghost, marked)
                    yield workload.message(actor, number, destinations, label)

    def _is_down(self, actor: int, state: int) -> bool:
        """Return whether an actor in a state has crashed."""
        return isinstance(self.components.states[actor].values[state], Crashed)

    def _fill_gate(self, actor: int, knows: int, pending: int) -> int:
        """Entry of GATE: bits derived from an actor's ghost, if only one message is followed."""
        c = self.components
        workload, entries = c.system.workload, c.pending[actor].values[pending]
        ghost = evolve(c.knows[actor].values[knows], pending=entries)
        assert isinstance(workload, EndlessWorkload)
        bits: int = (
            g.ROOM * (len(entries) < workload.buffer)
            | g.TAINT * (ghost.knows > 0)
            | g.MARK * (not may_mark((ghost,)))
            | g.OVER * is_over((ghost,))
        )
        return bits

    def _fill_receive(self, channel: int, state: int, content: int) -> int:
        """Entry of RECEIVE: per envelope [state, shown, kind, what remains, packet, step …].

        The crashes in the middle of a step follow it; see `_cuts`.
        """
        if self._is_down(self.components.channels[channel][1], state):
            return self._emit([0])
        envelopes = self._envelopes.get((channel, content))
        if envelopes is None:
            envelopes = self._envelopes[channel, content] = self._taken(channel, content)
        effects: list[list[int]] = []
        for packet, rest, stays in envelopes:
            receipts = self._receipts.get((channel, state, packet, stays))
            if receipts is None:
                receipts = self._receipt(channel, state, packet, stays)
                self._receipts[channel, state, packet, stays] = receipts
            effects += ([*receipt[:3], rest, *receipt[4:]] for receipt in receipts)
        return self._emit_all(effects)

    def _taken(self, channel: int, content: int) -> list[tuple[int, int, bool]]:
        """Return the packets that may arrive, with what remains, and whether they remain, too."""
        c = self.components
        packets, number = c.contents[channel].values[content], c.contents[channel].number
        return [
            (c.packets.number(packet), number(rest), len(rest) == len(packets))
            for packet, rest in c.system.network.take(packets)
        ]

    def _receipt(self, channel: int, state: int, number: int, stays: bool) -> list[list[int]]:
        """Return a receipt and its cuts as in RECEIVE, except for what remains of the channel."""
        dst, packet = self.components.channels[channel][1], self.components.packets.values[number]
        result = self._result(g.RECEIVE, channel, state, number)
        kind = f"receive {packet_class(packet)}"
        if not stays:
            self._grade(dst, state, result, packets_of([packet], -1), kind)
        elif result != state:
            self._grade(dst, state, result, {}, kind)
        after, effects = in_result(result)
        begins = [after, self._shown(dst, after), self._kind(kind), -1, number]
        return [begins + self._outcome(dst, effects), *self._cuts(dst, result, -1, number)]

    def _shown(self, actor: int, state: int) -> int:
        return self.components.shown(self.components.states[actor].values[state])

    def _grade(self, actor: int, state: int, result: int, change: Change, kind: str) -> None:
        """Learn from a transition whether every state has one depth, or one sum of weights."""
        after, effects = in_result(result)
        sends, _ = self.components.effects.values[effects]
        if sends:
            change = dict(change)
            for name, count in packets_of(packet for _, packet in sends).items():
                change[name] = change.get(name, 0) + count
        self.grading.step(self._orbit(actor, state), self._orbit(actor, after), change, kind)

    def _orbit(self, actor: int, state: int) -> tuple[int, int]:
        """Return a key for the orbit of an actor's state; states in one orbit have one rank."""
        if self.symmetry is None:
            return actor, state
        if (known := self._orbits.get((actor, state))) is None:
            group, images = self.symmetry.group, self.symmetry.states[actor, state]
            known = min((p[actor], image) for p, image in zip(group, images, strict=True))
            self._orbits[actor, state] = known
        return known

    def _fill_internal(self, actor: int, state: int, _unused: int) -> int:
        """Entry of INTERNAL: per enabled action as in RECEIVE; -1: no content, no packet."""
        effects_of: list[list[int]] = []
        internals = () if self._is_down(actor, state) else self.components.internals
        for place, name in enumerate(internals):
            result = self._result(g.INTERNAL, actor, state, place)
            if result == NOT_ENABLED:
                continue
            what = "timeout" if name is None else f"internal {name}"
            if result != state:
                self._grade(actor, state, result, {}, what)
            after, effects = in_result(result)
            begins = [after, self._shown(actor, after), self._kind(what), -1, -1]
            effects_of.append(begins + self._outcome(actor, effects))
            effects_of += self._cuts(actor, result, -1, -1)
        return self._emit_all(effects_of)

    def _fill_lose(self, channel: int, _unused: int, content: int) -> int:
        """Entry of LOSE: per envelope, as in RECEIVE; -1: the state is unchanged."""
        c = self.components
        lose = c.system.network.lose
        assert lose is not None
        alternatives = lose(c.contents[channel].values[content])
        codes = [len(alternatives)]
        for packet, rest in alternatives:
            kind = f"lose {packet_class(packet)}"
            budget = c.system.network.budget is not None
            self.grading.still({**packets_of([packet], -1), LOST: int(budget)}, kind)
            codes += [-1, 0, self._kind(kind), c.contents[channel].number(rest), -1, 0, 0]
        return self._emit(codes)

    def _fill_restart(self, actor: int, state: int, crash: int) -> int:
        """Entry of RESTART: the recovery of an actor, or its crash, as in RECEIVE.

        In the place of what remains of a channel, a recovery has the content of all channels to the
        actor afterwards; -1: they stay as they are.
        """
        c = self.components
        here, system, crashes = c.states[actor].values[state], c.system, c.system.crashes
        assert crashes is not None
        is_down = isinstance(here, Crashed)
        happens = not is_down and actor in crashes.of if crash else is_down
        if not happens or not (crash or system.protocol.recover):
            return self._emit([0])
        if crash:
            down = self._after_crash(actor, state)
            codes = [down, self._shown(actor, down), g.CRASH_KIND, -1, -1]
            return self._emit_all([codes + self._outcome(actor, 0)])
        c.calls += 1
        result = c.result_of(actor, system.handlers.recover(actor, here.durable))
        after, effects = in_result(result)
        content = c.contents[0].number(()) if crashes.lost else -1
        kind = self._kind(f"{Internal.kind} {RECOVER}")
        codes = [after, self._shown(actor, after), kind, content, -1]
        cuts = self._cuts(actor, result, content, -1)
        return self._emit_all([codes + self._outcome(actor, effects), *cuts])

    def _fill_live(self, actor: int, state: int, _unused: int) -> int:
        """Entry of LIVE: whether the state of an actor is not the state of a crashed one."""
        return int(not self._is_down(actor, state))

    def _fill_append(self, channel: int, content: int, bundle: int) -> int:
        c = self.components
        packets = c.contents[channel].values[content]
        for packet in c.bundles[channel].values[bundle]:
            before, packets = packets, c.system.network.put(packets, packet)
            if len(packets) == len(before):
                self.grading.refute("a packet sent again merges with the one in flight")
        return c.contents[channel].number(packets)

    def _fill_part(self, channel: int, content: int, bundle: int) -> int:
        """Entry of PART: as APPEND; NOT_TAKEN if the last packet of the bundle changes nothing."""
        c = self.components
        before = packets = c.contents[channel].values[content]
        for packet in c.bundles[channel].values[bundle]:
            before, packets = packets, c.system.network.put(packets, packet)
        if c.bundles[channel].values[bundle] and packets == before:
            return g.NOT_TAKEN
        return c.contents[channel].number(packets)

    def _fill_react(self, actor: int, position: int, message: int) -> int:
        c = self.components
        before, workload = c.positions[actor].values[position], c.system.workload
        after = workload.after_delivery(actor, before, c.messages.values[message])
        if workload.sent(after) != workload.sent(before):
            self.grading.refute("a delivery changes how many messages were sent")
        return c.positions[actor].number(after)

    def _fill_rename(self, p: int, value: int, where: int) -> int:
        column, actor = divmod(where, 16)
        assert self.symmetry is not None
        return self.symmetry.renamed_column(p + 1, column, actor, value)

    def _judge_deliveries(self) -> Words:
        """Return the bit set of violated or reached properties for each judgement of a delivery."""
        bit_sets = []
        for judgement in range(8):
            delivery = delivery_with(
                expected=not judgement & 4,
                causally_late=bool(judgement & 1),
                fifo_late=bool(judgement & 2),
            )
            bit_sets.append(bits_of(self.components.system, partial(_is_shown_by, delivery)))
        return np.array(bit_sets, np.int64)


def distinct(keys: Words) -> Words:
    """Return the different values in an array, sorted; `np.unique` would import another package."""
    keys = np.sort(keys)
    return keys[np.concatenate([[True], keys[1:] != keys[:-1]])] if len(keys) else keys


def _is_shown_by(delivery: Delivery, prop: Property) -> bool:
    return in_deliveries(prop, (delivery,))


_FILLERS = {
    g.SEND: Tabulation._fill_send,
    g.RECEIVE: Tabulation._fill_receive,
    g.APPEND: Tabulation._fill_append,
    g.PART: Tabulation._fill_part,
    g.REACT: Tabulation._fill_react,
    g.FINAL: lambda tables, *parts: tables.final_states.final(*parts),
    g.TOGETHER: lambda tables, *parts: tables.final_states.together(*parts),
    g.RENAME: Tabulation._fill_rename,
    g.INTERNAL: Tabulation._fill_internal,
    g.LOSE: Tabulation._fill_lose,
    g.GATE: Tabulation._fill_gate,
    g.RESTART: Tabulation._fill_restart,
    g.LIVE: Tabulation._fill_live,
}
