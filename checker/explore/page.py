"""The HTML of the explore page. It works without the script: every step is a link or a button.

The script makes the page faster. It fetches the next page, replaces `#view` by the new one, and
moves the focus. Names and payloads come from untrusted protocols and are escaped.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from urllib.parse import urlencode

from attrs import evolve, frozen

from antecede.checker.check.spec import Spec
from antecede.checker.explore.code import call_of, code_of_step
from antecede.checker.explore.judgement import OPEN, SHOWN, VIOLATED, Judgement, judged
from antecede.checker.explore.near import FAR, WIDTH, near
from antecede.checker.explore.search import Search
from antecede.checker.explore.tree import Choice, Numbers, Tree, text_of
from antecede.checker.explore.where import LONGEST, MOST_WATCHED, Watched
from antecede.checker.paths.path import Path
from antecede.checker.render.about import about
from antecede.checker.render.html import compared
from antecede.checker.render.pages import page
from antecede.checker.render.pictures import PICTURES
from antecede.checker.render.prose import Wording
from antecede.checker.render.svg import drawing
from antecede.checker.render.svg_style import style
from antecede.checker.semantics.question import has_options, options_of
from antecede.checker.semantics.transition import state_after
from antecede.checker.support.reading import own_text
from antecede.checker.support.registry import default_properties

SAVED_AS = ("json", "svg", *PICTURES, "html")
"""The formats in which the page offers the path."""

MARKS = {VIOLATED: "✗", SHOWN: "✓", OPEN: "…"}


@frozen(eq=False)
class Place:
    """A place in the tree, with everything that the page shows about it.

    Attributes:
        path: the path as transitions, with the property that it violates.
        choices: the transitions that are enabled here.
        watched: the expressions that the page watches.
    """

    numbers: Numbers
    path: Path
    choices: tuple[Choice, ...]
    judgements: tuple[Judgement, ...]
    watched: tuple[Watched, ...] = ()

    @property
    def searched(self) -> tuple[Judgement, ...]:
        """The undecided properties that a search from here can decide; empty in a final state."""
        decided = (VIOLATED, SHOWN)
        left = (j for j in self.judgements if not j.prop.later and j.verdict not in decided)
        return tuple(left) if self.choices else ()

    @property
    def wrong_steps(self) -> dict[int, str]:
        """Step -> the property that the step violated."""
        violations = [j for j in self.judgements if j.verdict == VIOLATED and j.step is not None]
        return {j.step: j.prop.name for j in reversed(violations) if j.step is not None}


@frozen
class Note:
    """The result of a request, in a sentence."""

    text: str
    wrong: bool = False


def place_at(tree: Tree, numbers: Numbers) -> Place:
    """Return the place that `numbers` lead to.

    Raises:
        NoSuchState: they lead nowhere.
        ProtocolError: a handler of the protocol fails.
    """
    path = tree.path(numbers)
    # The path's states have the longer history of `for_replay`.
    judgements = judged(path, tree.system, state_after(tree.system, path.transitions))
    violated = [j for j in judgements if j.verdict == VIOLATED]
    first = min(violated, key=lambda j: (j.step is None, j.step or 0), default=None)
    shown = path if first is None else evolve(path, violates=first.prop.name)
    return Place(numbers, shown, tree.choices(numbers), judgements)


def text(
    tree: Tree,
    place: Place,
    note: Note | None = None,
    search: Search | None = None,
) -> str:
    """Return the page of a place.

    Args:
        search: a search that is under way.
    """
    name, path, numbers = tree.system.protocol.name, place.path, place.numbers
    said = about(path)
    words = Wording.of(path)
    remarks = said.explanation.remarks
    before = path.steps[-2].state if path.length > 1 else path.initial
    acts = path.steps[-1].actor if path.steps else None
    table, network = compared(path, words, before, path.last, acts)
    return page(
        "explore.html",
        title=f"Step {path.length} · {name}",
        name=name,
        question=said.question,
        step=path.length,
        done=words.step(path.steps[-1], remarks) if path.steps else "Nothing yet",
        here=text_of(numbers),
        before=text_of(numbers[:-1]),
        any_search=any(not judgement.prop.sought for judgement in place.searched),
        saves=SAVED_AS,
        exports=not tree.objects,
        note=note,
        search=search,
        longest=LONGEST,
        watched=place.watched,
        watch_suffix=suffix_of(place.watched),
        others=_others(place.watched),
        most_watched=MOST_WATCHED,
        said=said,
        choices=[(choice, text_of((*numbers, choice.number))) for choice in place.choices],
        judgements=place.judgements,
        searched=place.searched,
        marks=MARKS,
        VIOLATED=VIOLATED,
        drawing=drawing(path, said, inside=True),
        table=table,
        network=network,
        code=code_of_step(path, path.steps[-1]) if path.steps else None,
        steps=_steps(place, ["At the start", *(words.step(step, remarks) for step in path.steps)]),
        command=command_of(tree.spec, tree.system.protocol.network),
    )


def suffix_of(watched: Sequence[Watched]) -> str:
    """Return the end of an address that names the watched expressions."""
    return "".join(f"&{urlencode({'watch': each.expression})}" for each in watched)


def _others(watched: Sequence[Watched]) -> list[str]:
    """Return for each watched expression the end of an address that names only the others."""
    return [suffix_of([*watched[:at], *watched[at + 1 :]]) for at in range(len(watched))]


def graph_text(tree: Tree, place: Place) -> str:
    """Return the picture of the states near a place; each state is a link."""
    graph = near(tree, place.numbers)
    return page(
        "near.svg",
        graph=graph,
        nodes=[(node, text_of(node.numbers)) for node in graph.nodes.values()],
        wrong=[edge.end for edge in graph.edges if edge.violates],
        far=FAR,
        width=WIDTH,
        watch_suffix=suffix_of(place.watched),
    )


def _steps(place: Place, texts: Sequence[str]) -> list[dict[str, object]]:
    """Return the start and the steps so far."""
    return [
        {
            "number": number,
            "words": words,
            "path": text_of(place.numbers[:number]),
            "call": call_of(place.path, place.path.steps[number - 1]) if number else None,
            "looks": " ".join(
                ["wrong"] * (number in place.wrong_steps)
                + ["selected"] * (number == place.path.length)
            ),
        }
        for number, words in enumerate(texts)
    ]


def refusal(sentence: str, name: str, before: Numbers | None = None) -> str:
    """Return the page for a request that cannot be answered.

    Args:
        before: the valid part of the path, if the path is the reason.
    """
    return page(
        "refusal.html",
        title="This cannot be shown" if before is None else "There is no such state",
        name=name,
        search=None,
        sentence=f"{sentence[:1].upper()}{sentence[1:]}",
        before=text_of(before or ()),
        where="the start" if not before else f"step {len(before)}",
    )


def entrance(address: str) -> str:
    """Return the page that leads a browser on to an address of this server."""
    return page("entrance.html", address=address)


def style_sheet() -> str:
    """Return the style sheet: the trace page's, followed by our own rules."""
    looks = own_text("antecede.checker.render", "page.css")
    return looks + style() + own_text("antecede.checker.explore", "explore.css")


def script() -> str:
    """Return the script of the page."""
    return own_text("antecede.checker.explore", "explore.js")


def command_of(spec: Spec, needed: str = "unordered") -> list[str]:
    """Return the words of the command that explores `spec`, quoted for a shell.

    The network is left out if the protocol needs it anyway. A question that has keys without an
    option is named by the file of its spec.
    """
    target = spec.protocol if spec.file is None or has_options(spec) else spec.file
    asked = evolve(spec, properties=()) if spec.properties == default_properties() else spec
    if asked.network == needed:
        asked = evolve(asked, network=None)
    given = (f"{option} {shlex.quote(value)}" for option, value in options_of(asked))
    return ["antecede explore", shlex.quote(target), *given]
