"""The function `antecede.replay`, which repeats a saved run, and its result."""

from __future__ import annotations

from pathlib import Path as FilePath
from tempfile import TemporaryDirectory

from attrs import evolve, frozen

from antecede.checker.api.arguments import NoArguments, described, with_names
from antecede.checker.api.protocols import Given, named
from antecede.checker.api.results import Report, Run, image
from antecede.checker.check.spec import OwnProperties
from antecede.checker.model import Property
from antecede.checker.paths.path import Path, holds_along
from antecede.checker.paths.path import replay as replayed
from antecede.checker.render.json import replay_file
from antecede.checker.render.text import replay_text
from antecede.checker.support.errors import InputError
from antecede.checker.support.settings import shown


@frozen(eq=False, repr=False)
class ReplayResult(Report):
    """The result of `antecede.replay`: a saved run, repeated with the present code of its protocol.

    A notebook draws the run.

    Attributes:
        property_name: the name of the property that was judged. Without `property`, this is the
            property that the run violated when it was saved, or None if it violated none.

    Examples:
        >>> import pathlib, tempfile
        >>> from antecede import check, replay
        >>> file = pathlib.Path(tempfile.mkdtemp(), "run.json")
        >>> check("unordered", actors=2).counterexample.save(file)
        >>> result = replay(file)
        >>> result.violated
        True
        >>> result.run
        <Run: causal-delivery VIOLATED after 4 transitions>
    """

    _path: Path
    property_name: str | None
    _saved: str | None
    _file: str

    @property
    def violated(self) -> bool:
        """True if the run violates the property with the present code of the protocol."""
        return self._path.violates is not None

    @property
    def run(self) -> Run:
        """The repeated run, with the states, packets and deliveries of the present code."""
        return Run(self._path)

    def __repr__(self) -> str:
        return f"<Replay of {self._file}: {self.run!r}>"

    def __str__(self) -> str:
        return replay_text(self._path, self.property_name, self._saved, self._file)

    def _repr_html_(self) -> str:
        return image(self.run.text("svg"), self.run.reason)


@described(NoArguments)
def replay(
    trace: str | FilePath | Run,
    *,
    protocol: Given | None = None,
    property: str | Property | None = None,
) -> ReplayResult:
    """Repeat a saved run with the present code of its protocol.

    A counterexample that you keep shows whether a repair of the protocol works.

    Args:
        trace: a run, such as `result.counterexample`, or the name of a .json file that `Run.save`
            or `antecede check --trace` wrote.
        protocol: the protocol, if it is an object of your program or in a file. By default, the
            protocol that the file names.
        property: the property to judge, if it is an `antecede.Property` of your program or in a
            file. By default, the property that the file names.

    Returns:
        The repeated run, and whether it still violates its property.

    Raises:
        ReplayError: the protocol has changed, so that a step of the run is no longer possible. The
            error names the step.
        InputError: the file is not a saved run.

    Examples:
        >>> from antecede import replay
        >>> replay("run.json")  # doctest: +SKIP
        <Replay of run.json: <Run: causal-delivery VIOLATED after 6 transitions>>
    """
    if isinstance(trace, Run) and protocol is None and property is None:
        path = _again(trace._path)
        return ReplayResult(path, trace.violates, trace.violates, "the run")
    if isinstance(trace, Run):
        again = trace._path.system.protocol if protocol is None else protocol
        same = trace._path.violated if property is None else property
        with TemporaryDirectory(prefix="antecede-") as folder:
            file = FilePath(folder, "run.json")
            trace.save(file)
            return evolve(replay(file, protocol=again, property=same), file="the run")
    if not isinstance(property, str | Property | None):
        raise InputError(
            f"property is {shown(property)}; give the name of one property, or one "
            "antecede.Property"
        )
    if not isinstance(trace, str | FilePath):
        raise InputError(
            f"trace is {shown(repr(trace))}; give a run, such as result.counterexample, or the "
            "name of a .json file"
        )
    return _replayed(str(trace), protocol, property)


def _replayed(trace: str, protocol: Given | None, property: str | Property | None) -> ReplayResult:
    """Repeat the run in a file."""
    with named(*(() if protocol is None else (protocol,))) as names:
        asked = property.name if isinstance(property, Property) else property
        own = with_names({"properties": [property]}).get("own", OwnProperties())
        try:
            path, prop, saved = replay_file(trace, names[0] if names else None, asked, own)
        except InputError as error:
            if "--property" not in str(error):
                raise
            # The other functions call this argument `properties`.
            raise InputError(str(error).replace("--property", "property")) from None
    return ReplayResult(path, prop, saved, trace)


def _again(path: Path) -> Path:
    """Return a run, repeated with the code of the protocol that the run has."""
    again = evolve(replayed(path.system, path.transitions), loop=path.loop)
    if path.violated is None or holds_along(again, path.violated):
        return again
    return evolve(again, violates=path.violates)
