"""The function `antecede.export`, which writes a system for other model checkers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from antecede.checker.api.arguments import QuestionArguments, converted, described, with_names
from antecede.checker.api.protocols import Given, named
from antecede.checker.check.spec import overridden
from antecede.checker.check.targets import spec_named
from antecede.checker.render.systems import SYSTEM_FORMATS, finite_system
from antecede.checker.semantics.question import Question
from antecede.checker.support.errors import check_known

if TYPE_CHECKING:
    from typing import Unpack


@described(QuestionArguments, Question)
def export(target: Given, *, format: str = "aut", **arguments: Unpack[QuestionArguments]) -> str:
    """Return all states and transitions of a system as a file for another model checker.

    The file marks every state and every transition that violates a property, so that the other tool
    can search for a mark.

    Args:
        target: the protocol (an `antecede.Protocol`, a name that `antecede list` shows, or
            FILE.py:OBJECT), or a spec (the TOML file of a saved check).
        format: `aut` (Aldebaran, for CADP and mCRL2), `tla` (TLA+, for TLC) or `promela` (for
            Spin).
        arguments: the further options of the command `antecede export`. They are listed below.

    Returns:
        The content of the file.

    Raises:
        InputError: a name or a value cannot be used, or the system is too large for a file.

    Examples:
        >>> from antecede import export
        >>> print(export("mfss", actors=2, messages=1).partition("(0,")[0].strip())
        des
    """
    check_known("format", format, SYSTEM_FORMATS, "format")
    given = converted(Question, with_names(arguments))
    with named(target) as (name,):
        found = finite_system(overridden(spec_named(name), given).system)
    return SYSTEM_FORMATS[format].write(found)
