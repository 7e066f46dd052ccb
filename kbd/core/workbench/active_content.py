"""Active content of what a call wrote: found by looking at the bytes, whoever wrote them.

What counts is what a person did not add: a file is compared with what the draft started from, and
with what else is published. So an edit of a page that has a script is not asked about, and the
script of a page that a model wrote is. A runnable file counts whenever its bytes are new, for
nobody can say which part of it runs.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from anyio.to_thread import run_sync

from kbd.core.domain.runnable_files import HEAD_BYTES, runnable_reason
from kbd.core.plugins.format_calls import FormatCalls
from kbd.errors import FileReadFailed, ValidationFailed
from kbd.formats import FormatHandler, Inspectable
from kbd.tools import FileRef
from kbd.types import FileName

__all__ = ["find_active_content"]


async def find_active_content(
    formats: FormatCalls,
    name: FileName,
    staged: Path,
    base: FileRef | None,
    published: Mapping[FileName, FileRef],
) -> tuple[str, ...]:
    """Return the active content of a new version of a file that a person did not add.

    Args:
        formats: The formats.
        name: The file.
        staged: Its new bytes.
        base: What the draft started from; None for a new file.
        published: What else a person knows.

    Raises:
        ToolTimeout: The worker took too long.
        ToolWorkerUnavailable: The worker died.
    """
    texts: list[str] = []
    reason = runnable_reason(name, await run_sync(_head, staged))
    if reason:
        texts.append(reason)
    handler = formats.for_name(name)
    if not isinstance(handler, Inspectable):
        return tuple(texts)
    try:
        known = [] if base is None else [base]
        found = await formats.active_content(name, staged, known)
        if found:
            # Only now: hardly a version has any, and the others need not be looked at for it.
            others = [*known, *_of_format(formats, handler, published)]
            if len(others) > len(known):
                found = await formats.active_content(name, staged, others)
    except (FileReadFailed, ValidationFailed) as fault:
        # What cannot be looked into is not taken for harmless.
        found = (f"what it runs or fetches could not be found out: {fault.message}",)
    return (*texts, *found)


def _of_format(
    formats: FormatCalls, handler: FormatHandler, published: Mapping[FileName, FileRef]
) -> Iterator[FileRef]:
    """Yield the published files of a format."""
    for name, file in published.items():
        other = formats.for_name(name)
        if other is not None and other.name == handler.name:
            yield file


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(HEAD_BYTES)
