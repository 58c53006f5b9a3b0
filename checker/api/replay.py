"""`antecede.replay`: a saved counterexample, replayed with the present code of its protocol."""

from __future__ import annotations

from pathlib import Path as FilePath
from tempfile import TemporaryDirectory

from attrs import evolve, frozen

from antecede.checker.api.arguments import NoArguments, described
from antecede.checker.api.protocols import Given, named
from antecede.checker.api.results import Report, Run, image
from antecede.checker.errors import InputError
from antecede.checker.paths.path import Path
from antecede.checker.render.json import replay_file
from antecede.checker.render.text import replay_text
from antecede.checker.settings import shown


@frozen(eq=False, repr=False)
class ReplayResult(Report):
    """The result of `antecede.replay`. A notebook draws the run.

    Attributes:
        property_name: the property that the saved run violated, or None if it violated none.

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
    _file: str

    @property
    def violated(self) -> bool:
        """The run still violates its property."""
        return self._path.violates is not None

    @property
    def run(self) -> Run:
        """The run, taken again."""
        return Run(self._path)

    def __repr__(self) -> str:
        return f"<Replay of {self._file}: {self.run!r}>"

    def __str__(self) -> str:
        return replay_text(self._path, self.property_name, self._file)

    def _repr_html_(self) -> str:
        return image(self.run.text("svg"), self.run.reason)


@described(NoArguments)
def replay(trace: str | FilePath | Run, *, protocol: Given | None = None) -> ReplayResult:
    """Replay a saved counterexample in plain Python, with the present code of the protocol.

    Args:
        trace: a run, such as `result.counterexample`, or the file of a run that was saved as .json.
        protocol: the protocol, if it is an object of your program or in a file.

    Raises:
        ReplayError: the run no longer fits the protocol; the error names the step.
        InputError: the file is not a trace.

    Examples:
        >>> from antecede import replay
        >>> replay("run.json")  # doctest: +SKIP
        <Replay of run.json: <Run: causal-delivery VIOLATED after 6 transitions>>
    """
    if isinstance(trace, Run):
        again = trace._path.system.protocol if protocol is None else protocol
        with TemporaryDirectory(prefix="antecede-") as folder:
            file = FilePath(folder, "run.json")
            trace.save(file)
            return evolve(replay(file, protocol=again), file="the run")
    if not isinstance(trace, str | FilePath):
        raise InputError(
            f"trace is {shown(repr(trace))}; give a run, such as result.counterexample, or the "
            "name of a .json file"
        )
    with named(*(() if protocol is None else (protocol,))) as names:
        path, prop = replay_file(str(trace), names[0] if names else None)
    return ReplayResult(path, prop, str(trace))
