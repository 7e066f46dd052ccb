"""Directory tree of a watched folder, walked without following links; and its name patterns.

The root's path has no links in it, and no link below it is followed, so nothing that is swapped
between two looks leads outside (`kbd.core.runtime.held_folder`). Unlike in a workbench
(`kbd.core.workbench.sandbox`), folders on the way may be closed to reading, a file may have a
second name, and a failing network disk is told from what is refused: it may be back later.
Blocking.

Patterns say which names are temporary, and which files a rule takes. Names are compared as people
read them: case and the two spellings of accents (NFC, NFD) do not count. A pattern is a glob: `?`,
`*` and `[…]` stay within one part of a path, a part `**` stands for any folders. Matching never
backtracks: its time is at worst the product of both lengths.
"""

import fnmatch
import os
import re
import stat
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Literal, Self

import msgspec

from kbd.core.runtime.held_folder import (
    FOLDER_FLAGS,
    hold_below,
    hold_exact,
    is_link_error,
    open_below,
)
from kbd.errors import FileReadFailed, NotFound
from kbd.events.shortages import raise_shortage

__all__ = [
    "MAX_DEPTH",
    "EntryKind",
    "FolderEntry",
    "NamePatterns",
    "WatchedTree",
    "is_temporary",
    "signature_of",
]


_TEMPORARY_PREFIXES = (
    ".",  # hidden files, `.~lock.x#`, `.#x`, `.nfs…`, `.x.AbC123` of rsync, `.kbd-…`
    "~$",  # the lock of an office program
    "~syncthing~",
)

_TEMPORARY_SUFFIXES = (
    "~",  # an editor's backup
    ".tmp", ".temp",
    ".swp", ".swo", ".swx", ".kate-swp",  # an editor's swap files
    ".part", ".partial", ".filepart", ".crdownload", ".download", ".opdownload",  # half downloads
    ".aria2", ".!ut", ".!qb", ".!sync", ".bts", ".ffs_tmp",
    ".laccdb", ".idlk",  # locks
)  # fmt: skip

_TEMPORARY_NAMES = frozenset(
    {
        "4913",  # an editor tries with it whether it may write into a folder
        "thumbs.db", "ehthumbs.db", "desktop.ini", "icon\r",  # what file browsers leave
    }
)  # fmt: skip

_TEMPORARY_PATTERN = re.compile(
    r"#.*#"  # an editor's automatic save
    r"|.*\.sb-[0-9a-f]{8}-.{6}"  # what a Mac writes before it replaces a document
    r"|.*\.part-?\d+",
    re.DOTALL,
)


def is_temporary(name: str) -> bool:
    """Return whether a name is that of a lock, a swap file, a partial download or a hidden file.

    Args:
        name: The name of a file or folder, without its path.
    """
    folded = name.casefold()
    return (
        folded.startswith(_TEMPORARY_PREFIXES)
        or folded.endswith(_TEMPORARY_SUFFIXES)
        or folded in _TEMPORARY_NAMES
        or (("#" in folded or ".sb-" in folded or ".part" in folded) and _matches_temporary(folded))
    )


def _matches_temporary(folded: str) -> bool:
    return _TEMPORARY_PATTERN.fullmatch(folded) is not None


class NamePatterns:
    """Name patterns of a rule: the last pattern that matches a file decides.

    Args:
        patterns: As in `WatchRule`. Where all leave something out, everything else is taken.
    """

    def __init__(self, patterns: tuple[str, ...]) -> None:
        self._all = patterns in {("*",), ("**",)}
        self._default = all(pattern.startswith("!") for pattern in patterns)
        self._globs = [
            (_Glob(pattern.removeprefix("!")), not pattern.startswith("!")) for pattern in patterns
        ]

    def takes(self, path: str) -> bool:
        """Return whether the patterns match a file.

        Args:
            path: Its path below the watched folder.
        """
        if self._all:
            return True
        parts = _fold(path).split("/")
        taken = self._default
        for glob, takes in self._globs:
            if takes is not taken and glob.meets(parts):
                taken = takes
        return taken


class _Glob:
    """Glob pattern: for the name, or, if it has a slash, for the path."""

    def __init__(self, pattern: str) -> None:
        folded = _fold(pattern)
        self._is_path = "/" in folded
        parts = folded.removeprefix("./").removeprefix("/").split("/")
        if parts[-1] == "":
            parts[-1] = "**"  # `drafts/` is everything below it
        # A name like "Plan [final]" is met by itself, too.
        self._parts = [
            None if part == "**" and self._is_path else (part, re.compile(fnmatch.translate(part)))
            for part in parts
        ]

    def meets(self, parts: Sequence[str]) -> bool:
        """Return whether the folded parts of a path match the glob."""
        if not self._is_path:
            parts = parts[-1:]
        # Where the last `**` stands, and what it stands for so far: only that is ever widened.
        at, wild, tried, place = 0, -1, 0, 0
        while place < len(parts):
            if at < len(self._parts) and self._parts[at] is None:
                wild, tried = at, place
                at += 1
            elif at < len(self._parts) and self._meets_part(at, parts[place]):
                at += 1
                place += 1
            elif wild >= 0:
                tried += 1
                at, place = wild + 1, tried
            else:
                return False
        return all(part is None for part in self._parts[at:])

    def _meets_part(self, at: int, part: str) -> bool:
        own = self._parts[at]
        return own is not None and (part == own[0] or own[1].match(part) is not None)


def _fold(text: str) -> str:
    """Spell a text as it is compared."""
    if text.isascii():
        return text.lower()
    # Composed before and after: folding takes some letters apart, U+01F0 for one.
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


MAX_DEPTH = 64
"""Folders below each other; more are a loop of mounts."""

_MAX_UNREAD = 100
"""Of so many folders that could not be read the reason is kept."""

# O_NONBLOCK: to open a pipe that took a file's place must not wait for its writer.
_FILE_FLAGS = os.O_RDONLY | os.O_NONBLOCK

EntryKind = Literal["file", "link", "special", "temporary"]
"""What an entry is; "special" are devices, pipes, sockets, and files whose name is no text."""


class FolderEntry(msgspec.Struct, frozen=True, gc=False):
    """Directory entry of a watched folder that is no folder.

    Args:
        path: Its path below the root, as it is on disk; what is no readable text is escaped.
        size_bytes: Its size.
        signature: `size:mtime_ns:ctime_ns:inode`.
        kind: What it is.
        raw: The path that calls to the system take; unlike `path` where that is escaped.
    """

    path: str
    size_bytes: int
    signature: str
    kind: EntryKind
    raw: str


class WatchedTree:
    """Directory tree of a watched folder, held open; may be used by one thread at a time.

    Args:
        folder: An absolute path without links in it.

    Attributes:
        folder: The same.
        identity: Its device and inode: another one's if the folder was replaced.
        unread: Folders below it that could not be read, with the reason; the first hundred.

    Raises:
        NotFound: It is not there.
        FileReadFailed: It cannot be read, or a link or no folder is on the way.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.unread: dict[str, str] = {}
        try:
            with hold_exact(folder, FOLDER_FLAGS) as held:
                self._root = os.dup(held)
        except FileNotFoundError:
            raise NotFound("the watched folder is not there") from None
        except OSError as error:
            raise_shortage(error)
            raise FileReadFailed(
                f"the watched folder cannot be read: {_describe_error(error)}"
            ) from error
        found = os.fstat(self._root)
        self.identity = (found.st_dev, found.st_ino)

    def close(self) -> None:
        """Close the folder."""
        os.close(self._root)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def walk(self, below: str = "") -> Iterator[FolderEntry]:
        """Yield all entries below a folder that are no folders, links and temporary ones too.

        What cannot be read is left out and named in `unread`. Temporary folders are not entered.

        Args:
            below: A raw path below the root; if it is no folder it is itself what is found.
        """
        parts = below.split("/") if below else []
        if _any_temporary(below):
            return
        try:
            if parts:
                with self._parent(below) as (parent, name):
                    if not stat.S_ISDIR(_stat_entry(parent, name).st_mode):
                        yield _folder_entry(below, _stat_entry(parent, name), temporary=False)
                        return
                    held = open_below(parent, name, FOLDER_FLAGS)
            else:
                held = open_below(self._root, ".", FOLDER_FLAGS)
        except OSError as error:
            if not _is_gone(error):
                self._note(below, error)
            return
        yield from self._below(held, f"{below}/" if below else "", len(parts))

    def look(self, path: str) -> FolderEntry | None:
        """Return what is at a path, or None if nothing is, or a folder.

        Args:
            path: A raw path below the root.

        Raises:
            FileReadFailed: It cannot be told.
        """
        try:
            with self._parent(path) as (parent, name):
                seen = _stat_entry(parent, name)
        except ValueError:
            return None
        except OSError as error:
            if _is_gone(error):
                return None
            raise _read_failed(path, error) from error
        return (
            None
            if stat.S_ISDIR(seen.st_mode)
            else _folder_entry(path, seen, temporary=_any_temporary(path))
        )

    @contextmanager
    def open(self, path: str) -> Iterator[int]:
        """Hold a regular file open for reading; yield its descriptor.

        Args:
            path: A raw path below the root.

        Raises:
            NotFound: It is not there, or not a regular file any more.
            FileReadFailed: It cannot be read.
        """
        try:
            with self._parent(path) as (parent, name):
                # A pipe must not make it wait; of a device nothing may be asked.
                if not stat.S_ISREG(_stat_entry(parent, name).st_mode):
                    raise _not_found(path)
                held = open_below(parent, name, _FILE_FLAGS)
        except OSError as error:
            if _is_gone(error):
                raise _not_found(path) from None
            raise _read_failed(path, error) from error
        try:
            # Asked again of what is held: another entry may have taken the name in between.
            if not stat.S_ISREG(os.fstat(held).st_mode):
                raise _not_found(path)
            yield held
        finally:
            os.close(held)

    @contextmanager
    def _parent(self, path: str) -> Iterator[tuple[int, str]]:
        *folders, name = path.split("/")
        with hold_below(self._root, "/".join(folders) or ".") as parent:
            yield parent, name

    def _below(self, folder: int, prefix: str, depth: int) -> Iterator[FolderEntry]:
        """Yield what is below an open folder, and close it. Its own files come first."""
        try:
            folders = []
            try:
                with os.scandir(folder) as entries:
                    for entry in entries:
                        # The kind is known without a call; only what is no folder is looked at.
                        if entry.is_dir(follow_symlinks=False):
                            folders.append(entry.name)
                            continue
                        try:
                            seen = entry.stat(follow_symlinks=False)
                        except FileNotFoundError:
                            continue
                        except OSError as error:
                            self._note(prefix.rstrip("/"), error)
                            continue
                        name = entry.name
                        yield _folder_entry(prefix + name, seen, temporary=is_temporary(name))
            except OSError as error:
                self._note(prefix.rstrip("/"), error)
            for name in folders:
                if not is_temporary(name):
                    yield from self._enter(folder, name, prefix, depth)
        finally:
            os.close(folder)

    def _enter(self, folder: int, name: str, prefix: str, depth: int) -> Iterator[FolderEntry]:
        if depth + 1 > MAX_DEPTH:
            self._unread(prefix + name, f"it is more than {MAX_DEPTH} folders deep")
            return
        try:
            held = open_below(folder, name, FOLDER_FLAGS)
        except OSError as error:
            if not _is_gone(error):
                self._note(prefix + name, error)
            return
        yield from self._below(held, f"{prefix}{name}/", depth + 1)

    def _note(self, path: str, error: OSError) -> None:
        self._unread(path, _describe_error(error))

    def _unread(self, path: str, why: str) -> None:
        if len(self.unread) < _MAX_UNREAD:
            self.unread[_escape_name(path)] = why


def signature_of(seen: os.stat_result) -> str:
    """Return a file's signature, equal while it is unchanged: `size:mtime_ns:ctime_ns:inode`."""
    return f"{seen.st_size}:{seen.st_mtime_ns}:{seen.st_ctime_ns}:{seen.st_ino}"


def _stat_entry(parent: int, name: str) -> os.stat_result:
    return os.stat(name, dir_fd=parent, follow_symlinks=False)


def _is_gone(error: OSError) -> bool:
    """Return whether what was there is not any more: gone, or a link is in its place."""
    return isinstance(error, FileNotFoundError) or is_link_error(error)


def _any_temporary(path: str) -> bool:
    return any(is_temporary(part) for part in path.split("/"))


def _folder_entry(path: str, seen: os.stat_result, *, temporary: bool) -> FolderEntry:
    kind: EntryKind
    shown = path
    if not path.isprintable():
        shown = _escape_name(path)
    if stat.S_ISLNK(seen.st_mode):
        kind = "link"
    elif not stat.S_ISREG(seen.st_mode):
        kind = "special"
    elif temporary:
        kind = "temporary"
    else:
        kind = "file" if shown == path else "special"
    return FolderEntry(shown, seen.st_size, signature_of(seen), kind, path)


def _escape_name(path: str) -> str:
    """Escape what is no text or would not be seen: bytes, controls, what reorders a line."""
    return "".join(
        character.encode("unicode_escape", "surrogatepass").decode()
        if unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"}
        else character
        for character in path
    )


def _describe_error(error: OSError) -> str:
    """Describe an error without a path; links and non-folders raise the same errors."""
    if is_link_error(error):
        return "a link or no folder is on the way"
    return (error.strerror or "no reason was given").lower()


def _not_found(path: str) -> NotFound:
    return NotFound(f"there is no file {path!r} any more")


def _read_failed(path: str, error: OSError) -> FileReadFailed:
    """Return a read error: retryable, unless permission was denied."""
    raise_shortage(error)
    # A refusal stands until somebody changes it; anything else may be gone the next time.
    lasting = isinstance(error, PermissionError)
    return FileReadFailed(
        f"{_escape_name(path)} cannot be read: {_describe_error(error)}", retryable=not lasting
    )
