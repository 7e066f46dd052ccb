"""The receipt itself: read within limits, every value checked for its kind when it is taken."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["FORMAT", "Claim", "Ill", "read_receipt"]

FORMAT = "kbd-receipt"
VERSION = 2
"""1 did not tell which call made which item of a stretch: a call could be hidden there."""

MAX_BYTES = 256 * 1024 * 1024
_MAX_QUOTED = 60


class Ill(Exception):
    """The receipt is none, and why."""


class Claim:
    """An object of a receipt.

    Args:
        value: What JSON made of it.
        where: Where it stands, for messages.
    """

    def __init__(self, value: Any, where: str) -> None:
        if not isinstance(value, dict):
            raise Ill(f"{where} is no object")
        self.value: dict[str, Any] = value
        self._where = where

    def __contains__(self, name: str) -> bool:
        return self.value.get(name) is not None

    def only(self, *names: str) -> None:
        """Refuse whatever stands under another name: nobody compares that with the files."""
        others = sorted(set(self.value) - set(names))
        if others:
            raise Ill(f"{self._where}: {others[0][:_MAX_QUOTED]!r} stands in no receipt there")

    def _wrong(self, name: str, wanted: str) -> Ill:
        found = repr(self.value.get(name))[:_MAX_QUOTED]
        return Ill(f"{self._where}: {name} is {found}, and should be {wanted}")

    def text(self, name: str, default: str | None = None) -> str:
        """Return a text."""
        value = self.value.get(name, default)
        if not isinstance(value, str):
            raise self._wrong(name, "a text")
        return value

    def count(self, name: str) -> int:
        """Return a number that is not negative."""
        value = self.value.get(name)
        if type(value) is not int or not 0 <= value < 1 << 53:
            raise self._wrong(name, "a number")
        return value

    def flag(self, name: str) -> bool:
        """Return whether something is so."""
        value = self.value.get(name)
        if not isinstance(value, bool):
            raise self._wrong(name, "true or false")
        return value

    def sha256(self, name: str) -> str | None:
        """Return a hash, or None where null stands."""
        value = self.value.get(name)
        if value is None:
            return None
        if not isinstance(value, str) or len(value) != 64 or set(value) - set("0123456789abcdef"):
            raise self._wrong(name, "a hash")
        return value

    def numbers(self, name: str) -> list[int]:
        """Return a list of numbers."""
        value = self.value.get(name)
        if not isinstance(value, list) or any(type(each) is not int for each in value):
            raise self._wrong(name, "a list of numbers")
        return value

    def child(self, name: str) -> Claim:
        """Return an object in it."""
        return Claim(self.value.get(name), f"{self._where}: {name}")

    def items(self, name: str) -> list[Claim]:
        """Return the objects of a list in it."""
        value = self.value.get(name)
        if not isinstance(value, list):
            raise self._wrong(name, "a list")
        where = f"{self._where}: {name}"
        return [Claim(each, where) for each in value]


def read_receipt(data: bytes) -> Claim:
    """Read a receipt.

    Raises:
        Ill: It is none, or of another version.
    """
    if len(data) > MAX_BYTES:
        raise Ill("it is larger than any receipt")
    try:
        value = json.loads(data.decode("utf-8"), parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise Ill("it is not JSON in UTF-8") from error
    claim = Claim(value, "the receipt")
    if claim.value.get("format") != FORMAT:
        raise Ill("it is not a receipt of kbd")
    version = claim.count("version")
    if version > VERSION:
        raise Ill(f"it is of version {version}; this checker knows {VERSION}: use a newer kbd")
    if version < VERSION:
        raise Ill(
            f"it is of version {version}, of an older kbd, and not checked; "
            "have it made anew with `kbd receipt save`"
        )
    return claim


def _no_number(text: str) -> None:
    raise ValueError(text)
