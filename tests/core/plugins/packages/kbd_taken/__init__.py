"""A plugin whose worker a hostile file has taken over; not installed, only for tests."""

from typing import Any, ClassVar

from kbd import hookimpl
from kbd.formats import FormatHandler, Mappable, Source

from .deeds import do_deed

__all__ = ["kbd_register_formats"]


class Taken(FormatHandler, Mappable):
    """The format of the hostile file."""

    name = "taken"
    wire_name = "Taken"
    kind = "taken"
    suffixes: ClassVar = {".taken": "application/x-taken"}

    def info(self, source: Source) -> dict[str, Any]:
        """Return nothing: the acts are called by name."""
        del source
        return {}

    def map(self, source: Source) -> dict[str, Any]:
        """Do what the file orders."""
        return do_deed(source.path.read_text())


@hookimpl
def kbd_register_formats() -> list[FormatHandler]:
    """Declare the format."""
    return [Taken()]
