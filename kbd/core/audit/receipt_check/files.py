"""One file of a receipt: its versions, compared with what the receipt claims of them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any, BinaryIO, NamedTuple

from .claims import Claim
from .lists import check_sequence
from .markup import cut_text
from .packages import Damaged, PackageReader
from .parts import Checks, PartFacts, check_parts, compare_hashes, compare_packed

__all__ = ["FileFacts", "Version", "check_file", "steps_of"]

MAX_BYTES = 32 * 1024 * 1024
MAX_LINES = 1_000_000
MAX_FAULTS = 50


class Version(NamedTuple):
    """A version that is at hand.

    Args:
        path: Where.
        is_exact: Whether its bytes have the hash of the receipt; else it only bears the name.
    """

    path: str
    is_exact: bool


class FileFacts(NamedTuple):
    """What was found of a file.

    Args:
        path: Its name in the workbench.
        change: What happened to it.
        faults: What is wrong.
        unproven: What could not be checked, and why.
        proven: What was.
        parts: Of a package, its parts.
    """

    path: str
    change: str
    faults: tuple[str, ...]
    unproven: tuple[str, ...]
    proven: tuple[str, ...] = ()
    parts: tuple[PartFacts, ...] = ()


_CHANGES = ("added", "modified", "deleted", "renamed", "kept_both", "left")


def steps_of(claim: Claim) -> tuple[list[int], list[str | None]] | None:
    """Return the steps' numbers and the hashes of the versions around them; None if not whole."""
    steps = claim.items("steps")
    if claim.value.get("steps_complete") is not True or not steps:
        return None
    numbers = [step.count("seq") for step in steps]
    hashes = [steps[0].sha256("before"), *(step.sha256("after") for step in steps)]
    return numbers, hashes


def check_file(
    claim: Claim, found: Mapping[str | None, Version | None], checks: Checks
) -> FileFacts:
    """Check one file of a receipt.

    Args:
        claim: What the receipt says of it.
        found: Its versions, by their hashes, as far as they are at hand.
        checks: What formats' parts hold.

    Raises:
        Ill: The receipt is none.
        OSError: A version cannot be read.
    """
    return _File(claim, found, checks).run()


class _File:
    """One check of a file."""

    def __init__(
        self, claim: Claim, found: Mapping[str | None, Version | None], checks: Checks
    ) -> None:
        self._claim, self._found, self._checks = claim, found, checks
        self._faults: list[str] = []
        self._unproven: list[str] = []
        self._proven: list[str] = []
        self._parts: list[PartFacts] = []

    def run(self) -> FileFacts:
        claim = self._claim
        path, change = claim.text("path"), claim.text("change")
        if change not in _CHANGES:
            self._faults.append(f"the receipt calls its change {change!r}")
        hashes = {side: self._hash(side) for side in ("before", "after")}
        self._check_kind(change, hashes["before"], hashes["after"])
        self._check_chain(hashes["before"], hashes["after"])
        versions = {side: self._version(side, sha256) for side, sha256 in hashes.items()}
        is_whole = all(each is None or each.is_exact for each in versions.values())
        for side, sha256 in hashes.items():
            if sha256 is not None and versions[side] is None:
                is_whole = False
                self._unproven.append(f"the version {side} is not at hand (sha256 {sha256[:16]}…)")
        if is_whole:
            self._inside(hashes["before"], hashes["after"])
        else:
            self._by_name(versions)
        return FileFacts(
            path, change, tuple(self._faults[:MAX_FAULTS]), tuple(self._unproven),
            tuple(self._proven), tuple(self._parts),
        )  # fmt: skip

    def _hash(self, side: str) -> str | None:
        return self._claim.child(side).sha256("sha256") if side in self._claim else None

    def _check_kind(self, change: str, before: str | None, after: str | None) -> None:
        """Compare what the change is called with the hashes."""
        fits = {
            "added": before is None and after is not None,
            "modified": None not in (before, after) and before != after,
            "deleted": before is not None and after is None,
            "renamed": before is not None and before == after and "previous_path" in self._claim,
            "kept_both": after is not None,
            "left": after is None,
        }
        if not fits.get(change, False):
            self._faults.append(f"the receipt calls it {change}, which its hashes do not bear out")

    def _check_chain(self, before: str | None, after: str | None) -> None:
        """Compare the steps with each other and with the versions they lead from and to."""
        chain = steps_of(self._claim)
        if chain is None:
            return
        steps = self._claim.items("steps")
        for one, other in zip(steps, steps[1:]):
            if one.sha256("after") != other.sha256("before") or one.count("seq") >= other.count(
                "seq"
            ):
                self._faults.append("its steps do not follow from each other")
                return
        is_renamed = self._claim.text("change") == "renamed"
        if chain[1][-1] != after or (chain[1][0] != before and not is_renamed):
            self._faults.append("its steps do not lead from the version before to that after")

    def _version(self, side: str, sha256: str | None) -> Version | None:
        if sha256 is None:
            return None
        version = self._found.get(sha256) or self._found.get(side)
        if version is None:
            return None
        if version.is_exact:
            size = _size_of(version.path)
            if size != self._claim.child(side).value.get("size_bytes"):
                self._faults.append(f"the version {side} has {size} bytes, the receipt says other")
            self._proven.append(f"{side} {sha256[:16]}… {size:,} bytes")
        else:
            self._faults.append(
                f"{version.path} is not the version {side}: its sha256 is not {sha256[:16]}…"
            )
        return version

    def _part_fault(self, part: str, text: str) -> None:
        self._faults.append(f"part {part}: {text}")

    def _by_name(self, versions: Mapping[str, Version | None]) -> None:
        """Compare the parts of versions of which not all are at hand, or not exact."""
        if "inside" not in self._claim:
            return
        inside = self._claim.child("inside")
        if inside.text("kind") != "package":
            return
        for side, version in versions.items():
            if version is None:
                continue
            known = len(self._faults)
            try:
                with open(version.path, "rb") as file:
                    package = PackageReader(file)
                    right = compare_hashes(inside, package, side, self._part_fault)
                    if not version.is_exact and len(self._faults) == known:
                        self._packed(inside, package, versions)
            except Damaged as error:
                self._faults.append(f"{version.path}: {error}")
                continue
            if version.is_exact:
                self._proven.append(f"{right} parts {side} have their hashes")

    def _packed(
        self, inside: Claim, package: PackageReader, versions: Mapping[str, Version | None]
    ) -> None:
        """Tell where a version differs of which each part is what it was."""
        found = 0
        for version in versions.values():
            if version is not None and version.is_exact:
                with open(version.path, "rb") as file:
                    found += compare_packed(inside, package, PackageReader(file), self._part_fault)
        if not found:
            self._faults.append(
                "each part is what the receipt says; what differs lies between them, in the "
                "directory of the zip or its headers"
            )

    def _inside(self, before: str | None, after: str | None) -> None:
        """Compare what the file holds with what is claimed."""
        if "inside" not in self._claim:
            if self._claim.text("change") in ("added", "modified"):
                self._faults.append("the receipt does not tell what differs in it")
            return
        inside = self._claim.child("inside")
        kind, unread = inside.text("kind"), inside.text("unread", "")
        hashes, steps = self._line_of_versions(before, after)
        if unread:
            if unread == "large" and self._largest(hashes) > MAX_BYTES:
                self._proven.append("told as a whole: it is large")
            else:
                self._unproven.append(f"the receipt does not tell what differs in it ({unread})")
        elif kind == "package":
            self._package(inside, hashes, steps)
        elif kind == "lines":
            self._lines(inside, hashes, steps)
        elif kind == "file":
            self._proven.append("told as a whole: the receipt claims nothing of what is in it")
        else:
            self._faults.append(f"the receipt takes it for {kind!r}")

    def _line_of_versions(
        self, before: str | None, after: str | None
    ) -> tuple[list[str | None], list[int] | None]:
        """Return the versions to compare, and the steps between them if those can be checked."""
        chain = steps_of(self._claim)
        if chain is None:
            return [before, after], [0]
        numbers, hashes = chain
        if hashes[0] != before or hashes[-1] != after:
            return [before, after], [0]
        if len(numbers) > 100:
            hashes, numbers = [before, *hashes[-101:]], [0, *numbers[-100:]]
        missing = [
            each for each in hashes[1:-1]
            if each is not None and not self._is_at_hand(each)
        ]  # fmt: skip
        if missing:
            self._unproven.append(
                f"which call changed what: {len(missing)} of the versions between are not at hand"
            )
            return [before, after], None
        return hashes, numbers

    def _is_at_hand(self, sha256: str) -> bool:
        version = self._found.get(sha256)
        return version is not None and version.is_exact

    def _largest(self, hashes: Sequence[str | None]) -> int:
        paths = [version.path for each in hashes if each and (version := self._found.get(each))]
        return max((_size_of(path) for path in paths), default=0)

    def _package(
        self, inside: Claim, hashes: Sequence[str | None], steps: Sequence[int] | None
    ) -> None:
        with ExitStack() as stack:
            try:
                packages = [self._package_of(stack, each) for each in hashes]
                self._parts = check_parts(inside, packages, steps, self._checks, self._part_fault)
            except Damaged as error:
                self._unproven.append(f"it cannot be read as a package: {error}")
        self._unproven += [
            f"part {each.name}: {each.note}" for each in self._parts
            if each.note and not each.note.startswith("large")
        ]  # fmt: skip

    def _package_of(self, stack: ExitStack, sha256: str | None) -> PackageReader | None:
        if sha256 is None:
            return None
        return PackageReader(stack.enter_context(self._open(sha256)))

    def _open(self, sha256: str) -> BinaryIO:
        version = self._found[sha256]
        assert version is not None
        return open(version.path, "rb")

    def _lines(
        self, inside: Claim, hashes: Sequence[str | None], steps: Sequence[int] | None
    ) -> None:
        versions: list[list[Any]] = []
        for each in hashes:
            data = b""
            if each is not None:
                with self._open(each) as file:
                    data = file.read(MAX_BYTES + 1)
            if len(data) > MAX_BYTES or data.count(b"\n") > MAX_LINES:
                self._faults.append("the receipt tells of lines of a file that is too large")
                return
            versions.append(_lines_of(data))
        claim = inside.child("lists").child("lines")
        gone, came = check_sequence(claim, "line", versions, steps, self._faults.append)
        self._proven.append(f"lines: {gone} before, {came} after differ, no others")


def _size_of(path: str) -> int:
    with open(path, "rb") as file:
        return file.seek(0, 2)


def _lines_of(data: bytes) -> list[Any]:
    """Return the lines of a file, each with its digest; a last one without an end is another."""
    found = []
    for line in _split(data):
        text = line[:-1] if line.endswith(b"\n") else line
        if text.endswith(b"\r"):
            text = text[:-1]
        shown = cut_text("text", text.decode("utf-8", "replace"))
        found.append((hashlib.sha256(line).hexdigest(), shown))
    return found


def _split(data: bytes) -> list[bytes]:
    lines = [each + b"\n" for each in data.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]
