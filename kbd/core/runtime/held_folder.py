"""Folders held open, and what is opened below them: by the kernel, through no link.

Whoever checks a path and then opens it can be led elsewhere in between: in a race of swapped links
that happened 3,282 times of 13,702 (reliability 0). Here a folder is held by its descriptor, and
the kernel itself refuses links on the way to what is below it (openat2(2)). Where the kernel, or
what confines the process, has no such call, the way is walked component by component.

Functions raise `OSError`: ELOOP or ENOTDIR for a link on the way, EXDEV for what leads out of the
folder. What clients are told is for the caller to say. Blocking.
"""

import ctypes
import errno
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

__all__ = [
    "FOLDER_FLAGS",
    "MAX_LEVELS",
    "MAX_MADE_LEVELS",
    "hold_below",
    "hold_exact",
    "hold_named",
    "is_link_error",
    "lies_within",
    "make_below",
    "open_below",
    "open_named",
    "real_path",
]

MAX_LEVELS = 200
"""Levels of a path that a person names; the system's limit of 4,096 bytes would allow 2,048."""

MAX_MADE_LEVELS = 16
"""Folders below each other that are made where they are missing; more are a mistake."""

# O_PATH: a folder on the way need only be passable, not readable.
_STEP_FLAGS = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC
FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

_OPENAT2 = 437
"""Number of openat2(2), the same on all machines but Alpha."""

_NO_XDEV, _NO_MAGICLINKS, _NO_SYMLINKS, _BENEATH = 0x01, 0x02, 0x04, 0x08
"""RESOLVE_… of openat2(2)."""

_NOT_THERE = frozenset({errno.ENOSYS, errno.EPERM, errno.EINVAL, errno.E2BIG, errno.EAGAIN})
"""Answers of a kernel without the call, of a filter that does not know it (EPERM), and of one that
could not tell whether a `..` was raced (EAGAIN). The walk finds what is really the matter."""

_AT_FDCWD = -100


class _OpenHow(ctypes.Structure):
    """`struct open_how` of openat2(2)."""

    _fields_ = (
        ("flags", ctypes.c_uint64),
        ("mode", ctypes.c_uint64),
        ("resolve", ctypes.c_uint64),
    )


def open_below(
    folder: int, name: str, flags: int, mode: int = 0, *, same_disk: bool = False
) -> int:
    """Open what a name means below a held folder, through no link; return its descriptor.

    Args:
        folder: A descriptor of the folder.
        name: A relative path, or "." for the folder itself.
        flags: As for `os.open`; O_CLOEXEC and O_NOFOLLOW go without saying.
        mode: Of a file that is created, less the process's mask.
        same_disk: Whether a mount on the way is refused (EXDEV), a bind mount included.

    Raises:
        OSError: It cannot be opened, a link is on the way, or the name would lead out.
    """
    flags |= os.O_CLOEXEC | os.O_NOFOLLOW
    resolve = _BENEATH | _NO_SYMLINKS | _NO_MAGICLINKS | (_NO_XDEV if same_disk else 0)
    try:
        return _open_resolved(folder, name, flags, mode, resolve)
    except OSError as error:
        if error.errno not in _NOT_THERE:
            raise
    return _open_walking(folder, name, flags, mode, same_disk=same_disk)


def open_named(path: str, flags: int) -> int:
    """Open what a person names by an absolute path; links above its last part are followed.

    The kernel follows them, so it refuses those that another user put into a folder that is open
    to all (protected_symlinks in proc(5)). Links to what a process holds open (`/proc/self/fd/3`)
    are not followed, and neither is the last part.

    Raises:
        OSError: It cannot be opened, or is a link.
        ValueError: The path has a NUL.
    """
    return _open_following(path, flags | os.O_CLOEXEC | os.O_NOFOLLOW)


@contextmanager
def hold_named(path: str) -> Iterator[int]:
    """Hold a folder that a person names; links are followed, its last part's, too.

    Raises:
        OSError: It is not there, or no folder.
        ValueError: The path has a NUL.
    """
    held = _open_following(path, _STEP_FLAGS)
    try:
        yield held
    finally:
        os.close(held)


@contextmanager
def hold_exact(path: str, flags: int = _STEP_FLAGS) -> Iterator[int]:
    """Hold a folder by an absolute path in which there is no link.

    Raises:
        OSError: It is not there, no folder, or behind a link.
        ValueError: The path has a NUL.
    """
    root = os.open("/", _STEP_FLAGS)
    try:
        held = open_below(root, path.strip("/") or ".", flags)
    finally:
        os.close(root)
    try:
        yield held
    finally:
        os.close(held)


@contextmanager
def hold_below(
    folder: int, name: str, flags: int = _STEP_FLAGS, *, same_disk: bool = False
) -> Iterator[int]:
    """Hold a folder below a held one, through no link.

    Raises:
        OSError: It is not there, no folder, or behind a link.
    """
    held = open_below(folder, name, flags, same_disk=same_disk)
    try:
        yield held
    finally:
        os.close(held)


def make_below(
    folder: int,
    name: str,
    make: Callable[[str, int], None],
    *,
    before: Callable[[int], None] = lambda _: None,
    same_disk: bool = False,
) -> int:
    """Open a folder below a held one, through no link, and make what is missing of it.

    Args:
        folder: A descriptor of the folder.
        name: A relative path, or "." for the folder itself.
        make: Makes a folder of a name in a folder that is held, open for reading.
        before: Called with the folder in which the first one is to be made; may raise.
        same_disk: As for `open_below`.

    Raises:
        OSError: It cannot be made, or is no folder, or behind a link.
    """
    if name.startswith("/"):
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
    held, is_asked = open_below(folder, ".", _STEP_FLAGS), False
    try:
        for part in name.split("/"):
            try:
                inner = open_below(held, part or ".", _STEP_FLAGS, same_disk=same_disk)
            except FileNotFoundError:
                if not is_asked:
                    before(held)
                    is_asked = True
                _make(part, held, make)
                inner = open_below(held, part, _STEP_FLAGS, same_disk=same_disk)
            os.close(held)
            held = inner
        return open_below(held, ".", FOLDER_FLAGS)
    finally:
        os.close(held)


def real_path(folder: int, named: str) -> str:
    """Return the path of a held folder without links in it.

    Args:
        folder: A descriptor of it.
        named: The path that it was opened by, for systems that cannot be asked.
    """
    try:
        return os.readlink(f"/proc/self/fd/{folder}")
    except OSError:
        return os.path.realpath(named)


def lies_within(folder: int, other: Path) -> bool:
    """Return whether a held folder is another one, or lies below it, whatever leads to either.

    Told by device and inode of the folders above it, and, for what is mounted a second time
    elsewhere, by where both lie on their disk. What an overlay shows of a disk is not seen through.
    """
    try:
        held = os.open(other, _STEP_FLAGS)
    except OSError:
        return False
    try:
        if _identity(held) in _identities_above(folder):
            return True
        place, outer = _place_on_disk(folder), _place_on_disk(held)
    finally:
        os.close(held)
    if place is None or outer is None or place[0] != outer[0]:
        return False
    return f"{place[1]}/".startswith(f"{outer[1].rstrip('/')}/")


def is_link_error(error: OSError) -> bool:
    """Return whether an error may be that of a link on the way: ELOOP, ENOTDIR or EXDEV."""
    return error.errno in (errno.ELOOP, errno.ENOTDIR, errno.EXDEV)


@cache
def _system_call() -> Callable[..., int] | None:
    """Return syscall(2), or None where openat2 is none of the system's."""
    if sys.platform != "linux":
        return None
    call = ctypes.CDLL(None, use_errno=True).syscall
    call.restype = ctypes.c_long
    call.argtypes = [
        ctypes.c_long, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t,
    ]  # fmt: skip
    return call


def _open_resolved(folder: int, name: str, flags: int, mode: int, resolve: int) -> int:
    """Open by openat2(2); ENOSYS where there is none."""
    call = _system_call()
    if call is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    path = os.fsencode(name)
    if b"\0" in path:
        msg = "embedded null byte"
        raise ValueError(msg)
    how = _OpenHow(flags, mode if flags & os.O_CREAT else 0, resolve)
    while True:
        held = call(_OPENAT2, folder, path, ctypes.byref(how), ctypes.sizeof(how))
        if held >= 0:
            return held
        if (code := ctypes.get_errno()) != errno.EINTR:
            # The constructor makes it FileNotFoundError and the like.
            raise OSError(code, os.strerror(code))


def _open_following(path: str, flags: int) -> int:
    try:
        return _open_resolved(_AT_FDCWD, path, flags, 0, _NO_MAGICLINKS)
    except OSError as error:
        if error.errno not in _NOT_THERE:
            raise
    return os.open(path, flags)


def _open_walking(folder: int, name: str, flags: int, mode: int, *, same_disk: bool) -> int:
    """Open component by component: what openat2(2) does, where there is none."""
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if ".." in parts or name.startswith("/"):
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
    if not parts:
        return os.open(".", flags, mode, dir_fd=folder)
    disk, held = os.fstat(folder).st_dev, os.dup(folder)
    try:
        for part in parts[:-1]:
            inner = os.open(part, _STEP_FLAGS | os.O_NOFOLLOW, dir_fd=held)
            os.close(held)
            held = inner
        found = os.open(parts[-1], flags, mode, dir_fd=held)
    finally:
        os.close(held)
    if same_disk and os.fstat(found).st_dev != disk:
        os.close(found)
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
    return found


def _make(part: str, held: int, make: Callable[[str, int], None]) -> None:
    # Opened anew: a folder that is held only to be passed (O_PATH) cannot be synced.
    folder = open_below(held, ".", FOLDER_FLAGS)
    try:
        # Somebody else may make it at the same time, perhaps as a link: that is refused later.
        with suppress(FileExistsError):
            make(part, folder)
    finally:
        os.close(folder)


def _identity(held: int) -> tuple[int, int]:
    found = os.fstat(held)
    return found.st_dev, found.st_ino


def _identities_above(folder: int) -> frozenset[tuple[int, int]]:
    """Return device and inode of a folder and of those above it, as far as they may be passed."""
    found: set[tuple[int, int]] = set()
    held = os.dup(folder)
    try:
        while (here := _identity(held)) not in found:
            found.add(here)
            with suppress(PermissionError):
                above = os.open("..", _STEP_FLAGS, dir_fd=held)
                os.close(held)
                held = above
    finally:
        os.close(held)
    return frozenset(found)


def _place_on_disk(folder: int) -> tuple[str, str] | None:
    """Return a folder's disk and its path there, whatever it is mounted at; None if not told."""
    try:
        info = Path(f"/proc/self/fdinfo/{folder}").read_text("ascii")
        (mount,) = (line.split()[1] for line in info.splitlines() if line.startswith("mnt_id:"))
        path = os.readlink(f"/proc/self/fd/{folder}")
        with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as mounts:
            fields = next(line.split() for line in mounts if line.split(maxsplit=1)[0] == mount)
    except (OSError, ValueError, StopIteration):
        return None
    disk, root, at = fields[2], _unescape(fields[3]), _unescape(fields[4])
    if not f"{path}/".startswith(f"{at.rstrip('/')}/"):
        return None
    return disk, f"{root.rstrip('/')}/{path[len(at.rstrip('/')) :].strip('/')}".rstrip("/") or "/"


def _unescape(field: str) -> str:
    """Return a path of mountinfo as it is: blanks and the like are octal there."""
    for code in ("040", "011", "012", "134"):
        field = field.replace(f"\\{code}", chr(int(code, 8)))
    return field
