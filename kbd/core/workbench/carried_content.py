"""Carried content: what the current files run, fetch or have embedded, as their maps name it.

A map is made once for a content and kept. So a list of files tells what is known at no cost, and
looks into the others only for who asks for that.
"""

import anyio

from kbd.core.plugins.format_calls import FormatCalls
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.errors import KbdError
from kbd.tools import FileRef
from kbd.types import FileName

__all__ = ["find_carried"]

LOOK_S = 20.0
"""So long a list waits for what is not known yet; the next one has what was found by then."""

MAX_CONCURRENT_LOOKS = 4
"""So many files are looked into at once, as for a prompt (`kbd.core.agent.manifest`)."""


async def find_carried(
    workbench: OpenWorkbench, formats: FormatCalls, *, look_into: bool
) -> dict[FileName, tuple[str, ...]]:
    """Return the active content of the files by their names.

    A file that was not looked into, or cannot be, is not among them; one that carries nothing is.

    Args:
        workbench: The workbench.
        formats: Its formats, with its cache.
        look_into: Whether files that were not looked into are, as far as there is time.
    """
    files = [
        FileRef(seen.name, seen.blob, seen.size_bytes, workbench.blobs.path(seen.blob))
        for seen in workbench.state.current_files()
    ]
    found: dict[FileName, tuple[str, ...]] = {}
    unknown = []
    for file in files:
        known = await formats.known_map(file)
        if known is None:
            unknown.append(file)
        else:
            found[file.name] = tuple(known.get("active_content", ()))
    if not look_into:
        return found
    limiter = anyio.CapacityLimiter(MAX_CONCURRENT_LOOKS)

    async def look(file: FileRef) -> None:
        async with limiter:
            # Damaged, or of no format: the list goes on without it.
            try:
                structure = await formats.map(file)
            except KbdError:
                return
            found[file.name] = tuple(structure.get("active_content", ()))

    with anyio.move_on_after(LOOK_S):
        async with anyio.create_task_group() as tasks:
            for file in unknown:
                tasks.start_soon(look, file)
    return found
