"""Facts of a text that no line shows: its encoding, its byte order mark, how its lines end.

A comparison tells how they differ, so that nothing changes unseen.
"""

import codecs
import hashlib
from collections.abc import Iterator
from typing import Any

import msgspec

from kbd.errors import FileReadFailed
from kbd.formats import Change, ChangeKind, ChangeList, Place, Source
from kbd.plaintext.encodings import BLOCK_BYTES, Encoding, detect, open_text

__all__ = ["EndCount", "TextVersion", "add_bytes", "add_facts", "is_same_file", "read_version"]

_MARK = 3
"""Bytes of a byte order mark in UTF-8."""


class TextVersion(msgspec.Struct, frozen=True):
    """A version of a text.

    Args:
        source: The file.
        encoding: How its bytes are text.
        ends: How many lines end with LF, CRLF and CR, by these names, where there are some.
        is_ended: Whether the last line has an end, too.
        is_empty: Whether there is no text at all.
        longest: Characters that the longest line may have; exact to a block.
        zeros: Zero characters.
        replaced: Signs that stand for bytes which the encoding has no character for.
        is_big_endian: Whether a mark says that the first byte of a unit is the higher one.
    """

    source: Source
    encoding: Encoding
    ends: dict[str, int]
    is_ended: bool
    is_empty: bool
    longest: int = 0
    zeros: int = 0
    replaced: int = 0
    is_big_endian: bool = False

    @property
    def is_bytewise(self) -> bool:
        """Whether its lines are UTF-8 between line feeds, so that equal bytes are equal lines."""
        is_utf8 = self.encoding.name in ("utf-8", "utf-8-sig") and not self.encoding.repairs
        return is_utf8 and not self.zeros and "CR" not in self.ends


class EndCount(msgspec.Struct):
    """Lines of both versions that end otherwise: how many, and the first one, from 1.

    Args:
        count: Lines.
        first: The first one's number.
        is_same_text: Whether all of them say the same in both.
    """

    count: int = 0
    first: int = 0
    is_same_text: bool = True

    def add(self, number: int, before: str, after: str, *, is_same_text: bool = True) -> None:
        """Add a line by its ends, if they differ; a missing one is no other one."""
        if before != after and before and after:
            self.first = min(self.first or number, number)
            self.count += 1
            self.is_same_text &= is_same_text


def read_version(source: Source, *, allow_zeros: bool = False) -> TextVersion:
    """Look through a version once.

    Raises:
        FileReadFailed: It cannot be opened, or holds zeros and `allow_zeros` is not set.
    """
    encoding = detect(source.path)
    # Bytes are counted in a tenth of the time, and in UTF-8 they tell the same.
    is_utf8 = encoding.name in ("utf-8", "utf-8-sig")
    lf = crlf = cr = zeros = longest = run = replaced = 0
    last = carry = ""
    for block in _blocks(source, encoding, "latin-1" if is_utf8 else ""):
        replaced += block.count("\ufffd")
        zeros += block.count("\0")
        if zeros and not allow_zeros:
            raise FileReadFailed(f"{source.name} holds zero bytes: it is binary, not text")
        last = block[-1]
        # Between its first and its last line end a block can hold no line as long as itself.
        is_within = "\n" not in block and "\r" not in block
        run = run + len(block) if is_within else len(block)
        longest = max(longest, run)
        if carry or "\r" in block:
            block = carry + block
            # Its LF may be the first character of the next block.
            carry = "\r" if last == "\r" else ""
            block = block[: len(block) - len(carry)]
            pairs = block.count("\r\n")
            crlf += pairs
            lf -= pairs
            cr += block.count("\r") - pairs
        lf += block.count("\n")
    cr += bool(carry)
    ends = {"LF": lf, "CRLF": crlf, "CR": cr}
    found = {name: count for name, count in ends.items() if count}
    is_empty = not last or (encoding.name == "utf-8-sig" and source.path.stat().st_size <= _MARK)
    return TextVersion(
        source=source,
        encoding=encoding,
        ends=found,
        is_ended=last in ("\n", "\r"),
        is_empty=is_empty,
        longest=longest,
        zeros=zeros,
        replaced=replaced,
        is_big_endian=_is_big_endian(source, encoding),
    )


def _is_big_endian(source: Source, encoding: Encoding) -> bool:
    if encoding.name not in ("utf-16", "utf-32"):
        return False
    with source.path.open("rb") as file:
        return file.read(4).startswith((codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE))


def _blocks(source: Source, encoding: Encoding, codec: str) -> Iterator[str]:
    """Yield a text in blocks, with its line ends; by a codec that takes bytes for characters."""
    if codec:
        with source.path.open("rb") as file:
            while data := file.read(BLOCK_BYTES):
                yield data.decode(codec)
        return
    with open_text(source.path, encoding, newline="") as text:
        while block := text.read(BLOCK_BYTES):
            yield block


def is_same_file(before: Source, after: Source) -> bool:
    """Tell whether two versions are the same in every byte.

    Raises:
        FileReadFailed: One cannot be opened.
    """
    try:
        if before.path.stat().st_size != after.path.stat().st_size:
            return False
        with before.path.open("rb") as one, after.path.open("rb") as other:
            while block := one.read(BLOCK_BYTES):
                if block != other.read(BLOCK_BYTES):
                    return False
    except OSError as error:
        raise FileReadFailed(f"{after.name} cannot be opened") from error
    return True


def add_facts(
    changes: ChangeList, before: TextVersion, after: TextVersion, ends: EndCount | None = None
) -> None:
    """Add a change for each fact that differs, and the warnings about guesses.

    Args:
        changes: Where to add them.
        before: The older version.
        after: The newer version.
        ends: The equal lines that end otherwise, where lines were compared.
    """
    for version in (before, after):
        for warning in version.encoding.warnings:
            changes.warn(f"{version.source.name}: {warning}")
        if version.replaced:
            changes.warn(
                f"{version.source.name}: {version.replaced:,} bytes or signs that are no text in "
                f"{version.encoding.name} are read as U+FFFD: which ones they are is not compared"
            )
    if before.is_empty or after.is_empty:
        return
    old, new = before.encoding, after.encoding
    codecs = {old.name.removesuffix("-sig"), new.name.removesuffix("-sig")}
    if old.name != new.name and len(codecs) == 1:
        place = Place("byte order mark", part="byte order mark")
        is_new = new.name.endswith("-sig")
        changes.add(Change(place, "added" if is_new else "removed", "byte order mark"))
    elif old != new or before.is_big_endian != after.is_big_endian:
        names = [each.name + (" with stray bytes" if each.repairs else "") for each in (old, new)]
        if old.name == new.name and before.is_big_endian != after.is_big_endian:
            orders = [each.is_big_endian for each in (before, after)]
            names = [f"{old.name}, {'big' if is_big else 'little'}-endian" for is_big in orders]
        if names[0] != names[1]:
            changes.add(_fact("encoding", *names))
    _add_ends(changes, before, after, ends or EndCount())
    if before.zeros != after.zeros:
        changes.add(_fact("zero bytes", before.zeros, after.zeros))


def _add_ends(changes: ChangeList, before: TextVersion, after: TextVersion, ends: EndCount) -> None:
    is_other = before.ends and after.ends and before.ends.keys() != after.ends.keys()
    if is_other or ends.count:
        count = f"{ends.count:,} lines" if ends.count > 1 else "1 line"
        which = "with the same text" if ends.is_same_text else "of both versions"
        note = f"{count} {which}, from line {ends.first} on" if ends.count else ""
        change = _fact("line ending", _name_ends(before), _name_ends(after), note)
        changes.add(change)
    if before.is_ended != after.is_ended:
        kind: ChangeKind = "added" if after.is_ended else "removed"
        changes.add(Change(Place("final newline", part="final newline"), kind, "final newline"))


def _name_ends(version: TextVersion) -> str:
    if len(version.ends) == 1:
        return next(iter(version.ends))
    return ", ".join(f"{name} ({count:,})" for name, count in version.ends.items())


def _fact(what: str, before: Any, after: Any, note: str = "") -> Change:
    return Change(Place(what, part=what), "changed", what, before, after, note=note)


def add_bytes(changes: ChangeList, before: Source, after: Source) -> None:
    """Add one change where two files that read the same differ in their bytes.

    Raises:
        FileReadFailed: One cannot be read.
    """
    old, new = _digest(before), _digest(after)
    if old != new:
        note = "both read the same: they differ in bytes that are no text"
        changes.add(_fact("bytes", old, new, note))


def _digest(source: Source) -> dict[str, Any]:
    found = hashlib.sha256()
    try:
        with source.path.open("rb") as file:
            while block := file.read(BLOCK_BYTES):
                found.update(block)
            return {"size_bytes": file.tell(), "sha256": found.hexdigest()}
    except OSError as error:
        raise FileReadFailed(f"{source.name} cannot be opened") from error
