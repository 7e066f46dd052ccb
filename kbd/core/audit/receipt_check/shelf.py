"""Which of the files given is which version: by the hash of its bytes, else by its name."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from .claims import Claim
from .files import Version

__all__ = ["Given", "Shelf", "TooMany", "Unusable", "gather"]

MAX_FILES = 20_000
_BLOCK_BYTES = 1 << 20

SIDES = ("before", "after", "between")
"""The folders of a saved receipt."""


class TooMany(Exception):
    """More files were given than are looked at."""


class Unusable(Exception):
    """Something was named that is no file to be read."""


class Given(NamedTuple):
    """A file that was given.

    Args:
        path: Where.
        name: Its name in the folder that was given, or its last part.
        side: The folder of a saved receipt in which it lies, or "".
        is_named: Whether it was named itself, or lies in a folder of a saved receipt: whoever
            reads the result takes it for proven.
    """

    path: str
    name: str
    side: str
    is_named: bool


def gather(paths: Iterable[str]) -> Iterator[Given]:
    """Yield the files that are given, and those in folders that are; no link is followed.

    Raises:
        TooMany: There are too many.
        Unusable: Something was named that is not there, or that is no file.
        OSError: A folder cannot be read.
    """
    count = 0
    for path in paths:
        if not os.path.isdir(path):
            if not os.path.exists(path):
                raise Unusable(f"{path or 'an empty name'} is not there")
            if not os.path.isfile(path):
                # A pipe or a device may have no end, and gives its bytes once.
                raise Unusable(f"{path} is no regular file")
            yield Given(path, os.path.basename(path), "", is_named=True)
            continue
        for folder, folders, names in os.walk(path):
            folders.sort()
            for name in sorted(names):
                whole = os.path.join(folder, name)
                if os.path.islink(whole) or not os.path.isfile(whole):
                    continue
                count += 1
                if count > MAX_FILES:
                    raise TooMany(f"there are more than {MAX_FILES:,} files")
                within = os.path.relpath(whole, path).replace(os.sep, "/")
                first, _, rest = within.partition("/")
                side = first if rest and first in SIDES else ""
                yield Given(whole, rest if side else within, side, is_named=bool(side))


class Shelf:
    """The files that were given, by hash and by name.

    Args:
        files: They.

    Raises:
        OSError: One cannot be read.
    """

    def __init__(self, files: Iterable[Given]) -> None:
        self._by_hash: dict[str, str] = {}
        self._hashes: dict[str, str] = {}
        self._files = list(files)
        for each in self._files:
            digest = _sha256(each.path)
            self._by_hash.setdefault(digest, each.path)
            self._hashes[each.path] = digest
        self._wanted: set[str] = set()
        self._compared: set[str] = set()

    def expect(self, claim: Claim) -> None:
        """Note the versions of a file, so that none is taken for a changed version of another."""
        self._wanted.update(_hashes_of(claim))

    def versions(self, claim: Claim) -> Mapping[str | None, Version | None]:
        """Return the versions of a file that are at hand, by their hashes.

        A file of the same name that has none of the hashes stands under its side.
        """
        found: dict[str | None, Version | None] = {}
        for wanted in _hashes_of(claim):
            held = self._by_hash.get(wanted)
            if held is not None:
                found[wanted] = Version(held, is_exact=True)
        path = claim.text("path")
        earlier = claim.text("previous_path", "") or claim.text("beside", "") or path
        for side, name in (("after", path), ("before", earlier)):
            sha256 = claim.child(side).sha256("sha256") if side in claim else None
            if sha256 is not None and sha256 not in found:
                other = self._named(name, side)
                if other is not None:
                    self._compared.add(other)
                    found[side] = Version(other, is_exact=False)
        return found

    def unknown(self) -> tuple[str, ...]:
        """Return the files that somebody named and that are no version of any file."""
        return tuple(
            each.path
            for each in self._files
            if each.is_named
            and each.path not in self._compared
            and self._hashes[each.path] not in self._wanted
        )

    def _named(self, path: str, side: str) -> str | None:
        """Return a file that has the name, and is no version of any other; once each.

        Of a single one nobody says which side it is: people mean the newer version, and the older
        one only where the newer is at hand.
        """
        last = path.rpartition("/")[2]
        for each in self._files:
            if self._hashes[each.path] in self._wanted or each.path in self._compared:
                continue
            if each.side == side and each.name == path:
                return each.path
            if not each.side and each.name in (path, last):
                return each.path
        return None


def _hashes_of(claim: Claim) -> list[str]:
    found = [claim.child(side).sha256("sha256") for side in ("before", "after") if side in claim]
    for step in claim.items("steps"):
        found += [step.sha256("before"), step.sha256("after")]
    return [each for each in found if each is not None]


def _sha256(path: str) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while True:
            block = file.read(_BLOCK_BYTES)
            if not block:
                return digest.hexdigest()
            digest.update(block)
