"""The function `antecede.explore`, which shows a page for stepping through runs of a protocol."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from attrs import evolve, frozen

from antecede.checker.api.arguments import ExploreArguments, converted, described, with_names
from antecede.checker.api.protocols import Given, named
from antecede.checker.explore import start
from antecede.checker.explore.server import Server
from antecede.checker.explore.site import BOUNDS, Site
from antecede.checker.search.options import Bounds
from antecede.checker.semantics.question import Question
from antecede.checker.support.settings import taken

if TYPE_CHECKING:
    from typing import Unpack

HEIGHT = 700
"""The height of the explorer within a cell of a notebook, in pixels."""


@frozen(eq=False, repr=False)
class Explorer:
    """A web page for stepping through the runs of a protocol by hand.

    A notebook shows the page in the cell. The page is served by your program: it can be used until
    the program ends or calls `close()`.

    Attributes:
        address: the address of the page. A browser on this machine can open it. It has a secret
            token, without which nobody can use the page.

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
        """Stop serving the page. A browser that still shows the page can no longer use it."""
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
    """Open a web page on which you step through the runs of a protocol by hand.

    In each state, the page offers every step that can happen next. A notebook shows the page in the
    cell. Only this machine can open the page.

    Args:
        target: the protocol (an `antecede.Protocol`, a name that `antecede list` shows, or
            FILE.py:OBJECT), a spec (the TOML file of a saved check), or a run that `Run.save` saved
            as .json.
        protocol: the protocol of a saved run, if the protocol is an object of your program or in a
            file. Leave it out for other targets.
        port: the port of the page. By default 0, any free port.
        browser: True to open the page in a browser as well.
        arguments: the further options of the command `antecede explore`. They are listed below.

    Returns:
        The page, which a notebook shows; its `close()` ends it.

    Raises:
        InputError: there is no such target, or the target cannot be explored.

    Examples:
        >>> from antecede import explore
        >>> explore("mfss", actors=2).close()
    """
    given = converted(Question, with_names(arguments))
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
