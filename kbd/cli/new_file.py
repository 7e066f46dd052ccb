"""New files that commands write: whole or not at all, and never over another one."""

import os

from kbd.cli.exits import FAILED, USAGE, Stop

__all__ = ["check_new_file", "write_new_file"]


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


def write_new_file(path: str, page: bytes) -> None:
    """Make a file with these bytes; nobody ever sees half of it, and no other is overwritten.

    Raises:
        Stop: It exists by now, or cannot be written.
    """
    beside = f"{path}.{os.getpid()}.part"
    try:
        try:
            with open(beside, "xb") as file:
                file.write(page)
                file.flush()
                # Before it gets its name: after a crash the name stands for the whole page.
                os.fsync(file.fileno())
            # The name is taken before it is replaced: it may no longer be free.
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            os.replace(beside, path)
        except BaseException:
            if os.path.lexists(beside):
                os.unlink(beside)
            raise
    except FileExistsError as error:
        raise Stop(f"{error.filename} exists; nothing is overwritten", USAGE) from error
    except OSError as error:
        raise Stop(f"{path} cannot be written: {error.strerror}", FAILED) from error
