"""The page: everything is in it as markup, and every step is a link or a button of a form.

The script only makes it quicker: it fetches the next page, puts its `#view` in the place of this
one's, and moves the focus. Names and payloads come from strangers' protocols and are escaped.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from importlib import resources

from attrs import evolve, frozen

from antecede.checker.explore.ahead import searchable
from antecede.checker.explore.judgement import OPEN, SHOWN, VIOLATED, Judgement, judged
from antecede.checker.explore.tree import Choice, Numbers, Tree, text_of
from antecede.checker.formats.html import actors_table, network_list
from antecede.checker.formats.json import own_version
from antecede.checker.formats.markup import Markup, joined, tag
from antecede.checker.formats.svg import drawing
from antecede.checker.formats.svg_style import style
from antecede.checker.model import Transition
from antecede.checker.paths.path import Path
from antecede.checker.registry import default_properties
from antecede.checker.report.about import About, about
from antecede.checker.report.prose import Wording
from antecede.checker.semantics.question import options_of
from antecede.checker.spec import Spec

SAVED_AS = ("json", "svg", "html")
"""The formats in which the page offers the path."""

MARKS = {VIOLATED: "✗", SHOWN: "✓", OPEN: "…"}


@frozen(eq=False)
class Place:
    """A place in the tree, and all that is shown of it.

    Attributes:
        numbers: the path that leads here.
        path: the same, with the property that it violates.
        choices: what can happen here.
        judgements: what the properties say.
    """

    numbers: Numbers
    path: Path
    choices: tuple[Choice, ...]
    judgements: tuple[Judgement, ...]

    @property
    def searched(self) -> tuple[Judgement, ...]:
        """What can be searched for from here: what is not decided, while something can happen."""
        decided = (VIOLATED, SHOWN)
        left = (j for j in self.judgements if searchable(j.prop) and j.verdict not in decided)
        return tuple(left) if self.choices else ()

    @property
    def wrong_steps(self) -> dict[int, str]:
        """The steps at which a property was violated, with its name."""
        found = [j for j in self.judgements if j.verdict == VIOLATED and j.step is not None]
        return {j.step: j.prop.name for j in reversed(found) if j.step is not None}


@frozen
class Note:
    """What came of a request, in a sentence."""

    text: str
    wrong: bool = False


def place_at(tree: Tree, numbers: Numbers) -> Place:
    """Return the place that `numbers` lead to.

    Raises:
        NoSuchState: they lead nowhere.
        ProtocolError: a handler of the protocol fails.
    """
    path = tree.path(numbers)
    judgements = judged(path, tree.system, tree.own_state(path))
    violated = [j for j in judgements if j.verdict == VIOLATED]
    first = min(violated, key=lambda j: (j.step is None, j.step or 0), default=None)
    shown = path if first is None else evolve(path, violates=first.prop.name)
    return Place(numbers, shown, tree.choices(numbers), judgements)


def text(tree: Tree, place: Place, note: Note | None = None) -> str:
    """Return the page of a place."""
    name = tree.system.protocol.name
    said = evolve(about(place.path), question=_question(tree, place.path))
    return _page(
        f"Step {place.path.length} · {name}",
        tag("h1", f"Exploring {name}"),
        tag("p", said.question, class_="question"),
        view=[_bar(place), _main(place, said, note)],
        footer=_footer(tree),
    )


def refusal(sentence: str, name: str, before: Numbers | None = None) -> str:
    """Return the page that says why there is nothing to show.

    Args:
        sentence: why.
        name: of the protocol.
        before: the part of the path that leads somewhere, if the path is to blame.
    """
    heading = "This cannot be shown" if before is None else "There is no such state"
    where = "the start" if not before else f"step {len(before)}"
    back = tag("a", f"Go to {where}", href=f"/?path={text_of(before or ())}")
    said = tag("p", f"{sentence[:1].upper()}{sentence[1:]}")
    content = tag("main", tag("section", tag("h2", heading), said, tag("p", back)))
    return _page(heading, tag("h1", f"Exploring {name}"), view=[content])


def style_sheet() -> str:
    """Return the style of the page: that of the page of a trace, and what comes on top."""
    looks = (
        resources.files("antecede.checker.formats").joinpath("page.css").read_text(encoding="utf-8")
    )
    return looks + style() + _asset("explore.css")


def script() -> str:
    """Return the script of the page."""
    return _asset("explore.js")


def _asset(name: str) -> str:
    return resources.files("antecede.checker.explore").joinpath(name).read_text(encoding="utf-8")


def _page(title: str, *header: Markup, view: Sequence[Markup], footer: Markup | None = None) -> str:
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", f"{title} – antecede explore"),
        tag("link", rel="icon", href="/explore.svg"),
        tag("link", rel="stylesheet", href="/explore.css"),
        tag("script", src="/explore.js", defer=True),
    )
    live = tag("p", id="live", role="status", aria_live="polite", class_="unseen")
    body = tag(
        "body",
        tag("header", *header, live),
        tag("div", *view, id="view"),
        footer or tag("footer", _made_by()),
    )
    return f"<!DOCTYPE html>\n{tag('html', head, body, lang='en')}\n"


def _question(tree: Tree, path: Path) -> str:
    """Return the bounds, with the protocol as it was asked for."""
    name = tree.system.protocol.name
    said = about(path).question.removeprefix(f"{name} · ")
    return said if tree.spec.protocol == name else f"{tree.spec.protocol} · {said}"


# The bar


def _bar(place: Place) -> Markup:
    here = text_of(place.numbers)
    return tag(
        "nav",
        _moves(place),
        _search(place),
        tag("span", _box("control", "control packets", "c", checked=True), class_="scripted"),
        tag("span", _box("changed", "only what changed", "o", checked=False), class_="scripted"),
        tag("span", "Save ", joined(*_saves(here), by=" "), class_="saves"),
        _load(),
        class_="bar",
        aria_label="path",
    )


def _moves(place: Place) -> Markup:
    numbers, first = place.numbers, not place.numbers
    start = tag("button", "Start", id="start", name="path", value="", disabled=first)
    back = tag(
        "button", "Back ", tag("kbd", "u"), id="back", name="path", value=text_of(numbers[:-1]),
        disabled=first, aria_keyshortcuts="U Backspace",
    )  # fmt: skip
    return tag("form", start, back, method="get", action="/")


def _search(place: Place) -> Markup:
    """Return the search for any violation; the buttons beside the properties belong to it, too."""
    left = [j for j in place.searched if not j.prop.sought]
    hidden = tag("input", type="hidden", name="path", value=text_of(place.numbers))
    button = tag(
        "button", "Take me to a violation ", tag("kbd", "v"), id="violation", name="property",
        value="", aria_keyshortcuts="V",
    )  # fmt: skip
    return tag("form", hidden, button if left else "", method="post", action="/search", id="search")


def _box(name: str, words: str, key: str, *, checked: bool) -> Markup:
    box = tag("input", type="checkbox", id=name, checked=checked)
    return tag("label", box, f"{words} ", tag("kbd", key))


def _saves(here: str) -> Iterator[Markup]:
    for name in SAVED_AS:
        href = f"/trace?path={here}&format={name}"
        yield tag("a", name.upper(), href=href, download=f"trace.{name}")


def _load() -> Markup:
    """Return what reads a trace; the script takes it from there."""
    file = tag("input", type="file", id="load", accept=".json,application/json")
    return tag("label", "Load a trace ", file, class_="scripted load")


def _note(note: Note | None) -> Markup:
    if note is None:
        return Markup("")
    return tag("p", note.text, id="note", class_="note wrong" if note.wrong else "note")


# What is shown of a place


def _main(place: Place, said: About, note: Note | None) -> Markup:
    return tag(
        "main",
        _note(note),
        tag("div", _here(place, said), _choices(place), _properties(place), class_="left"),
        tag("div", _diagram(place, said), _state(place), _steps(place, said), class_="right"),
        data_path=text_of(place.numbers),
    )


def _here(place: Place, said: About) -> Markup:
    words, path = Wording.of(place.path), place.path
    done = words.step(path.steps[-1], said.explanation.remarks) if path.steps else "Nothing yet"
    lines = [
        tag("h2", f"Step {path.length}" if path.steps else "The start"),
        tag("p", f"{done}.", id="done"),
    ]
    if path.violates is not None:
        lines.append(tag("p", tag("span", "VIOLATED", class_="badge"), f" {path.violates}"))
        lines.append(tag("p", said.explanation.text or f"{said.headline}."))
        lines += [tag("p", detail, class_="muted") for detail in said.explanation.details]
    return tag("section", *lines, aria_label="where you are", class_="here")


def _choices(place: Place) -> Markup:
    heading = tag("h2", "What can happen here", id="ahead", tabindex=-1)
    if not place.choices:
        return tag("section", heading, tag("p", "Nothing: the run is over."), class_="ahead")
    items = [tag("li", _choice(place.numbers, choice)) for choice in place.choices]
    hint = tag(
        "p", tag("kbd", "j"), " ", tag("kbd", "k"), " choose, ", tag("kbd", "Enter"), " takes, ",
        tag("kbd", "u"), " goes back", class_="muted scripted",
    )  # fmt: skip
    form = tag("form", tag("ol", *items, class_="choices"), method="get", action="/")
    return tag("section", heading, form, hint, class_="ahead", aria_labelledby="ahead")


def _choice(here: Numbers, choice: Choice) -> Markup:
    wrong = choice.fails or choice.violates
    number = tag("span", f"{choice.number}", class_="number")
    words = [choice.text]
    if choice.fails:
        words.append(tag("span", "fails", class_="flag"))
    words += [tag("span", f"violates {name}", class_="flag") for name in choice.violates]
    return tag(
        "button",
        number,
        " ",
        tag("span", joined(*words, by=" ")),
        name="path",
        value=text_of((*here, choice.number)),
        class_="choice wrong" if wrong else "choice",
        disabled=choice.fails,
    )


def _properties(place: Place) -> Markup:
    lines = [_property(judgement, place.searched) for judgement in place.judgements]
    heads = [tag("th", name, scope="col") for name in ("property", "so far")]
    search = tag("td", tag("span", "search", class_="unseen"))
    table = tag(
        "table",
        tag("thead", tag("tr", *heads, search)),
        tag("tbody", *lines),
        aria_labelledby="properties",
    )
    return tag("section", tag("h2", "Properties", id="properties"), table)


def _property(judgement: Judgement, searched: Sequence[Judgement]) -> Markup:
    name, verdict = judgement.prop.name, judgement.verdict
    mark = tag("span", MARKS.get(verdict, "✓"), aria_hidden="true", class_="sign")
    button = Markup("")
    if judgement in searched:
        sought = "Show me" if judgement.prop.sought else "Violate it"
        button = tag(
            "button", sought, form="search", name="property", value=name,
            aria_label=f"{sought}: {name}",
        )  # fmt: skip
    return tag(
        "tr",
        tag("th", name, scope="row"),
        tag("td", mark, " ", judgement.text),
        tag("td", button),
        class_="wrong" if verdict == VIOLATED else None,
    )


def _diagram(place: Place, said: About) -> Markup:
    label = "Space-time diagram: time runs downwards, one line per actor"
    inside = drawing(place.path, said, inside=True)
    return tag("section", inside, class_="diagram", tabindex=0, aria_label=label)


def _state(place: Place) -> Markup:
    path, words = place.path, Wording.of(place.path)
    before = path.steps[-2].state if path.length > 1 else path.initial
    acts = path.steps[-1].actor if path.steps else None
    heading = f"State after step {path.length}" if path.steps else "State at the start"
    return tag(
        "section",
        tag("h2", heading),
        tag("div", actors_table(path, words, before, path.last, acts), class_="wide"),
        tag("h3", "In flight"),
        network_list(path, words, before, path.last),
        class_="state",
    )


def _steps(place: Place, said: About) -> Markup:
    words, remarks = Wording.of(place.path), said.explanation.remarks
    texts = ["At the start", *(words.step(step, remarks) for step in place.path.steps)]
    items = [_step(place, number, said_of) for number, said_of in enumerate(texts)]
    return tag("section", tag("h2", "Steps so far"), tag("ol", *items, class_="steps"))


def _step(place: Place, number: int, words: str) -> Markup:
    here = number == place.path.length
    link = tag(
        "a",
        tag("span", f"{number}", class_="number"),
        " ",
        tag("span", words),
        href=f"/?path={text_of(place.numbers[:number])}",
        aria_current="step" if here else None,
    )
    looks = ["wrong"] if number in place.wrong_steps else []
    looks += ["selected"] if here else []
    return tag("li", link, id=f"step-{number}", class_=" ".join(looks) or None)


# At the bottom


def _footer(tree: Tree) -> Markup:
    words_of = command_of(tree.spec, tree.system.protocol.network)
    words = (tag("span", word, class_="word") for word in words_of)
    command = tag("code", joined(*words, by=" "))
    share = "The address names this state. Whoever runs the same command can open it: "
    return tag("footer", tag("p", share, command), tag("p", _made_by()))


def _made_by() -> str:
    return f"Made by antecede {own_version()}."


def command_of(spec: Spec, needed: str = "unordered") -> list[str]:
    """Return the words, quoted for a shell, of the command that explores what `spec` describes.

    The network is left out if it is what the protocol needs.
    """
    asked = evolve(spec, properties=()) if spec.properties == default_properties() else spec
    if asked.network == needed:
        asked = evolve(asked, network=None)
    given = (f"{option} {shlex.quote(value)}" for option, value in options_of(asked))
    return ["antecede explore", shlex.quote(spec.protocol), *given]


def transitions_to(path: Path) -> tuple[Transition, ...]:
    """Return the transitions of a path."""
    return tuple(step.transition for step in path.steps)
