"""`kbd replay RUN --html FILE`: the page of a run, read over the socket, written here."""

import base64
import os

from kbd.cli.exits import FAILED, USAGE, RequestRefused, Stop
from kbd.cli.link import call
from kbd.cli.terminal import note, say, size
from kbd.client.blocking import Client

__all__ = ["write_page"]

# What typing.TYPE_CHECKING is, without the 9 ms that importing typing costs.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from kbd.requests.replays import Step, StepsFound
    from kbd.types import BlobHash


STEPS_AT_ONCE = 1000
"""The most that a request may ask for."""

BLOB_BYTES = 1024 * 1024
"""How much of one blob is read: far more than the page shows of a text."""


def write_page(client: Client, run_id: str, path: str) -> None:
    """Write a run as one HTML page to a new file, whole or not at all, and say so.

    Raises:
        RequestRefused: There is no such run, or its log is damaged.
        Stop: The file exists, or cannot be written.
    """
    _check(path)
    from kbd.core.audit.page.document import page_of  # noqa: PLC0415 - 90 ms

    found = _read_steps(client, run_id)
    contents = _read_blobs(client, found.run.workbench_id, found.steps)
    page = page_of(found.run, found.request, found.steps, contents).encode()
    _write_file(path, page)
    say(f"{path} ({size(len(page))})")


def _check(path: str) -> None:
    """See, before anything is read, that the file can be made."""
    folder = os.path.dirname(os.path.abspath(path))
    if os.path.lexists(path):
        raise Stop(f"{path} exists; nothing is overwritten.", USAGE)
    if not os.path.isdir(folder) or not os.access(folder, os.W_OK | os.X_OK):
        raise Stop(f"{path}: {folder} is not a folder that can be written to.", USAGE)


def _read_steps(client: Client, run_id: str) -> "StepsFound":
    """Read all steps of a run; of one that is under way, as many as there are at the end."""
    import msgspec  # noqa: PLC0415 - 8 ms

    from kbd.requests.replays import Step, StepsFound  # noqa: PLC0415 - 12 ms

    steps: list[Step] = []
    while True:
        asked = {"run_id": run_id, "after": len(steps), "limit": STEPS_AT_ONCE}
        found = msgspec.convert(call(client, "ReplaySteps", asked, slow=True), StepsFound)
        steps.extend(found.steps)
        if not found.steps or len(steps) >= found.total:
            return msgspec.structs.replace(found, steps=tuple(steps))


def _read_blobs(
    client: Client, workbench_id: str, steps: "Sequence[Step]"
) -> "dict[BlobHash, str]":
    """Read the blobs that the page may hold; what cannot be read is told, and left out."""
    from kbd.core.audit.page.run_index import CONTENTS_LIMIT_CHARACTERS, blobs_of  # noqa: PLC0415 - loaded

    contents: dict[BlobHash, str] = {}
    room = CONTENTS_LIMIT_CHARACTERS
    for blob in blobs_of(steps):
        if room <= 0:
            break
        asked = {"workbench_id": workbench_id, "hash": blob, "limit": BLOB_BYTES}
        try:
            part = call(client, "BlobRead", asked, slow=True)
        except RequestRefused as refused:
            note(f"Blob {blob} is not in the page: {refused.reason}")
            continue
        contents[blob] = base64.b64decode(part["base64"]).decode("utf-8", "replace")
        room -= len(contents[blob])
    return contents


def _write_file(path: str, page: bytes) -> None:
    """Make a file with these bytes; nobody ever sees half of it, and no other is overwritten."""
    beside = f"{path}.{os.getpid()}.part"
    try:
        try:
            with open(beside, "xb") as file:
                file.write(page)
                file.flush()
                os.fsync(file.fileno())
            # The name is taken before it is replaced: it may no longer be free.
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            os.replace(beside, path)
        except BaseException:
            if os.path.lexists(beside):
                os.unlink(beside)
            raise
    except FileExistsError as error:
        raise Stop(f"{error.filename} exists; nothing is overwritten.", USAGE) from error
    except OSError as error:
        raise Stop(f"{path} cannot be written: {error.strerror}", FAILED) from error
