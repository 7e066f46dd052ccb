"""New files that commands write: whole or not at all, and never over another one."""

import os
from contextlib import suppress
from pathlib import Path

from kbd.cli.exits import FAILED, USAGE, Stop

__all__ = ["check_new_file", "refuse_home", "write_below", "write_new_file"]


def check_new_file(path: str) -> None:
    """See, before anything is read, that a file can be made.

    Raises:
        Stop: Something has the name, or its folder cannot be written to.
    """
    folder = os.path.dirname(os.path.abspath(path))
    if os.path.lexists(path):
        raise Stop(f"{path} exists; nothing is overwritten", USAGE)
    if not os.path.isdir(folder) or not os.access(folder, os.W_OK | os.X_OK):
        raise Stop(f"{path}: {folder} is not a folder that can be written to", USAGE)


def write_new_file(path: str, page: bytes, home: str) -> None:
    """Make a file with these bytes; nobody ever sees half of it, and no other is overwritten.

    Args:
        path: Where.
        page: The bytes.
        home: The home of kbd, where nothing can go.

    Raises:
        Stop: It exists by now, cannot be written, or lies in the home of kbd.
    """
    from kbd.core.runtime.held_folder import hold_named  # noqa: PLC0415 - 9 ms, to write only

    folder, name = os.path.split(os.path.abspath(path))
    try:
        with hold_named(folder) as held:
            refuse_home(held, home, path)
            write_below(held, name, page)
    except FileExistsError as error:
        raise Stop(f"{path} exists; nothing is overwritten", USAGE) from error
    except OSError as error:
        raise Stop(f"{path} cannot be written: {error.strerror}", FAILED) from error


def refuse_home(folder: int, home: str, path: str) -> None:
    """Refuse a held folder that lies in the home of kbd, under the name that it was given by.

    Raises:
        Stop: It does.
    """
    from kbd.core.runtime.held_folder import lies_within  # noqa: PLC0415 - as above

    if lies_within(folder, Path(home)):
        raise Stop(f"{path} lies in the home of kbd: name another folder", USAGE)


def write_below(folder: int, name: str, page: bytes) -> None:
    """Make a file in a held folder: written beside its name, and moved there if that is free.

    Raises:
        FileExistsError: It exists by now.
        OSError: It cannot be written; nothing of it is left.
    """
    from kbd.core.runtime.held_folder import open_below  # noqa: PLC0415 - as above
    from kbd.events.disk import DISK  # noqa: PLC0415 - as above

    beside = f"{name}.{os.getpid()}.part"
    made = open_below(folder, beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with open(made, "wb") as file:
            file.write(page)
            file.flush()
            # Before it gets its name: after a crash the name stands for the whole page.
            os.fsync(file.fileno())
        DISK.move_new((folder, beside), (folder, name))
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(beside, dir_fd=folder)
        raise
