"""Where the program connects to: nothing that others say leads it into the home's own network.

Addresses come from the settings, from services (redirects, posters, links of files) and from name servers. Each is looked at when a
connection is made, by the address that a name has resolved to, which is then the very one that is connected to.
"""

import ipaddress
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Networks = Callable[[], Sequence[Network]]

# What a home gives its machines, and tunnels between them (100.64.0.0/10).
HOME = tuple(
    map(
        ipaddress.ip_network,
        (
            "127.0.0.0/8",
            "10.0.0.0/8",
            "172.16.0.0/12",
            "192.168.0.0/16",
            "100.64.0.0/10",
            "::1/128",
            "fc00::/7",
        ),
    )
)
LOOPBACK = (ipaddress.ip_network("127.0.0.0/8"), ipaddress.ip_network("::1/128"))
# Where clouds answer a machine with its own secrets, outside 169.254.0.0/16.
METADATA = frozenset(map(ipaddress.ip_address, ("fd00:ec2::254", "100.100.100.200", "168.63.129.16")))


class Reach(Enum):
    """Where a service is by its nature. HOME: it may stand at home; INTERNET: it does not."""

    HOME = 1
    INTERNET = 2


class Forbidden(OSError):
    """An address that nothing is connected to. is_own: it is the one that the settings name, not one that somebody led to."""

    def __init__(self, host: str, address: str, *, is_own: bool) -> None:
        place = host if host == address else f"{host} ({address})"
        where = (
            "this home's own network"
            if _is_home(_parsed(address))
            else "a network that is not of the internet"
        )
        super().__init__(f"leads to {place}, in {where}, which network.allowed does not name")
        self.is_own = is_own


def nowhere() -> tuple[Network, ...]:
    """Return no network."""
    return ()


@dataclass(frozen=True, slots=True)
class Gate:
    """Says which addresses may be connected to.

    reach: where the service is by its nature; host: the one that the settings name, which alone may be at home; allowed: networks
    that are open all the same, asked for each time.
    """

    reach: Reach = Reach.INTERNET
    host: str = ""
    allowed: Networks = nowhere

    def lets_pass(self, host: str, address: str) -> bool:
        """Return whether an address, to which `host` has resolved, may be connected to."""
        found = _parsed(address)
        if any(found.version == network.version and found in network for network in self.allowed()):
            return True
        if self.reach is Reach.HOME and self._is_own(host) and _is_home(found):
            return True
        return is_public(address)

    def resolve(self, host: str, port: int) -> tuple[str, ...]:
        """Return the addresses of a name that may be connected to, in their order.

        Raises OSError when the name is not known, `Forbidden` when none may.
        """
        found = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)
        addresses = tuple(dict.fromkeys(str(one[4][0]) for one in found))
        passing = tuple(address for address in addresses if self.lets_pass(host, address))
        if not passing:
            raise Forbidden(host, addresses[0], is_own=self._is_own(host))
        return passing

    def connect(
        self, place: tuple[str, int], timeout: float | None, source: tuple[str, int] | None = None
    ) -> socket.socket:
        """Return a connection, as `socket.create_connection` does. Raises OSError, `Forbidden`."""
        host, port = place
        trouble: OSError | None = None
        for address in self.resolve(host, port):
            try:
                return socket.create_connection((address, port), timeout, source)
            except OSError as error:
                trouble = error
        raise trouble or OSError(f"{host} has no address")

    def _is_own(self, host: str) -> bool:
        return bool(host) and host.strip("[]").lower() == self.host.strip("[]").lower()


def is_public(address: str) -> bool:
    """Return whether an IP address is one of the internet at large: not this machine, not this network."""
    found = _parsed(address)
    return found.is_global and not found.is_multicast and found not in METADATA


def _is_home(address: Address) -> bool:
    return address not in METADATA and any(
        address.version == network.version and address in network for network in HOME
    )


def _parsed(address: str) -> Address:
    """Return an address; one of IPv4 in the clothes of IPv6 as that."""
    found = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv6Address):
        return found.ipv4_mapped or found.sixtofour or found
    return found
