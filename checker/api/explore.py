"""`antecede.explore`: the explorer, within the cell of a notebook."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from attrs import evolve, frozen

from antecede.checker.api.arguments import ExploreArguments, converted, described
from antecede.checker.api.protocols import Given, named
from antecede.checker.explore import start
from antecede.checker.explore.server import Server
from antecede.checker.explore.site import BOUNDS, Site
from antecede.checker.search.options import Bounds
from antecede.checker.semantics.question import Question
from antecede.checker.settings import taken

if TYPE_CHECKING:
    from typing import Unpack

HEIGHT = 700
"""The height of the page within a cell, in pixels."""


@frozen(eq=False, repr=False)
class Explorer:
    """A page for stepping through the runs of a protocol by hand. A notebook shows it.

    The page ends with the program, or by `close()`.

    Examples:
        >>> from antecede import explore
        >>> page = explore("fifo", actors=3, messages=2)
        >>> page  # doctest: +ELLIPSIS
        <Explorer of fifo at http://127.0.0.1:...>
        >>> page.close()
    """

    address: str
    _protocol: str
    _server: Server

    def close(self) -> None:
        """End the page."""
        self._server.shutdown()
        self._server.server_close()

    def __repr__(self) -> str:
        return f"<Explorer of {self._protocol} at {self.address}>"

    def _repr_html_(self) -> str:
        return (
            f'<iframe src="{self.address}" width="100%" height="{HEIGHT}" style="border:0" '
            f'title="Explorer of {self._protocol}"></iframe>'
        )


@described(ExploreArguments, Question, Bounds)
def explore(
    target: Given,
    *,
    protocol: Given | None = None,
    port: int = 0,
    browser: bool = False,
    **arguments: Unpack[ExploreArguments],
) -> Explorer:
    """Step through the runs of a protocol by hand, on a page in the notebook.

    Only this machine can open the page.

    Args:
        target: a protocol, a spec, or the .json file of a run.
        protocol: the protocol of a run, if it is an object of your program or in a file.
        port: the port of the page; 0 for any free port.
        browser: open the page in a browser.
        arguments: the options of `antecede explore`.

    Raises:
        InputError: there is no such target, or it cannot be explored.

    Examples:
        >>> from antecede import explore
        >>> explore("mfss", actors=2).close()
    """
    given = converted(Question, arguments)
    bounds = evolve(BOUNDS, **converted(Bounds, taken(given, Bounds)))
    others = () if protocol is None else (protocol,)
    with named(target, *others) as (name, *names):
        tree, numbers = start.opened(name, {**given, **({"protocol": names[0]} if names else {})})
    server = Server(Site(tree, bounds), port, framed=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = start.address_of(server.address, numbers)
    if browser:
        start.show(address)
    return Explorer(address, tree.spec.protocol, server)
