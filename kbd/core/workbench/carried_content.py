"""Carried content: what the current files run, fetch or have embedded, as their maps name it.

A map is made once for a content and kept, so only the first list of a file costs something. Who
does not ask for it is told nothing: an answer must not depend on what is in a cache.
"""

import anyio

from kbd.core.plugins.format_calls import FormatCalls
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.errors import KbdError
from kbd.tools import FileRef
from kbd.types import FileName

__all__ = ["find_carried"]

LOOK_S = 20.0
"""So long a list waits for maps that are not made yet; the next one has what was found by then."""

MAX_CONCURRENT_LOOKS = 4
"""So many files are looked into at once, as for a prompt (`kbd.core.agent.manifest`)."""


async def find_carried(
    workbench: OpenWorkbench, formats: FormatCalls
) -> dict[FileName, tuple[str, ...]]:
    """Return the active content of the files by their names.

    A file that cannot be looked into, or not in time, is not among them; one that carries nothing
    is.

    Args:
        workbench: The workbench.
        formats: Its formats, with its cache.
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
