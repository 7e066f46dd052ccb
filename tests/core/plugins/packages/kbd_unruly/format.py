"""A format that misbehaves: a file's content says how."""

from typing import Any, ClassVar

from kbd import hookimpl
from kbd.formats import FormatHandler, Mappable, Source

from . import misbehave


class Unruly(FormatHandler, Mappable):
    """The format."""

    name = "unruly"
    wire_name = "Unruly"
    kind = "unruly"
    suffixes: ClassVar = {".unruly": "text/x-unruly"}

    def info(self, source: Source) -> dict[str, Any]:
        """Tell its size."""
        return {"size": source.path.stat().st_size}

    def map(self, source: Source) -> dict[str, Any]:
        """Do what the first word says."""
        word = source.path.read_text().split()[0]
        return {"act": str(misbehave(word))}


@hookimpl
def kbd_register_formats(settings: dict[str, Any]) -> list[FormatHandler]:
    """Declare the format."""
    return [Unruly()]
