"""Sandbox: relative file names, and the confined root below which they are opened.

It is the only way to a file below a folder that users and models can name.

Names: a path of a client, a model or a file on disk becomes a relative name, or is refused. The
rules are those of contract, section 4, and reliability, section 5.3 A: a name must mean the same
file on every machine that the workbench may be copied to, and must be readable in a terminal.

Opening: from a held folder, through no symbolic link and no mount (`kbd.core.runtime.held_folder`),
so that no swap between check and use can lead outside. Files are opened without blocking (a FIFO
must not hang the daemon) and must be regular and have one name: a hard link may be a file
elsewhere.
"""

import errno
import os
import stat
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from kbd.core.runtime.held_folder import FOLDER_FLAGS, is_link_error, make_below, open_below
from kbd.errors import FileReadFailed, NotFound, SandboxViolation
from kbd.events.disk import DISK, Disk
from kbd.events.shortages import raise_shortage
from kbd.types import FileName

__all__ = [
    "MAX_COMPONENTS",
    "MAX_COMPONENT_BYTES",
    "ConfinedRoot",
    "check_visible",
    "file_name",
    "open_regular",
]

_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class ConfinedRoot:
    """A folder whose paths cannot lead outside: a descriptor that all of them start from.

    Args:
        folder: The folder; it is held open, so replacing it by a link changes nothing.
        disk: What makes folders below it.

    Raises:
        OSError: It cannot be opened, or is no folder.
    """

    def __init__(self, folder: Path, disk: Disk = DISK) -> None:
        self._root = os.open(folder, FOLDER_FLAGS)
        self._disk = disk

    def close(self) -> None:
        """Close the folder's descriptor."""
        os.close(self._root)

    @contextmanager
    def parent(self, name: FileName, *, create: bool = False) -> Iterator[tuple[int, str]]:
        """Hold the folder of a name open; yield its descriptor and the last component.

        Raises:
            NotFound: A folder on the way does not exist.
            SandboxViolation: A component on the way is a link, a mount or no folder.
            FileReadFailed: A folder may not be entered.
            OSError: A folder cannot be made.
        """
        below, _, last = name.rpartition("/")
        # The names of the log were checked. One that was not must not lead out all the same.
        if last in ("", ".", ".."):
            raise _refused_name(name, "names no file")
        try:
            if create:
                # Its name must be durable before that of anything in it.
                held = make_below(self._root, below, self._disk.make_folder, same_disk=True)
            else:
                held = open_below(self._root, below or ".", FOLDER_FLAGS, same_disk=True)
        except FileNotFoundError:
            raise _not_found(name) from None
        except OSError as error:
            if not is_link_error(error) and not isinstance(error, PermissionError):
                raise
            raise _refused_file(name, error) from None
        try:
            yield held, last
        finally:
            os.close(held)

    @contextmanager
    def open(self, name: FileName) -> Iterator[int]:
        """Hold a file open for reading; yield its descriptor.

        Raises:
            NotFound: It does not exist.
            SandboxViolation: It, or a component on the way, is a link, a mount, a device, a FIFO,
                or has another name elsewhere.
            FileReadFailed: It may not be read.
        """
        # Below the folder that is held, not by its path: nobody can put a link in the way.
        with self.parent(name) as place, open_regular(place, name) as held:
            yield held

    def names(self) -> list[str]:
        """Return the names of all regular files below the root, sorted; links are left out."""
        return sorted(_walk(self._root, ""))


@contextmanager
def open_regular(place: tuple[int, str], name: str) -> Iterator[int]:
    """Hold a regular file open for reading; yield its descriptor.

    Args:
        place: A descriptor of its folder, and its name there.
        name: What messages call it.

    Raises:
        NotFound: It does not exist.
        SandboxViolation: It is a link, a device, a FIFO, or has another name elsewhere.
        FileReadFailed: It may not be read.
    """
    folder, last = place
    try:
        held = open_below(folder, last, _FILE, same_disk=True)
    except FileNotFoundError:
        raise _not_found(name) from None
    except OSError as error:
        raise_shortage(error)
        raise _refused_file(name, error) from None
    try:
        _check_regular(held, name)
        yield held
    finally:
        os.close(held)


def _check_regular(held: int, name: str) -> None:
    found = os.fstat(held)
    if not stat.S_ISREG(found.st_mode):
        msg = f"{name!r} is not a regular file"
        raise SandboxViolation(msg)
    # Before a byte is read: a file of holes may have 8 EiB (reliability, A42).
    if found.st_size > MAX_FILE_BYTES:
        msg = f"{name!r} is larger than any file of a workbench"
        raise SandboxViolation(msg)
    # O_NOFOLLOW stops symbolic links only; through a hard link a write would change a file
    # elsewhere.
    if found.st_nlink > 1:
        msg = f"{name!r} is a hard link: the same file has another name elsewhere"
        raise SandboxViolation(msg)


def _walk(folder: int, prefix: str) -> Iterator[str]:
    with os.scandir(folder) as entries:
        found = [(entry.name, entry.is_dir(follow_symlinks=False), entry) for entry in entries]
    for name, is_folder, entry in found:
        if is_folder:
            # Opened without following links: it may have been replaced since it was listed.
            try:
                inner = open_below(folder, name, FOLDER_FLAGS, same_disk=True)
            except OSError as error:
                if not is_link_error(error) and not isinstance(error, FileNotFoundError):
                    raise
                continue
            try:
                yield from _walk(inner, f"{prefix}{name}/")
            finally:
                os.close(inner)
        elif entry.is_file(follow_symlinks=False):
            yield prefix + name


def _not_found(name: str) -> NotFound:
    return NotFound(f"there is no file {name!r}")


def _refused_file(name: str, error: OSError) -> SandboxViolation | FileReadFailed:
    """Return the error of what cannot be opened; a device without a driver, a socket are ENXIO."""
    if isinstance(error, PermissionError):
        return FileReadFailed(f"{name!r} may not be read")
    if is_link_error(error) or error.errno == errno.ENXIO:
        return SandboxViolation(f"{name!r} leads through a link or is not a regular file")
    return FileReadFailed(f"{name!r} cannot be read: {os.strerror(error.errno or 0)}")


MAX_FILE_BYTES = 4 * 2**30
"""No file that is added, or that a worker writes, is nearly as large (`limits.file_bytes`)."""

MAX_COMPONENT_BYTES = 200
"""Most file systems allow 255; the rest is room for what a conflict or a copy appends."""

MAX_COMPONENTS = 16

_ROOTS = ("draft/", "published/")
_RESERVED_FIRST = frozenset({"meta"})
_DEVICES = frozenset(
    {"con", "prn", "aux", "nul"}
    | {f"com{digit}" for digit in "123456789"}
    | {f"lpt{digit}" for digit in "123456789"}
)
_FORBIDDEN = frozenset('\\:*?"<>|')
# Formatting characters that reorder or hide text: a name that lies about itself.
_INVISIBLE = frozenset({"Cf", "Cc", "Cs", "Zl", "Zp"})


def file_name(path: str) -> FileName:
    """Normalize a path to a relative name inside a workbench: NFC, no `.` components.

    A leading `draft/` or `published/` is dropped: it means the same file.

    Raises:
        SandboxViolation: It is absolute, has `..` as a component, or is not a name that every
            machine can hold and every reader can see.
    """
    # First: what is checked must be what is opened.
    text = unicodedata.normalize("NFC", path)
    for root in _ROOTS:
        if text.startswith(root) and len(text) > len(root):
            text = text[len(root) :]
            break
    # Behind the known root, not before: "draft//etc" is an absolute path.
    if text.startswith(("/", "~")):
        # Not repeated: no error tells an absolute path (contract, section 9).
        msg = "the path is not relative to the workbench"
        raise SandboxViolation(msg)
    components = [part for part in text.split("/") if part not in ("", ".")]
    if not components:
        raise _refused_name(path, "names no file")
    if len(components) > MAX_COMPONENTS:
        raise _refused_name(path, f"has more than {MAX_COMPONENTS} levels")
    if components[0].casefold() in _RESERVED_FIRST:
        raise _refused_name(path, "is reserved")
    for part in components:
        _check_component(path, part)
    return FileName("/".join(components))


def _check_component(path: str, part: str) -> None:
    if part == "..":
        raise _refused_name(path, "would leave the workbench")
    if len(part.encode("utf-8", "surrogatepass")) > MAX_COMPONENT_BYTES:
        raise _refused_name(path, f"has a part of more than {MAX_COMPONENT_BYTES} bytes")
    for character in part:
        if unicodedata.category(character) in _INVISIBLE:
            raise _refused_name(path, f"has the invisible character U+{ord(character):04X}")
        if character in _FORBIDDEN:
            raise _refused_name(
                path, f"has the character {character!r}, which not every system allows"
            )
    # Windows drops them, and two names would be one file.
    if part[-1] in ". ":
        raise _refused_name(path, "has a part that ends with a dot or a blank")
    # With any suffix: on Windows `con.txt` is the device, too.
    if part.split(".", 1)[0].casefold() in _DEVICES:
        raise _refused_name(path, "is the name of a device on some systems")


def check_visible(name: FileName, added: Iterable[str]) -> None:
    """Check that nothing hidden would be made: a name may say what a program of the user's runs.

    `.vscode/tasks.json`, `.git/hooks/pre-commit` or `.local/bin/x` is not seen by who looks into a
    folder, and some of these are run, or obeyed, without being opened.

    Args:
        name: The name of a file that a tool is about to make.
        added: The names of the files that a person added. One of them stands for itself, and for
            its own folder, not for one below.

    Raises:
        SandboxViolation: A part begins with a dot, and no file that was added has this name, or
            lies in this folder.
    """
    if not any(part.startswith(".") for part in name.split("/")):
        return
    folder, _, last = name.rpartition("/")
    for other in added:
        beside, is_beside = other.rpartition("/")[0], bool(folder) and not last.startswith(".")
        if other == name or (is_beside and beside == folder):
            return
    seen = "/".join(part.lstrip(".") or "x" for part in name.split("/"))
    raise _refused_name(
        name,
        "would be hidden, for a part of it begins with a dot; only names of files that a person "
        f"added may be: use one without it, such as {seen!r}",
    )


def _refused_name(path: str, why: str) -> SandboxViolation:
    shown = path if len(path) <= 80 else path[:77] + "..."
    return SandboxViolation(f"the path {shown!r} {why}")
