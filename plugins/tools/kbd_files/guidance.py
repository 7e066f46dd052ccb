"""What descriptions say about the installed formats."""

from kbd.formats import Editable, FormatHandler, Mappable, Readable
from kbd.tools import FormatCatalog

__all__ = ["mappable_names", "reading_guide", "writing_guide"]


def _suffixes(handler: FormatHandler) -> str:
    """Name a format's suffixes; of a format with many, the first few."""
    names = list(handler.suffixes)
    shown = ", ".join(names[:6])
    return shown if len(names) <= 6 else f"{shown} and {len(names) - 6} more"


def mappable_names(formats: FormatCatalog) -> str:
    """Name the formats that have a map."""
    return ", ".join(h.name for h in formats.handlers() if isinstance(h, Mappable))


def reading_guide(formats: FormatCatalog) -> str:
    """Say, one line a format, which coordinates it is read by and how to use it well."""
    lines = []
    for handler in formats.handlers():
        if not isinstance(handler, Readable):
            continue
        coordinates = ", ".join(handler.coordinates) or "no coordinates; it is read whole"
        line = f"- {handler.name} ({_suffixes(handler)}): {coordinates}."
        lines.append(f"{line} {handler.guidance}".rstrip())
    return "\n".join(lines)


def writing_guide(formats: FormatCatalog) -> str:
    """Say which formats are written with operations of their own instead."""
    return ", ".join(
        f"{h.name} with {h.name}_operations" for h in formats.handlers() if isinstance(h, Editable)
    )
