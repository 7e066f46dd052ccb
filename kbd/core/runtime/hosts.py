"""Normalized hosts and ports, so that an address is compared and not a text.

    api.example.org:443     a host and a port
    api.example.org         a host, whatever the port
    127.0.0.1:8080          an address of version 4
    [::1]:8080              one of version 6; without a port the brackets may be left out

Case, a last dot and the ways to write one IP address make no difference.
"""

from ipaddress import ip_address

import msgspec

from kbd.errors import ValidationFailed

__all__ = ["Host", "parse_host"]

_LAST_PORT = 65_535


class Host(msgspec.Struct, frozen=True):
    """A host in its one spelling, and a port.

    Args:
        name: The name, in ASCII and lower case, or the IP address without brackets.
        port: The port; None for whatever port.
    """

    name: str
    port: int | None = None

    @property
    def is_loopback(self) -> bool:
        """Whether the host is certain to be this machine."""
        try:
            return self.name == "localhost" or ip_address(self.name).is_loopback
        except ValueError:
            return False

    def allows(self, other: "Host") -> bool:
        """Return whether another host, with its port, is this one."""
        return self.name == other.name and self.port in (None, other.port)

    def __str__(self) -> str:
        name = f"[{self.name}]" if ":" in self.name else self.name
        return name if self.port is None else f"{name}:{self.port}"


def parse_host(text: str) -> Host:
    """Return the host that a text names.

    Raises:
        ValidationFailed: It is neither a host nor a host with a port.
    """
    given = text.strip()
    name, port = given, ""
    if given.startswith("["):
        name, bracket, rest = given[1:].partition("]")
        port = rest[1:]
        if not bracket or rest[:1] not in ("", ":"):
            raise _ill_formed(text)
    elif ":" in given and not _is_address(given):
        name, _, port = given.rpartition(":")
    # ASCII, for `isdigit` and `int` take the digits of every script.
    is_port = port.isascii() and port.isdigit() and 0 < int(port) <= _LAST_PORT
    if port and not is_port:
        raise _ill_formed(text)
    return Host(_spelling(name, text), int(port) if port else None)


def _spelling(name: str, text: str) -> str:
    if _is_address(name):
        return ip_address(name).compressed
    try:
        spelt = name.rstrip(".").lower().encode("idna").decode()
    except UnicodeError:
        raise _ill_formed(text) from None
    # What separates the parts of an address: another parser would see another host behind it.
    if not spelt or any(mark in spelt for mark in "/:@?#%[]\\ \t\r\n\0"):
        raise _ill_formed(text)
    return spelt


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def _ill_formed(text: str) -> ValidationFailed:
    return ValidationFailed(f"expected a host or host:port, not {text[:100]!r}")
