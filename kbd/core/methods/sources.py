"""Files of a client's that are named by their path: which may be read, and reading one's text."""

import shutil
import uuid
from pathlib import Path

import anyio
from anyio.to_thread import run_sync

from kbd.core.plugins.format_calls import FormatCalls
from kbd.core.sessions.parts import Parts
from kbd.core.workbench.sandbox import file_name
from kbd.core.workbench.workbench import Bench
from kbd.errors import ValidationFailed
from kbd.events.blobs import BlobStore
from kbd.formats import Region
from kbd.tools import FileRef

__all__ = ["text_of", "why_not"]

COUNTED_CHARACTERS = 2_000_000
"""A longer text is only said to be longer; nobody need wait for the rest."""


async def text_of(parts: Parts, bench: Bench, source_path: str) -> tuple[str, str]:
    """Return the text of a client's file and the file's name.

    It is read as a file that is added would be: copied first, and looked into in a worker. The
    copy is gone when this returns. Of a very long text the beginning is returned.

    Raises:
        ValidationFailed: The path is not absolute, or names something that cannot be read as text.
        SandboxViolation: The name would not do in a workbench, or it is a link.
        NotFound: It is not there.
        FileReadFailed: It cannot be read, or is damaged.
        DiskFull: There is no room for the copy.
    """
    source = Path(source_path)
    if not source.is_absolute():
        msg = "source_path is not absolute"
        raise ValidationFailed(msg)
    name = file_name(source.name)
    reason = await run_sync(why_not, source, parts.settings.limits.file_bytes)
    if reason is not None:
        msg = f"{name} cannot be read: {reason}"
        raise ValidationFailed(msg)
    folder = bench.folders.stage / f"source-{uuid.uuid4().hex}"
    store = BlobStore(folder)
    try:
        blob, size_bytes = await run_sync(store.put_file, source)
        file = FileRef(name, blob, size_bytes, store.path(blob))
        formats = FormatCalls(parts.catalog, parts.workers)
        found = await formats.extract(file, Region(), 0, 0, COUNTED_CHARACTERS)
    finally:
        with anyio.CancelScope(shield=True):
            await run_sync(shutil.rmtree, folder, True)  # noqa: FBT003 - ignore_errors
    return found.text, name


def why_not(source: Path, limit: int) -> str | None:
    """Return why a file cannot be added, as far as a look at it tells."""
    reason: str | None = None
    try:
        found = source.lstat()
    except FileNotFoundError:
        return "there is no such file"
    except ValueError:
        return "the path holds what no path can"
    except OSError as error:
        return f"it cannot be looked at: {error.strerror}"
    if source.is_symlink():
        reason = "symlink"
    elif source.is_dir():
        reason = "directory"
    elif not source.is_file():
        reason = "not a regular file"
    elif found.st_size > limit:
        reason = f"larger than {limit} bytes"
    return reason
