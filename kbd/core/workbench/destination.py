"""Destinations: folders of a user's that something is led out to, never the home of kbd.

Links in the path that a person names are followed once, when it is resolved: `~/Documents` may be
one. What is written goes to the resolved path, in which, and below which, no link is followed any
more: one that is put there meanwhile leads nothing elsewhere.

A new file is written as a partial, which nobody had before it, and gets its name when it is whole
and the name is free. Blocking.
"""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import msgspec

from kbd.core.runtime.held_folder import (
    MAX_LEVELS,
    MAX_MADE_LEVELS,
    hold_exact,
    hold_named,
    is_link_error,
    lies_within,
    make_below,
    open_below,
    real_path,
)
from kbd.core.runtime.paths import OWN_UMASK
from kbd.errors import ValidationFailed

__all__ = [
    "Destination",
    "check_path_text",
    "create_partial_file",
    "describe_error",
    "hold_destination",
    "is_folder_path",
    "link_partial",
    "resolve_destination",
    "set_mode",
]


class Destination(msgspec.Struct, frozen=True):
    """Destination of what is led out.

    Args:
        named: The path by which a person named it.
        real: The same without links in it.
    """

    named: str
    real: str


def is_folder_path(directory: str) -> bool:
    """Return whether a client's text can be the path of a folder: absolute, and a path at all."""
    return "\0" not in directory and Path(directory).is_absolute()


def resolve_destination(
    directory: str, home: Path, parameter: str = "destination_dir"
) -> Destination:
    """Resolve the path of a folder that is written to; what is missing of it is not made yet.

    Args:
        directory: The path, as a client gave it.
        home: The home of kbd.
        parameter: What messages call it.

    Raises:
        ValidationFailed: It is no absolute path, leads into the home of kbd, or to no folder.
    """
    if not is_folder_path(directory):
        msg = f"{parameter} must be an absolute path"
        raise ValidationFailed(msg)
    levels = [part for part in directory.split("/") if part not in ("", ".")]
    if len(levels) > MAX_LEVELS:
        msg = f"{parameter} has more than {MAX_LEVELS} levels"
        raise ValidationFailed(msg)
    for there in range(len(levels), -1, -1):
        try:
            with hold_named("/" + "/".join(levels[:there])) as held:
                _refuse_home(held, home, parameter)
                real = real_path(held, directory)
        except FileNotFoundError:
            continue
        except (OSError, ValueError) as error:
            msg = f"{parameter} is not a folder that can be written to: {describe_error(error)}"
            raise ValidationFailed(msg) from None
        return Destination(directory, _join_missing(real, levels[there:], parameter))
    raise AssertionError


def _join_missing(real: str, missing: list[str], parameter: str) -> str:
    if ".." in missing:
        msg = f"{parameter} goes up from a folder that is not there"
        raise ValidationFailed(msg)
    if len(missing) > MAX_MADE_LEVELS:
        msg = f"{parameter}: more than {MAX_MADE_LEVELS} folders of it are not there"
        raise ValidationFailed(msg)
    return check_path_text(os.path.join(real, *missing), parameter)


def check_path_text(path: str, parameter: str) -> str:
    """Return a path that events can hold.

    Raises:
        ValidationFailed: Neither JSON nor msgpack can hold it, for it is no UTF-8 (reliability,
            A33).
    """
    try:
        path.encode()
    except UnicodeEncodeError:
        msg = f"{parameter} leads to a folder whose name is no Unicode text: rename it"
        raise ValidationFailed(msg) from None
    return path


@contextmanager
def hold_destination(
    directory: str, below: str, home: Path, *, make: bool, umask: int = OWN_UMASK
) -> Iterator[int]:
    """Hold the folder that a file is written to; yield its descriptor.

    Args:
        directory: The resolved path of the destination.
        below: The file's folder below it, "" for the destination itself; made if it is missing.
        home: The home of kbd.
        make: Whether the destination itself is made, too, if it is missing.
        umask: What folders are made with.

    Raises:
        ValidationFailed: It is in the home of kbd.
        OSError: It is not there or cannot be made, or a link is on the way.
    """

    def refuse_home(folder: int) -> None:
        _refuse_home(folder, home, "the folder")

    whole = f"{directory.strip('/')}/{below}".strip("/")
    start, name = ("/", whole) if make else (directory, below)
    with hold_exact(start) as root:
        held = make_below(root, name, partial(_make_folder, umask), before=refuse_home)
    try:
        # Asked of what is held: whatever its path is, or was a moment ago.
        refuse_home(held)
        yield held
    finally:
        os.close(held)


def _refuse_home(folder: int, home: Path, what: str) -> None:
    if lies_within(folder, home):
        msg = f"{what} lies in the home of kbd, where nothing of yours can go: name another folder"
        raise ValidationFailed(msg)


def _make_folder(umask: int, name: str, folder: int) -> None:
    os.mkdir(name, dir_fd=folder)
    made = open_below(folder, name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        set_mode(made, 0o777 & ~umask)
    finally:
        os.close(made)


def set_mode(held: int, mode: int) -> None:
    """Set the mode of what was made for a user: the daemon's own umask lets nobody else in."""
    # A file system without modes has its own; what is there is readable by its owner anyway.
    with suppress(OSError):
        os.fchmod(held, mode)


def create_partial_file(folder: int, name: str, mode: int = 0o666) -> int:
    """Create a file that nobody had before in a held folder; return its descriptor.

    Raises:
        OSError: It cannot be created, or the name is taken, by a link, too.
    """
    return open_below(folder, name, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode)


def link_partial(folder: int, partial: str, held: int, name: str) -> None:
    """Give a whole file its name, as a second one: that fails where a rename would overwrite.

    Args:
        folder: A descriptor of its folder.
        partial: Its first name.
        held: A descriptor of the file itself.
        name: Its name.

    Raises:
        FileExistsError: The name is taken.
        OSError: It cannot be done, or the file system knows no links.
    """
    os.link(partial, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    # Somebody may have put another file under the first name meanwhile.
    if not os.path.samestat(os.stat(name, dir_fd=folder, follow_symlinks=False), os.fstat(held)):
        os.unlink(name, dir_fd=folder)
        raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))


def describe_error(error: OSError | ValueError) -> str:
    """Describe why something of a user's cannot be reached, without a path."""
    if isinstance(error, ValueError):
        return "it is no path"
    if is_link_error(error):
        return "a link or no folder is on the way"
    return os.strerror(error.errno or 0)
