"""The answers to all requests, independent of HTTP: pages, searches, saved and loaded traces."""

from __future__ import annotations

import mimetypes
import secrets
import threading
from collections.abc import Callable, Mapping
from http import HTTPStatus
from urllib.parse import parse_qs

from attrs import define, evolve, field, frozen

from antecede.checker.check.pipeline import InternalError
from antecede.checker.check.spec import Spec
from antecede.checker.explore.export import pytest_text, spec_text
from antecede.checker.explore.judgement import SHOWN, VIOLATED
from antecede.checker.explore.page import (
    SAVED_AS,
    Note,
    Place,
    graph_text,
    place_at,
    script,
    style_sheet,
    text,
)
from antecede.checker.explore.reload import Watch, kept, read_again
from antecede.checker.explore.search import CHANGED, Asked, Ending, Search, Searches, plainly
from antecede.checker.explore.tree import MOST_STEPS, Numbers, Tree, numbers_in
from antecede.checker.explore.turns import turn
from antecede.checker.explore.where import Watched, check_watched, searched_for, watched
from antecede.checker.model import Property
from antecede.checker.paths.path import Path, transition_key
from antecede.checker.render.json import misfit, trace_in
from antecede.checker.render.pictures import PICTURES, converted_picture
from antecede.checker.render.trace_formats import FORMATS
from antecede.checker.search.options import Bounds
from antecede.checker.semantics.question import model_of
from antecede.checker.semantics.transition import System
from antecede.checker.support.amounts import counted
from antecede.checker.support.errors import InputError, ReplayError
from antecede.checker.support.interrupts import at_work

BOUNDS = Bounds(max_states=1_000_000, max_seconds=60.0)
"""The bounds of a search: about a gigabyte, and a minute in which it can be cancelled."""

FEW = Bounds(max_states=1_000, max_seconds=0.5)
"""The bounds of the search for what is near, which ends sooner than a process starts."""

WALK = 10
"""The greatest number of steps of a random walk."""

WATCH = "watch"
"""The field of a query that names an expression to watch; it can be given several times."""

EXPORTED: Mapping[str, tuple[str, Callable[[Tree, Path], str]]] = {
    "test": ("test_run.py", pytest_text),
    "spec": ("run.toml", spec_text),
}
"""The exports of a path: name -> the name of the file, and the function that writes it."""

LOOK = 0.5
"""Seconds until the answer to a look at a search that goes on."""

MOST_SAID = 600
"""The greatest length, in characters, of an error about a file or handler on the page."""

ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">'
    '<path d="M3 1v14M13 1v14M3 4l10 7" stroke="#0063a3" stroke-width="2" fill="none"/></svg>'
)


@frozen
class Answer:
    """The content of a response."""

    content: str | bytes
    kind: str = "text/html"
    status: int = HTTPStatus.OK
    headers: Mapping[str, str] = field(factory=dict)


class RefusedRequest(Exception):
    """A refused request, with its HTTP status and the reason."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


@define(eq=False)
class Site:
    """The answers to all requests, given as paths, queries and bodies."""

    tree: Tree
    bounds: Bounds = BOUNDS
    _searches: Searches = field(factory=Searches, init=False)

    _agreed: set[str] = field(factory=set, init=False)
    """The expressions that the user wrote into the page, or agreed to run."""

    _files: Watch = field(init=False)
    _broken: Note | None = field(default=None, init=False)
    """The error of the protocol's file, as long as the page explores the protocol before it."""

    _reading: threading.Lock = field(factory=threading.Lock, init=False)

    _looking_near: threading.Lock = field(factory=threading.Lock, init=False)
    """Held by a search in this process, because the self-check can observe one thread only."""

    def __attrs_post_init__(self) -> None:
        """Remember the files of the protocol."""
        self._files = Watch.of(self.tree)

    def _page(self, place: Place, note: Note | None = None, search: Search | None = None) -> str:
        return text(self.tree, place, note or self._broken, search)

    def close(self) -> None:
        """End the search that is under way."""
        self._searches.close()

    def get(self, address: str, query: Mapping[str, str]) -> Answer:
        """Answer a GET request, which has no side effects."""
        without_calls: dict[str, Callable[[], Answer]] = {
            "/changed": lambda: Answer("changed" if self._files.stale else "", "text/plain"),
            "/explore.css": lambda: Answer(style_sheet(), "text/css"),
            "/explore.js": lambda: Answer(script(), "text/javascript"),
            "/explore.svg": lambda: Answer(ICON, "image/svg+xml"),
        }
        if address in without_calls:
            return without_calls[address]()
        answers: dict[str, Callable[[], Answer]] = {
            "/": lambda: Answer(self._page(self._place(query))),
            "/search": lambda: self._looked_at(query),
            "/trace": lambda: self._saved(query),
            "/graph": lambda: Answer(graph_text(self.tree, self._place(query)), "image/svg+xml"),
        }
        if address not in answers:
            raise RefusedRequest(HTTPStatus.NOT_FOUND, f"there is no page {address[:80]!r}")
        if address == "/search":
            self._numbered(query).over.wait(LOOK)
        with turn():
            if address == "/" and (reloaded := self._reloaded(query)) is not None:
                return reloaded
            return answers[address]()

    def post(self, address: str, query: Mapping[str, str], body: str) -> Answer:
        """Answer a POST request, which searches or reads a trace."""
        if address == "/cancel":
            search = self._numbered(query_in(body))
            search.cancel()
            search.over.wait()
        with turn():
            return self._posted(address, query, body)

    def _posted(self, address: str, query: Mapping[str, str], body: str) -> Answer:
        reloaded = self._reloaded(query if address == "/load" else query_in(body))
        if reloaded is not None:
            return reloaded
        if address == "/search":
            return self._searched(query_in(body))
        if address == "/walk":
            return self._walked(query_in(body))
        if address == "/where":
            return self._searched_for(query_in(body))
        if address == "/watch":
            return self._watched(query_in(body))
        if address == "/cancel":
            return self._looked_at(query_in(body))
        if address == "/load":
            return self._loaded(query, body)
        raise RefusedRequest(HTTPStatus.NOT_FOUND, f"nothing can be sent to {address[:80]!r}")

    def _reloaded(self, query: Mapping[str, str]) -> Answer | None:
        """Read the protocol again if a file has changed, and return a page that says so.

        The numbers of the query belong to the protocol from before the change.
        """
        with at_work("the reading of the changed protocol"), self._reading:
            files = self._files.changed()
            if not files:
                return None
            names = ", ".join(sorted(file.name for file in files))
            try:
                again = read_again(self.tree, self._files.files)
                watch = Watch.of(again, self._files.contents)
            except (InputError, OSError) as error:
                if isinstance(error, OSError) or isinstance(error.__cause__, OSError):
                    # An editor is replacing a file, perhaps by the one that was just noticed.
                    self._files.contents = {}
                said = f"{str(error)[:MOST_SAID]}. The page explores the protocol from before."
                self._broken = Note(f"{said[:1].upper()}{said[1:]}", wrong=True)
                return Answer(self._page(self._place(query)))
            path = self._path_before(query)
            self.tree, self._broken, self._files = again, None, watch
            if (running := self._searches.under_way()) is not None:
                running.cancel()
                running.over.wait()
            numbers, said = kept(path, again)
            note = Note(f"{names} has changed and was read again. {said}.")
            return Answer(self._page(self._at(numbers, query), note))

    def _path_before(self, query: Mapping[str, str]) -> Path:
        """Return the path of a query, or the start if this tree does not have the path.

        The page of another tab may be older than the last two changes of the file.
        """
        try:
            return self.tree.path(numbers_in(query.get("path", "")))
        except InputError:
            return self.tree.path(())

    def _place(self, query: Mapping[str, str]) -> Place:
        return self._at(numbers_in(query.get("path", "")), query)

    def _at(self, numbers: Numbers, query: Mapping[str, str]) -> Place:
        """Return the place that numbers lead to, with the expressions that a query watches.

        A link can bring any expression, so the page runs it only after the user has agreed.
        """
        place = place_at(self.tree, numbers)
        expressions = watched_in(query)
        check_watched(expressions)
        return evolve(
            place,
            watched=tuple(
                watched(each, place.path) if each in self._agreed else Watched(each)
                for each in expressions
            ),
        )

    def _saved(self, query: Mapping[str, str]) -> Answer:
        name, place = query.get("format", "json"), self._place(query)
        path = place.path
        if name in EXPORTED:
            return self._exported(place, name)
        if name not in SAVED_AS:
            choices = ", ".join((*SAVED_AS, *EXPORTED))
            raise RefusedRequest(
                HTTPStatus.NOT_FOUND, f"no format {name[:40]!r}; there are {choices}"
            )
        kind = mimetypes.types_map[f".{name}"]
        file = f'attachment; filename="trace.{name}"'
        content: str | bytes
        if name in PICTURES:
            try:
                content = converted_picture(FORMATS["svg"].text(path, None), name)
            except InputError as error:
                return self._unchanged(place, error)
        else:
            content = FORMATS[name].text(path, None)
        return Answer(content, kind, headers={"Content-Disposition": file})

    def _exported(self, place: Place, name: str) -> Answer:
        file, write = EXPORTED[name]
        try:
            content = write(self.tree, place.path)
        except InputError as error:
            return self._unchanged(place, error)
        disposition = {"Content-Disposition": f'attachment; filename="{file}"'}
        return Answer(content, "text/plain", headers=disposition)

    def _searched(self, query: Mapping[str, str]) -> Answer:
        place = self._place(query)
        props = _asked(place, query.get("property", ""))
        if not props:
            note = Note("There is nothing left to search for.", wrong=True)
            return Answer(self._page(place, note))
        try:
            near = self._near(evolve(self.tree.system, properties=props), place.path)
            enough = self._few == self.bounds
            if near and (enough or near.prop is not None or near.stopped_by is None):
                return self._ended(place, near, query)
            asked = Asked(
                evolve(self.tree.spec, properties=tuple(prop.name for prop in props)),
                tuple(map(transition_key, place.path.transitions)),
                self.bounds,
                self._files.contents,
            )
            search = self._searches.begin(asked, self.tree.objects)
        except InputError as error:
            return self._unchanged(place, error, self._searches.under_way())
        return self._shown(place, search, query)

    def _near(self, system: System, path: Path) -> Ending | None:
        """Search among near states; None if another such search does not end, as one that hangs."""
        if not self._looking_near.acquire(timeout=2 * (FEW.max_seconds or 0)):
            return None
        try:
            return plainly(system, path, self._few)
        finally:
            self._looking_near.release()

    def _walked(self, query: Mapping[str, str]) -> Answer:
        """Return the page some random steps on, at the first step that violates a property."""
        start = numbers = numbers_in(query.get("path", ""))
        while len(numbers) < min(len(start) + WALK, MOST_STEPS):
            choices = [c for c in self.tree.choices(numbers) if not c.fails]
            if not choices:
                break
            choice = secrets.choice(choices)
            numbers = (*numbers, choice.number)
            if choice.violates:
                break
        note = Note(f"A random walk of {counted(len(numbers) - len(start), 'step')}.")
        return Answer(self._page(self._at(numbers, query), note))

    def _watched(self, query: Mapping[str, str]) -> Answer:
        """Return the page with one more expression to watch; agree to run all that it watches."""
        added = query.get("expression", "").strip()
        expressions = dict.fromkeys([*watched_in(query), *filter(None, [added])])
        try:
            check_watched(tuple(expressions))
        except InputError as error:
            return self._unchanged(self._place(query), error)
        self._agreed.update(expressions)
        return Answer(self._page(self._place({**query, WATCH: "\n".join(expressions)})))

    def _searched_for(self, query: Mapping[str, str]) -> Answer:
        """Search for a state that an expression describes, which is code of the user."""
        place = self._place(query)
        try:
            searched_for(query.get("expression", ""), self.tree.system)
            asked = Asked(
                self.tree.spec,
                tuple(map(transition_key, place.path.transitions)),
                self.bounds,
                self._files.contents,
                query.get("expression", ""),
            )
            search = self._searches.begin(asked, self.tree.objects)
        except InputError as error:
            return self._unchanged(place, error, self._searches.under_way())
        return self._shown(place, search, query)

    @property
    def _few(self) -> Bounds:
        """The bounds of the search among near states, which needs no process of its own."""
        few, most = FEW.max_states or 0, self.bounds.max_states
        return self.bounds if most is not None and most <= few else FEW

    def _looked_at(self, query: Mapping[str, str]) -> Answer:
        """Return the page of a search that was started: its progress, or what it found."""
        search = self._numbered(query)
        return self._shown(self._place_of(search, query), search, query)

    def _numbered(self, query: Mapping[str, str]) -> Search:
        search = self._searches.numbered(query.get("search", ""))
        if search is None:
            raise RefusedRequest(HTTPStatus.NOT_FOUND, "there is no such search; start it again")
        return search

    def _place_of(self, search: Search, query: Mapping[str, str]) -> Place:
        """Return the place where a search began; the start if the protocol has no such path now."""
        try:
            numbers = self.tree.numbers_of_keys(search.asked.before)
        except InputError:
            numbers = ()
        return self._at(numbers, query)

    def _shown(self, place: Place, search: Search, query: Mapping[str, str]) -> Answer:
        if not search.over.is_set():
            return Answer(self._page(place, search=search))
        if isinstance(search.ended, InputError):
            return self._unchanged(place, search.ended)
        if search.ended is None:
            note = Note(f"The search was cancelled ({search.progress}).")
            return Answer(self._page(place, note))
        if search.asked.contents != self._files.contents:
            return self._unchanged(place, InputError(CHANGED))
        return self._ended(place, search.ended, query, search.asked.expression)

    def _ended(
        self, place: Place, ending: Ending, query: Mapping[str, str], expression: str = ""
    ) -> Answer:
        """Return the page of a run that was found, after a replay with this server's protocol."""
        if ending.prop is None:
            return Answer(self._page(place, _not_found(ending)))
        try:
            there = self._at(self.tree.numbers_of_keys(ending.keys), query)
        except ReplayError:
            return self._unchanged(place, InputError(CHANGED))
        more = there.path.length - place.path.length
        if expression:
            prop = searched_for(expression, self.tree.system)
            if not prop.predicate(there.path.last.actors):
                raise InternalError(f"the state that was found does not have {expression!r}")
            return Answer(self._page(there, _found(ending, prop, more)))
        shown = next(j for j in there.judgements if j.prop.name == ending.prop)
        if shown.verdict not in (VIOLATED, SHOWN):
            raise InternalError(f"the run that was found does not decide {ending.prop}")
        return Answer(self._page(there, _found(ending, shown.prop, more)))

    def _loaded(self, query: Mapping[str, str], body: str) -> Answer:
        try:
            numbers = self._numbers_of_trace(body)
            place = self._at(numbers, query)
        except InputError as error:
            return self._unchanged(self._place(query), error)
        return Answer(
            self._page(place, Note(f"Loaded a trace of {counted(len(numbers), 'step')}."))
        )

    def _unchanged(self, place: Place, error: InputError, search: Search | None = None) -> Answer:
        """Return the page of `place` with the error, and with the search that is the reason."""
        said = str(error)
        note = Note(f"{said[:1].upper()}{said[1:MOST_SAID]}.", wrong=True)
        page = self._page(place, note, search)
        return Answer(page, status=HTTPStatus.UNPROCESSABLE_ENTITY)

    def _numbers_of_trace(self, body: str) -> Numbers:
        trace = trace_in(body, "the file")
        _check_question(trace.spec, self.tree)
        if len(trace.keys) > MOST_STEPS:
            raise InputError(
                f"the trace has {len(trace.keys)} steps; this page goes to {MOST_STEPS} at most"
            )
        try:
            return self.tree.numbers_of_keys(trace.keys)
        except ReplayError as error:
            raise misfit("the file", trace, error) from None


def watched_in(query: Mapping[str, str]) -> tuple[str, ...]:
    """Return the expressions that a query watches."""
    return tuple(filter(None, query.get(WATCH, "").split("\n")))


def _asked(place: Place, name: str) -> tuple[Property, ...]:
    """Return the undecided property of this name; without a name, all that can be violated."""
    left = [judgement.prop for judgement in place.searched]
    return tuple(p for p in left if (p.name == name if name else not p.sought))


def _found(ending: Ending, prop: Property, more: int) -> Note:
    """Return a note on a search whose end is `more` steps away.

    The first witness is a nearest one. A violation later in the same level may be nearer. So if a
    bound ended the search within a level, that level may have a shorter path.
    """
    way = "A shortest way" if prop.sought or ending.stopped_by is None else "A way"
    what = f"{'show' if prop.sought else 'violate'} {prop.name}"
    states = counted(ending.states, "state")
    return Note(f"{way} to {what}: {counted(more, 'step')} on, found among {states}.")


def _not_found(ending: Ending) -> Note:
    states = counted(ending.states, "state")
    if ending.stopped_by is None:
        return Note(f"There is none: all {states} that can be reached from here were explored.")
    return Note(
        f"None was found among {states} ({ending.stopped_by}); there may be one beyond them."
    )


def _check_question(asked: Spec, tree: Tree) -> None:
    """Check that a trace is of the explored system. Loading one never imports a protocol.

    Raises:
        InputError: it is not; names the differences.
    """
    own = model_of(tree.system.question, _last_part(tree.spec.protocol))
    others = model_of(asked, _last_part(asked.protocol))
    for name, value in own.items():
        theirs = others[name]
        if theirs != value:
            raise InputError(
                f"the file is a trace with {name} {theirs!r}, and this page explores {name} "
                f"{value!r}; start antecede explore with the file"
            )


def _last_part(protocol: str) -> str:
    return protocol.rpartition("/")[2]


def query_in(encoded: str) -> dict[str, str]:
    """Return the fields of a query.

    Raises:
        RefusedRequest: one is given twice, or there are too many.

    Returns:
        The fields; the expressions to watch are lines of one field.
    """
    try:
        fields = parse_qs(encoded, keep_blank_values=True, max_num_fields=16, errors="replace")
    except ValueError:
        raise RefusedRequest(HTTPStatus.BAD_REQUEST, "the query cannot be read") from None
    if WATCH in fields:
        fields[WATCH] = ["\n".join(dict.fromkeys(filter(None, fields[WATCH])))]
    for name, values in fields.items():
        if len(values) > 1:
            raise RefusedRequest(HTTPStatus.BAD_REQUEST, f"{name[:40]!r} is given more than once")
    return {name: value for name, (value,) in fields.items()}
