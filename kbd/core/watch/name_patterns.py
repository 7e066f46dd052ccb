"""Name patterns of a watched folder: which names are temporary, and which files a rule takes.

Names are compared as people read them: case and the two spellings of accents (NFC, NFD) do not
count. A pattern is a glob: `?`, `*` and `[…]` stay within one part of a path, a part `**` stands
for any folders. Matching never backtracks: its time is at worst the product of both lengths.
"""

import fnmatch
import re
import unicodedata
from collections.abc import Sequence

__all__ = ["NamePatterns", "is_temporary"]

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
    """Tell whether a name says that its file is a lock, a swap file, half a download or hidden.

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
        """Tell whether the rule is for a file.

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
        """Tell whether the folded parts of a path match it."""
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
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
