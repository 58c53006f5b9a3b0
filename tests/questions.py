"""Ways to ask a record for something so that a caller may not notice.

A function that hides its question behind `except`, or asks a copy, still asks. An engine that does
not know the answer must notice it.
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import SimpleNamespace
from typing import Any, TypeAlias

from attrs import asdict

from antecede.checker.model import Delivery, LabelledMessage, Message

Question: TypeAlias = Callable[[Any], bool]
"""Takes a record, a message or a delivery."""


def _in_a_bare_except(ask: Question, otherwise: bool) -> Question:
    def hidden(record: Any) -> bool:
        try:
            return ask(record)
        except:  # noqa: E722
            return otherwise

    return hidden


def _in_finally(ask: Question, otherwise: bool) -> Question:
    def hidden(record: Any) -> bool:
        answer = otherwise
        try:
            answer = ask(record)
        finally:
            return answer  # noqa: B012

    return hidden


def _suppressed(ask: Question, otherwise: bool) -> Question:
    def hidden(record: Any) -> bool:
        with suppress(BaseException):
            return ask(record)
        return otherwise

    return hidden


def _of_its_class(ask: Question, otherwise: bool) -> Question:
    known = (Delivery, Message, LabelledMessage)
    return lambda record: ask(record) if type(record) in known else otherwise


def _written(ask: Question, _otherwise: bool) -> Question:
    names = {cls.__name__: cls for cls in (Delivery, Message, LabelledMessage)}
    return lambda record: ask(eval(repr(record), names))


def _of_its_fields(ask: Question, _otherwise: bool) -> Question:
    return lambda record: ask(type(record)(**asdict(record, recurse=False)))


HIDING: Mapping[str, Callable[[Question, bool], Question]] = {
    "bare-except": _in_a_bare_except,
    "finally": _in_finally,
    "suppressed": _suppressed,
    "of-its-class": _of_its_class,
    "written": _written,
    "fields": _of_its_fields,
    "copied": lambda ask, _: lambda record: ask(copy.copy(record)),
    "copied-deeply": lambda ask, _: lambda record: ask(copy.deepcopy(record)),
    "pickled": lambda ask, _: lambda record: ask(pickle.loads(pickle.dumps(record))),
    "state": lambda ask, _: lambda record: ask(SimpleNamespace(**record.__getstate__())),
}
"""(question, answer if it fails) -> a function that asks the question and hides it."""
