"""Whom the server answers.  The page has no password, so what keeps strangers out is the address they must use.

A page of another site can send requests to this machine, but only with its own `Origin`.  It can point its own name
at this machine (DNS rebinding), but only with that name as the `Host`.  Both headers are the browser's, and no page
can change them.
"""

import ipaddress
import re
import socket
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

_PATH = re.compile(r"/[A-Za-z0-9._/-]*")


@dataclass(frozen=True)
class Guard:
    """What a request must be to be answered.

    `names`: that the server has as a `Host`, in lower case.  `port`: that it is asked at.
    `loopback`: whether only this machine reaches it.
    `wildcard`: whether it has all addresses of this machine; a name can be pointed anywhere, an address cannot.
    """

    names: frozenset[str]
    port: int
    loopback: bool
    wildcard: bool

    @classmethod
    def of(cls, host: str, address: str, port: int) -> "Guard":
        """For a server that is asked for at `host`, and listens at `address`."""
        ip = ipaddress.ip_address(address.partition("%")[0])
        names = {host.lower(), address}
        if ip.is_loopback or ip.is_unspecified:
            names |= {"localhost"}
        if ip.is_unspecified:
            names |= {socket.gethostname().lower(), socket.getfqdn().lower()}
        return cls(frozenset(names), port, ip.is_loopback, ip.is_unspecified)

    def refusal(self, request: Any) -> tuple[HTTPStatus, str] | None:
        """Why a request is not answered, as a status and a sentence; none where it is."""
        hosts, origins = request.headers.get_all("Host"), request.headers.get_all("Origin")
        if len(hosts) != 1 or not self._serves(hosts[0]):
            return (
                HTTPStatus.FORBIDDEN,
                f"This server is asked at port {self.port} as {' or '.join(sorted(self.names))}.",
            )
        if any(origin.lower() != f"http://{hosts[0].lower()}" for origin in origins):
            return HTTPStatus.FORBIDDEN, "Pages of another origin are not answered."
        if is_websocket(request) and not origins and not self.loopback:
            return HTTPStatus.FORBIDDEN, "Beyond this machine, a WebSocket must come from the page of this server."
        path = request.path.partition("?")[0]
        if _PATH.fullmatch(path) is None or ".." in path:
            return HTTPStatus.NOT_FOUND, "There is no such page."
        return None

    def _serves(self, host: str) -> bool:
        try:
            parts = urlsplit(f"//{host}")
            name, port = parts.hostname, parts.port
        except ValueError:
            return False
        if name is None or parts.netloc != host or "@" in host or (80 if port is None else port) != self.port:
            return False
        return name in self.names or (self.wildcard and _is_address(name))


def is_websocket(request: Any) -> bool:
    """Whether a request asks for a WebSocket."""
    return any(value.lower() == "websocket" for value in request.headers.get_all("Upgrade"))


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
