"""Streams and datagrams in memory: a frame is a packet of the checker's network."""

from __future__ import annotations

import asyncio
import collections
import re
from collections.abc import Callable
from typing import Any, TypeAlias

from attrs import define, field, frozen

from antecede.checker.adapters.aio.clocks import Loop, Unsupported, refuse
from antecede.checker.model import Message

NO_TLS = "TLS cannot be simulated; test the node without it"

Address: TypeAlias = tuple[str, int]
"""A host and a port."""

Link: TypeAlias = tuple[Any, ...]
"""A connection: the actors that opened and accept it, its number between them, and the port."""


@frozen(repr=False)
class Frame:
    """A packet between two nodes: a part of a stream, a datagram, or the start or end of a stream.

    Attributes:
        kind: data, eof, reset, open or datagram.
        link: a stream's connection, or a datagram's source and target.
        to_server: the opener of the connection sent it.
        messages: the checker's messages that the data contains.
        number: the number of the frame in its stream; None: equal frames are equal.
    """

    kind: str
    link: Link
    data: bytes = b""
    to_server: bool = True
    messages: tuple[Message, ...] = ()
    number: int | None = None

    def __shown__(self) -> Any:
        text = self.data.decode("utf-8", "backslashreplace").rstrip("\r\n")
        return (*((self.kind,) if self.kind != "data" else ()), *([text] if text else ()))

    def __repr__(self) -> str:
        return " ".join([self.kind, *([repr(self.data)] if self.data else ())])


_BODY = re.compile(rb"<(\d+)\.(\d+)>([\d,]*)</>")


def body_of(message: Message) -> str:
    """Return a message as a text that a node can carry, such as <0.1>1,2</>."""
    destinations = ",".join(map(str, message.destinations))
    return f"<{message.sender}.{message.number}>{destinations}</>"


def messages_in(data: bytes) -> tuple[Message, ...]:
    """Return the messages whose bodies are in some data, without repetitions."""
    return tuple(
        dict.fromkeys(
            Message(int(sender), int(number), tuple(map(int, filter(None, to.split(b",")))))
            for sender, number, to in _BODY.findall(data)
        )
    )


def message_in(*values: Any) -> Message:
    """Return the message that is in values which a node delivers.

    Raises:
        Unsupported: there is none.
    """
    for value in values:
        if isinstance(value, Message):
            return value
        found = messages_in(value if isinstance(value, bytes) else str(value).encode())
        if found:
            return found[0]
    raise refuse(
        f"deliver was given {', '.join(map(repr, values))}, without the body of a message; let "
        "the node carry what body(message) returns"
    )


@define(eq=False)
class Net:
    """The network as one node sees it.

    Attributes:
        address_of: actor -> its address.
        frames: data that was written -> its whole frames and the rest.
        numbered, greets: see Node.
        outbox: what the call under way sends, in order.
        opened: (actor, port) -> the number of connections made so far.
    """

    actor: int
    actors: int
    address_of: Callable[[int], Address]
    frames: Callable[[bytes], tuple[list[bytes], bytes]]
    numbered: bool
    greets: bool
    outbox: list[tuple[int, Frame]] = field(factory=list)
    servers: dict[int, Server] = field(factory=dict)
    endpoints: dict[int, Datagrams] = field(factory=dict)
    connections: dict[tuple[Link, bool], Stream] = field(factory=dict)
    opened: collections.Counter[tuple[int, int]] = field(factory=collections.Counter)

    def actor_at(self, host: Any, port: int) -> int | None:
        """Return the actor with an address, or None."""
        addresses = [self.address_of(actor) for actor in range(self.actors)]
        if (host, port) in addresses:
            return addresses.index((host, port))
        if host in ("localhost", "127.0.0.1", "::1"):
            return self.actor
        hosts = [each for each, _ in addresses]
        return hosts.index(host) if hosts.count(host) == 1 else None

    def listen(self, loop: Loop, factory: Any, host: Any, port: int, named: Any) -> Server:
        _check(named)
        number = port or 60_000 + len(self.servers)
        if number in self.servers:
            raise OSError(98, f"address already in use: port {number}")
        self.servers[number] = Server(loop, factory, (str(host), number))
        return self.servers[number]

    def connect(self, loop: Loop, factory: Any, host: Any, port: int, named: Any) -> Any:
        _check(named)
        peer = self.actor_at(host, port)
        if peer is None:
            raise ConnectionRefusedError(111, f"nobody listens at {host}:{port} in this test")
        self.opened[peer, port] += 1
        stream = Stream(
            loop, factory(), peer, (self.actor, peer, self.opened[peer, port], port), True
        )
        self.connections[stream.link, True] = stream
        if self.greets:
            stream.put("open")
        stream.protocol.connection_made(stream)
        return stream, stream.protocol

    def endpoint(self, loop: Loop, factory: Any, local: Any, remote: Any, named: Any) -> Any:
        _check(named)
        port = (local or (None, 0))[1] or 50_000 + len(self.endpoints)
        if port in self.endpoints:
            raise OSError(98, f"address already in use: port {port}")
        self.endpoints[port] = datagrams = Datagrams(loop, factory(), port, remote)
        datagrams.protocol.connection_made(datagrams)
        return datagrams, datagrams.protocol

    def put(self, loop: Loop, to: int, frame: Frame) -> None:
        """Send a frame; one to the node itself needs no network."""
        if loop.closed:
            return
        if to == self.actor:
            loop.call_soon(self.arrive, loop, to, frame)
        else:
            self.outbox.append((to, frame))

    def arrive(self, loop: Loop, src: int, frame: Frame) -> None:
        """Hand over a packet to the server, connection or endpoint that it is for."""
        if frame.kind == "datagram":
            source, target = frame.link
            if target[1] in self.endpoints:
                self.endpoints[target[1]].protocol.datagram_received(frame.data, source)
            return
        end = (frame.link, not frame.to_server)
        if end not in self.connections and frame.to_server and frame.kind != "reset":
            port = frame.link[-1]
            if port not in self.servers:
                self.put(loop, src, Frame("reset", frame.link, to_server=False))
                return
            protocol = self.servers[port].factory()
            self.connections[end] = stream = Stream(loop, protocol, src, frame.link, False)
            protocol.connection_made(stream)
        if end in self.connections:
            self.connections[end].arrive(frame)

    def check_frames(self) -> None:
        """Refuse a part of a frame that the node wrote and left alone."""
        for stream in self.connections.values():
            if stream.unframed:
                raise Unsupported(
                    f"the node came to rest after it wrote {stream.unframed[:60]!r} to a stream, "
                    "which ends in the middle of a line; if its frames are no lines, let the "
                    "adapter have a method frames(data) that returns the list of whole frames in "
                    "the data, and the rest"
                )


def _check(named: Any) -> None:
    if named.get("sock") is not None:
        raise refuse("the node opens a socket itself (sock=…); give asyncio a host and a port")
    if named.get("ssl"):
        raise refuse(NO_TLS)


class _Socket:
    def __init__(self, address: Address) -> None:
        self.address = address

    def getsockname(self) -> Address:
        return self.address

    def setsockopt(self, *_: Any) -> None:
        """Ignore it: there is no socket."""


class Server(asyncio.AbstractServer):
    """A server of a node."""

    def __init__(self, loop: Loop, factory: Any, address: Address) -> None:
        self.loop, self.factory, self.address = loop, factory, address

    def get_loop(self) -> Any:
        return self.loop

    def is_serving(self) -> bool:
        return self.loop.net.servers.get(self.address[1]) is self

    def close(self) -> None:
        if self.is_serving():
            del self.loop.net.servers[self.address[1]]

    async def start_serving(self) -> None:
        """Do nothing: it serves already."""

    async def serve_forever(self) -> None:
        try:
            await self.loop.create_future()
        finally:
            self.close()

    async def wait_closed(self) -> None:
        """Do nothing: to close takes no time."""

    @property
    def sockets(self) -> Any:
        return (_Socket(self.address),)


class Stream(asyncio.Transport):
    """One end of a connection."""

    def __init__(self, loop: Loop, protocol: Any, peer: int, link: Link, client: bool) -> None:
        super().__init__()
        self.loop: Loop = loop
        self.protocol, self.peer, self.link, self.client = protocol, peer, link, client
        self.unframed = b""
        self.held: list[bytes] = []
        self.paused = self.closing = self.ended = self.used = False
        self.sent = 0

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        net = self.loop.net
        own, other = net.address_of(net.actor), net.address_of(self.peer)
        return {"peername": other, "sockname": own, "socket": _Socket(own)}.get(name, default)

    def set_protocol(self, protocol: Any) -> None:
        self.protocol = protocol

    def get_protocol(self) -> Any:
        return self.protocol

    def is_closing(self) -> bool:
        return self.closing

    def write(self, data: Any) -> None:
        if self.closing or self.ended:
            return
        frames, self.unframed = self.loop.net.frames(self.unframed + bytes(data))
        for each in frames:
            self.put("data", each)

    def put(self, kind: str, data: bytes = b"") -> None:
        """Send a frame."""
        self.used = True
        self.sent += self.loop.net.numbered
        number = self.sent if self.loop.net.numbered else None
        frame = Frame(kind, self.link, data, self.client, messages_in(data), number)
        self.loop.net.put(self.loop, self.peer, frame)

    def writelines(self, list_of_data: Any) -> None:
        self.write(b"".join(list_of_data))

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        if not self.ended:
            self.ended = True
            if self.unframed:
                self.put("data", self.unframed)
                self.unframed = b""
            self.put("eof")

    def close(self, error: Exception | None = None) -> None:
        running: Any = asyncio._get_running_loop()
        if self.closing or running is not self.loop:
            return  # outside of a call of its node, Python collects the stream
        if error is None and (self.used or not self.client):
            self.write_eof()
        self.closing, self.unframed = True, b""
        self.loop.net.connections.pop((self.link, self.client), None)
        self.loop.call_soon(self.protocol.connection_lost, error)

    def abort(self) -> None:
        if not self.closing:
            self.put("reset")
            self.close(ConnectionAbortedError("aborted"))

    def pause_reading(self) -> None:
        self.paused = True

    def resume_reading(self) -> None:
        self.paused = False
        self._hand_over()

    def is_reading(self) -> bool:
        return not self.paused

    def set_write_buffer_limits(self, high: Any = None, low: Any = None) -> None:
        """Ignore it: nothing is buffered."""

    def get_write_buffer_size(self) -> int:
        return 0

    def get_write_buffer_limits(self) -> tuple[int, int]:
        return (0, 1 << 16)

    def arrive(self, frame: Frame) -> None:
        """Take a frame from the other end."""
        self.used = True
        if frame.kind == "reset":
            self.close(ConnectionResetError(104, "connection reset by peer"))
        elif frame.kind != "open":
            self.held.append(frame.data if frame.kind == "data" else b"")  # b"" is the end
            self._hand_over()

    def _hand_over(self) -> None:
        while self.held and not self.paused:
            data = self.held.pop(0)
            if data:
                self.protocol.data_received(data)
            elif not self.protocol.eof_received():
                self.close()


class Datagrams(asyncio.DatagramTransport):
    """An endpoint of datagrams."""

    def __init__(self, loop: Loop, protocol: Any, port: int, remote: Any) -> None:
        super().__init__()
        self.loop, self.protocol, self.port, self.remote = loop, protocol, port, remote
        self.closing = False

    @property
    def _own(self) -> Address:
        return (self.loop.net.address_of(self.loop.net.actor)[0], self.port)

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        own = self._own
        known = {"sockname": own, "socket": _Socket(own), "peername": self.remote}
        return known.get(name, default)

    def sendto(self, data: Any, addr: Any = None) -> None:
        target = tuple((addr or self.remote)[:2])
        peer = self.loop.net.actor_at(*target)
        if peer is not None and not self.closing:
            frame = Frame("datagram", (self._own, target), bytes(data), True, messages_in(data))
            self.loop.net.put(self.loop, peer, frame)

    def is_closing(self) -> bool:
        return self.closing

    def close(self) -> None:
        if not self.closing:
            self.closing = True
            self.loop.net.endpoints.pop(self.port, None)
            self.loop.call_soon(self.protocol.connection_lost, None)

    abort = close
