"""A reader of msgpack, as much as a log needs, and bounded by the bytes that are there.

After https://github.com/msgpack/msgpack/blob/master/spec.md.
"""

from __future__ import annotations

import struct
from typing import Any

__all__ = ["unpacked"]

_DEEPEST = 100
"""Events are a few levels deep; more is made to exhaust the reader."""

_NUMBERS = {
    0xCA: ">f", 0xCB: ">d", 0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q",
    0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q",
}  # fmt: skip
_TEXTS, _BYTES = {0xD9: 1, 0xDA: 2, 0xDB: 4}, {0xC4: 1, 0xC5: 2, 0xC6: 4}
_LISTS, _MAPS = {0xDC: 2, 0xDD: 4}, {0xDE: 2, 0xDF: 4}
_FIXED = {0xC0: None, 0xC2: False, 0xC3: True}


def unpacked(data: bytes) -> Any:
    """Return the one value that bytes hold.

    Raises:
        ValueError: They hold none, or more than one, or an extension.
    """
    reader = _Reader(data)
    value = reader.value(0)
    if reader.at != len(data):
        raise ValueError("bytes follow the value")
    return value


class _Reader:
    """A place in bytes."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def value(self, depth: int) -> Any:
        """Read the value that begins here, and go behind it."""
        if depth > _DEEPEST:
            raise ValueError("the value is too deep")
        kind = self._take(1)[0]
        if kind < 0x80 or kind >= 0xE0:
            return kind if kind < 0x80 else kind - 0x100
        if kind < 0x90:
            return self._map(kind & 0x0F, depth)
        if kind < 0xA0:
            return self._list(kind & 0x0F, depth)
        if kind < 0xC0:
            return self._take(kind & 0x1F).decode("utf-8")
        if kind in _FIXED:
            return _FIXED[kind]
        if kind in _NUMBERS:
            form = struct.Struct(_NUMBERS[kind])
            return form.unpack(self._take(form.size))[0]
        if kind in _TEXTS:
            return self._take(self._length(_TEXTS[kind])).decode("utf-8")
        if kind in _BYTES:
            return self._take(self._length(_BYTES[kind]))
        if kind in _LISTS:
            return self._list(self._length(_LISTS[kind]), depth)
        if kind in _MAPS:
            return self._map(self._length(_MAPS[kind]), depth)
        raise ValueError("a value is of a kind that logs do not have")

    def _take(self, count: int) -> bytes:
        part = self.data[self.at : self.at + count]
        if len(part) < count:
            raise ValueError("the value ends too early")
        self.at += count
        return part

    def _length(self, count: int) -> int:
        return int.from_bytes(self._take(count), "big")

    def _list(self, count: int, depth: int) -> list[Any]:
        return [self.value(depth + 1) for _ in range(count)]

    def _map(self, count: int, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for _ in range(count):
            key = self.value(depth + 1)
            if not isinstance(key, str):
                raise ValueError("a field's name is no text")  # noqa: TRY004 - one error for all
            found[key] = self.value(depth + 1)
        return found
