"""Lookup of a format by a file's name: the whole name first, then its longest known suffix."""

from collections.abc import Iterable, Sequence

from kbd.formats import FormatHandler
from kbd.tools import FormatCatalog

__all__ = ["FormatsByName"]


class FormatsByName(FormatCatalog):
    """Some formats, read-only. Of two that claim one suffix, the one given first has it."""

    def __init__(self, handlers: Iterable[FormatHandler]) -> None:
        given = tuple(handlers)
        self._handlers = tuple(sorted(given, key=lambda handler: handler.name))
        self._by_suffix: dict[str, tuple[FormatHandler, str]] = {}
        for handler in given:
            for suffix, mime in handler.suffixes.items():
                self._by_suffix.setdefault(suffix, (handler, mime))

    def handlers(self) -> Sequence[FormatHandler]:
        """Return all handlers, sorted by name."""
        return self._handlers

    def for_name(self, name: str) -> FormatHandler | None:
        """Return the handler for a file's name, or None; case does not matter."""
        found = self.find(name)
        return found[0] if found else None

    def find(self, name: str) -> tuple[FormatHandler, str] | None:
        """Return the handler for a file's name with the MIME type that it gives, or None."""
        last = name.rsplit("/", 1)[-1].casefold()
        dots = (place for place, letter in enumerate(last) if letter == ".")
        for candidate in (last, *(last[place:] for place in dots)):
            if candidate in self._by_suffix:
                return self._by_suffix[candidate]
        return None

    def suffixes(self) -> tuple[str, ...]:
        """Return every known suffix, sorted."""
        return tuple(sorted(self._by_suffix))
