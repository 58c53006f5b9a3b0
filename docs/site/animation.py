"""Animates a space-time diagram that antecede drew.

Each transition appears after the one before it. A packet's arrow grows from the transition that
sends it to the transition that receives it. The diagram says which transitions these are, so the
animation shows exactly the run that was found. Readers who ask for less motion see the whole
diagram at once.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from jinja2 import Template

PICTURE = re.compile(r'<p><img [^>]*src="(images/[\w-]+\.svg)"[^>]*></p>')
DOCS = Path(__file__).resolve().parents[1]

SECONDS_PER_STEP = 1.0
SECONDS_OF_REST = 4.0
"""How long the whole run stays before it starts again."""
FAINT = 0.35
"""How strong the words about a transition are before it happens."""

SVG = "http://www.w3.org/2000/svg"
SYSTEM_SCHEME = "@media screen and (prefers-color-scheme: dark) {"
PAGE_SCHEME = '@media screen { [data-md-color-scheme="slate"] {'

FRAME = """<figure class="counterexample">
<div class="counterexample__run" tabindex="0" role="group" aria-label="A counterexample">
{drawing}
</div>
<label class="counterexample__pause"><input type="checkbox"> Pause the animation</label>
</figure>"""


def on_page_content(html: str, *, page: Any, **_more: Any) -> str:
    """Play the diagram of the first page."""
    if page.file.src_uri != "index.md":
        return html
    return PICTURE.sub(lambda found: animated((DOCS / found[1]).read_text("utf-8")), html)


def animated(drawing: str) -> str:
    """Return a figure for a page of the site that plays a diagram.

    Args:
        drawing: the SVG file, as `antecede check --trace FILE.svg` writes it.

    Raises:
        ValueError: the drawing has no transitions.
    """
    ElementTree.register_namespace("", SVG)
    root = ElementTree.fromstring(drawing)
    timed = [part for part in root.iter(f"{{{SVG}}}g") if int(part.get("data-step", 0))]
    if not timed:
        raise ValueError("the drawing has no transitions; draw it with antecede check --trace")
    last = max(int(part.get("data-step", 0)) for part in timed)
    for part in timed:
        if part.get("data-met") and "control" not in part.get("class", "").split():
            for shaft in part.iter(f"{{{SVG}}}path"):
                shaft.set("pathLength", "1")
    sheet = root.find(f"{{{SVG}}}style")
    assert sheet is not None
    assert sheet.text is not None
    sheet.text = f"{_following_the_page(sheet.text)}{_rules(timed, last)}"
    text = ElementTree.tostring(root, encoding="unicode")
    return FRAME.format(drawing=re.sub(r"\n\s*\n", "\n", text))


def _following_the_page(sheet: str) -> str:
    """Return a style sheet whose dark colours follow the site's switch, not the system."""
    before, scheme, dark = sheet.partition(SYSTEM_SCHEME)
    return f"{before}{PAGE_SCHEME}{dark}}}\n" if scheme else sheet


def _rules(timed: list[ElementTree.Element], last: int) -> str:
    """Return the rules that show each part of a drawing at its time."""
    pairs = sorted({(part.get("data-step", ""), part.get("data-met", "")) for part in timed})
    sheet = (DOCS / "site" / "animation.css").read_text(encoding="utf-8")
    template = Template(sheet, trim_blocks=True, keep_trailing_newline=True)
    return template.render(
        times=[(step, met, _share(step, last), met and _share(met, last)) for step, met in pairs],
        last=last,
        whole=f"{last * SECONDS_PER_STEP + SECONDS_OF_REST:g}",
        faint=FAINT,
    )


def _share(step: str, last: int) -> float:
    """Return when a transition happens, as a percentage of the time."""
    return 100 * int(step) * SECONDS_PER_STEP / (last * SECONDS_PER_STEP + SECONDS_OF_REST)
