"""The files as a prompt shows them: every file, and of those that fit the map of its structure."""

from typing import Any

import msgspec

from kbd.errors import KbdError
from kbd.formats import Mappable
from kbd.tools import FileRef, Files, Formats

__all__ = ["MAP_BYTES", "manifest", "maps_budget"]

MAP_BYTES = 8 * 1024
"""The largest map of one file that goes into a prompt; a larger one is asked for by tool."""

MAPS_BYTES = 96 * 1024
"""The most that all maps of a prompt take."""

_BYTES_A_TOKEN = 3


def maps_budget(context_tokens: int) -> int:
    """Return how many bytes of maps a prompt may hold: at most a quarter of the model's window."""
    return min(MAPS_BYTES, context_tokens * _BYTES_A_TOKEN // 4)


async def manifest(files: Files, formats: Formats, maps_bytes: int) -> list[dict[str, Any]]:
    """List every file; a map that fails leaves its reason, and never ends the listing.

    Args:
        files: The files as they are now.
        formats: Their formats.
        maps_bytes: What all maps together may take; 0 for a listing without maps.
    """
    entries: list[dict[str, Any]] = []
    left = maps_bytes
    for name in files.names():
        file = files.get(name)
        entry = dict(files.describe(file))
        if maps_bytes and isinstance(formats.for_name(name), Mappable):
            left -= await _add_map(entry, file, formats, min(left, MAP_BYTES))
        entries.append(entry)
    return entries


async def _add_map(entry: dict[str, Any], file: FileRef, formats: Formats, room: int) -> int:
    """Put a file's map into its entry if there is room, and return the bytes that it takes."""
    if room <= 0:
        entry["map_note"] = "call get_file_map for its structure"
        return 0
    try:
        structure = await formats.map(file)
    except KbdError as error:
        entry["reason"] = error.message
        return 0
    size = len(msgspec.json.encode(structure))
    if size > room:
        entry["map_note"] = f"its map has {size:,} bytes: call get_file_map, or read by region"
        # One of usual size means that the room is used up: no further map is computed in vain.
        return room if size <= MAP_BYTES else 0
    entry["map"] = structure
    return size
