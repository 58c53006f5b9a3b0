"""The function `antecede.audit`, which finds messages in wrong order in logs, and its result."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

from attrs import frozen

from antecede.checker.api.arguments import NoArguments, converted, described
from antecede.checker.api.progress import progress
from antecede.checker.api.results import Report, image
from antecede.checker.logs.audit import audit_at
from antecede.checker.logs.judge.findings import Audit, Finding, How
from antecede.checker.logs.readers.records import Fields, fields_from
from antecede.checker.logs.report import picture as pictures
from antecede.checker.logs.report import summary as report
from antecede.checker.render.files import write_whole
from antecede.checker.search.options import Bounds
from antecede.checker.support import interrupts
from antecede.checker.support.amounts import counted
from antecede.checker.support.errors import CapacityError, InputError, check_known, check_place
from antecede.checker.support.settings import shown


@frozen(eq=False, repr=False)
class AuditResult(Report):
    r"""The result of `antecede.audit`: the wrong deliveries in the logs of a real system.

    `print(result)` shows the report of the command `antecede audit`. A notebook draws the first
    violation.

    Examples:
        Actor c gets the reply before the photo to which it replies:

        >>> from antecede import audit
        >>> events = [
        ...     {"actor": "a", "event": "causal-send", "message": "photo", "to": ["b", "c"]},
        ...     {"actor": "b", "event": "deliver", "message": "photo"},
        ...     {"actor": "b", "event": "causal-send", "message": "reply", "to": ["c"]},
        ...     {"actor": "c", "event": "deliver", "message": "reply"},
        ...     {"actor": "c", "event": "deliver", "message": "photo"},
        ... ]
        >>> result = audit(events)
        >>> result.verdict
        'VIOLATED'
        >>> result.findings[0].kind
        'causal-delivery'
    """

    _audit: Audit

    @property
    def verdict(self) -> str:
        """The verdict on the logs: HOLDS, VIOLATED, UNDECIDED or NOTHING TO JUDGE.

        HOLDS means that no error was found. VIOLATED means that there is at least one error.
        UNDECIDED means that the logs do not tell the order of some events that matters. NOTHING TO
        JUDGE means that no message was delivered.
        """
        return report.verdict(self._audit)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The errors in the logs, such as a message that was delivered too early, twice or never.

        An undelivered message is an error unless `audit` was called with `unfinished=True`.
        """
        return self._audit.every

    @property
    def counts(self) -> Mapping[str, int]:
        """The size of the logs: a mapping with four numbers.

        `actors` is the number of participants, `causal_sends` the number of messages that
        applications sent, and `deliveries` the number of times that an application got a message.
        `undelivered_copies` counts each message once for each of its receivers that did not deliver
        the message.
        """
        found = self._audit
        return {
            "actors": found.actors,
            "causal_sends": found.causal_sends,
            "deliveries": found.deliveries,
            "undelivered_copies": found.open,
        }

    def save(self, file: str | Path) -> None:
        """Draw a violation in a file: the first message that was processed too late, if any.

        Args:
            file: the name of the file. Its ending selects the format: .svg, .png or .pdf (a
                picture), .html (a page), .shiviz (a log for the tool ShiViz) or .json (data).

        Raises:
            InputError: nothing can be drawn, the ending is none of these, or the file cannot be
                written.
        """
        write_whole(str(file), pictures.file_content(self._audit, pictures.check_format(str(file))))

    def __repr__(self) -> str:
        found = self._audit
        events = f"{counted(found.events, 'event')} of {counted(found.actors, 'actor')}"
        first = f"\n  {self.findings[0].text}" if self.findings else ""
        return f"<Audit: {self.verdict}, {events}, {counted(len(self.findings), 'finding')}>{first}"

    def __str__(self) -> str:
        return report.text(self._audit)

    def _repr_html_(self) -> str:
        shown = super()._repr_html_()
        if (drawn := self._audit.drawn) is not None:
            shown += image(pictures.picture(self._audit, "svg"), drawn.text)
        return shown


Log: TypeAlias = str | Path | Sequence[Mapping[str, Any]]
"""A log: a file, a folder of files, or the events themselves."""


@described(NoArguments)
def audit(
    *logs: Log,
    log_format: str | None = None,
    fields: Mapping[str, str] | str | None = None,
    parser: str | None = None,
    unfinished: bool = False,
    redelivery: str = "error",
    from_middle: bool = False,
    max_seconds: float | None = None,
    on: str = "here",
    master: str | None = None,
) -> AuditResult:
    """Find messages that were delivered out of causal order in the logs of a real system.

    Causal order means that no participant gets an answer before the message that it answers. The
    logs say which messages were sent and delivered; `antecede.testing.recorder` can write them.

    Args:
        logs: the names of files or of folders of files, or lists of events.
        log_format: the format of the logs: jsonl (JSON objects, one per line), csv, otel (spans of
            OpenTelemetry, Jaeger or Zipkin) or shiviz. By default, it is detected.
        fields: the names that the records of the log use, such as {"actor": "host"} if the
            participant is in the field `host`. For spans, `actor` has the attributes that name a
            participant, such as "service.name+k8s.pod.name".
        parser: a regular expression for the events of a ShiViz log, with the groups `event`, `host`
            and `clock`; or for their texts, with the groups `message`, `to`, and `event` or `send`
            and `deliver`.
        unfinished: True if messages may still be in transit, so that an undelivered message is no
            error. By default, it is one.
        redelivery: `ok` if the system may deliver a message several times, so that only the first
            delivery counts. With `error`, the default, the others are errors.
        from_middle: True if the logs may begin in the middle of a run, so that a delivery of a
            message that no log sends is no error. By default, it is one.
        max_seconds: the seconds after which the audit ends without a result. By default, never.
        on: where the audit runs: `here` (in this process, the default) or `spark` (on a Spark
            cluster).
        master: the address of the Spark cluster, for example spark://HOST:PORT. Only for `spark`.

    Returns:
        The verdict, the errors that were found, and the number of events.

    Raises:
        InputError: a log cannot be read, or no message was sent in the logs.
        CapacityError: the time is over, or there is too little memory.

    Examples:
        >>> from antecede import audit
        >>> audit("alice.jsonl", "bob.jsonl", unfinished=True)  # doctest: +SKIP
        <Audit: HOLDS, 120 events of 2 actors, 0 findings>
    """
    check_place(on, master)
    seconds = converted(Bounds, {"max_seconds": max_seconds})["max_seconds"]
    known = _fields(fields)
    if not isinstance(parser, str | None):
        raise InputError(f"parser is {shown(parser)}; give a regular expression as a text")
    check_known("redelivery", redelivery, ("error", "ok"), "redelivery")
    reached = f"max_seconds={seconds:g} reached" if seconds is not None else ""
    try:
        with _files(logs) as names, progress() as ticker, interrupts.within(seconds, reached):
            found = audit_at(
                on,
                names,
                log_format,
                known,
                given=parser,
                how=How(unfinished, redelivery == "ok", from_middle),
                ticker=ticker,
                master=master,
            )
    except interrupts.Ended as ended:
        if not reached or str(ended) != reached:
            raise
        raise CapacityError(f"{reached} before the logs were read") from None
    return AuditResult(found)


@contextmanager
def _files(logs: Sequence[Any]) -> Iterator[tuple[str, ...]]:
    """Yield the files of the logs; a list of events is a file only until the block ends."""
    if not logs:
        raise InputError("there is no log; give files, folders, or lists of events")
    with TemporaryDirectory(prefix="antecede-") as folder:
        yield tuple(_file(log, Path(folder, f"log-{n}.jsonl")) for n, log in enumerate(logs, 1))


def _file(log: Any, file: Path) -> str:
    """Return the name of a log's file. Events are written to `file`, one a line."""
    if isinstance(log, str | Path):
        return str(log)
    if not isinstance(log, Sequence) or not log or not all(isinstance(e, Mapping) for e in log):
        raise InputError(
            f"the log is {shown(log)}; give a file, a folder, or a list of events such as "
            '{"actor": "a", "event": "deliver", "message": "m"}'
        )
    try:
        file.write_text("".join(f"{json.dumps(dict(event))}\n" for event in log), "utf-8")
    except (TypeError, ValueError) as error:
        raise InputError(f"an event of the log cannot be written as JSON: {error}") from None
    return str(file)


def _fields(given: Mapping[str, Any] | str | None) -> Fields:
    if given is None or isinstance(given, str):
        return fields_from(given)
    if not isinstance(given, Mapping):
        raise InputError(
            f"fields is {shown(given)}; give a dictionary such as "
            '{"actor": "host", "message": "id"}'
        )
    return fields_from(",".join(f"{name}={field}" for name, field in given.items()))
