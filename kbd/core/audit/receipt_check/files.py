"""One file of a receipt: its versions, compared with what the receipt claims of them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any, BinaryIO, NamedTuple

from .claims import Claim, Ill
from .lists import Quota, check_sequence
from .markup import cut_text
from .packages import Damaged, PackageReader, TooLarge
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


_STEP = (
    "seq", "time", "kind", "before", "after", "tool", "run_id", "item", "call_id", "entry_id",
    "arguments_sha256",
)  # fmt: skip
_HOLDS = {"package": "parts", "lines": "lists"}
"""Where each kind of `inside` tells what differs."""

_KINDS = ("tool_call", "client_call", "added", "adopted", "removed", "forked")


def _check_step(step: Claim) -> None:
    """Refuse a step that says what none says."""
    for each in (step, step.child("repeats")) if "repeats" in step else (step,):
        each.only(*_STEP, *(("repeats",) if each is step else ()))
        each.count("seq")
        each.text("time")
        if each.text("kind") not in _KINDS:
            raise Ill(f"a step is called {each.text('kind')!r}")
        for name in ("tool", "run_id", "call_id"):
            each.text(name, "")
        for name in ("item", "entry_id"):
            if name in each:
                each.count(name)
        each.sha256("arguments_sha256")


def steps_of(claim: Claim) -> tuple[list[int], list[str | None]] | None:
    """Return the steps' numbers and the hashes of the versions around them; None if not whole."""
    steps = claim.items("steps")
    if not claim.flag("steps_complete") or not steps:
        return None
    numbers = [step.count("seq") for step in steps]
    hashes = [steps[0].sha256("before"), *(step.sha256("after") for step in steps)]
    return numbers, hashes


def check_file(
    claim: Claim,
    found: Mapping[str | None, Version | None],
    checks: Checks,
    allowance: Quota,
    *,
    has_calls: bool,
) -> FileFacts:
    """Check one file of a receipt.

    Args:
        claim: What the receipt says of it.
        found: Its versions, by their hashes, as far as they are at hand.
        checks: What formats' parts hold.
        allowance: How many entries of lists are shown of it.
        has_calls: Whether calls changed it: it is not an undo or a restore.

    Raises:
        Ill: The receipt is none.
        OSError: A version cannot be read.
    """
    facts = _File(claim, found, checks, allowance).run()
    if not has_calls and claim.items("steps"):
        facts = facts._replace(faults=(*facts.faults, "no call makes an undo or a restore"))
    if has_calls and not claim.flag("steps_complete"):
        told = "the receipt does not tell all calls that made it"
        facts = facts._replace(unproven=(*facts.unproven, told))
    return facts


class _File:
    """One check of a file."""

    def __init__(
        self,
        claim: Claim,
        found: Mapping[str | None, Version | None],
        checks: Checks,
        allowance: Quota,
    ) -> None:
        self._claim, self._found, self._checks = claim, found, checks
        self._allowance = allowance
        self._faults: list[str] = []
        self._unproven: list[str] = []
        self._proven: list[str] = []
        self._parts: list[PartFacts] = []

    def run(self) -> FileFacts:
        claim = self._claim
        path, change = claim.text("path"), claim.text("change")
        if change not in _CHANGES:
            self._faults.append(f"the receipt calls its change {change!r}")
        claim.only(
            "path", "change", "before", "after", "steps", "steps_complete", "inside",
            *(("previous_path",) if change == "renamed" else ()),
            *(("beside",) if change == "kept_both" else ()),
        )  # fmt: skip
        for name in ("previous_path", "beside"):
            claim.text(name, "")
        for step in claim.items("steps"):
            _check_step(step)
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
        if side not in self._claim:
            return None
        version = self._claim.child(side)
        version.only("sha256", "size_bytes")
        version.count("size_bytes")
        return version.sha256("sha256")

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
        steps = self._claim.items("steps")
        if chain is None:
            if self._claim.flag("steps_complete") and before != after:
                self._faults.append("the receipt calls its steps complete, and has none")
            if steps and steps[-1].sha256("after") != after:
                self._faults.append("its steps do not lead to the version after")
        for one, other in zip(steps, steps[1:]):
            if one.sha256("after") != other.sha256("before") or one.count("seq") >= other.count(
                "seq"
            ):
                self._faults.append("its steps do not follow from each other")
                return
        if chain is None:
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
            if size != self._claim.child(side).count("size_bytes"):
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
            except TooLarge as error:
                self._unproven.append(f"{version.path}: {error}")
                continue
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
                "directory of the zip or its headers, or in how a changed part is packed"
            )

    def _inside(self, before: str | None, after: str | None) -> None:
        """Compare what the file holds with what is claimed."""
        differs = after is not None and before != after
        if differs != ("inside" in self._claim):
            told = "does not tell" if differs else "tells of two versions"
            self._faults.append(f"the receipt {told} what differs in it")
            return
        if not differs:
            return
        inside = self._claim.child("inside")
        kind, unread = inside.text("kind"), inside.text("unread", "")
        inside.only("kind", "unread" if unread else _HOLDS.get(kind, "kind"))
        hashes, steps = self._line_of_versions(before, after)
        if unread:
            # Of a package each part is told by itself, however large the file is.
            is_true = unread == "large" and self._is_large(hashes)
            if is_true and not self._is_told_by_parts(hashes):
                self._proven.append("told as a whole: it is large")
            else:
                self._unproven.append(f"the receipt does not tell what differs in it ({unread})")
        elif kind == "package":
            self._package(inside, hashes, steps)
        elif kind == "lines":
            self._lines(inside, hashes, steps)
        elif kind == "file" and not self._is_told_by_parts(hashes):
            self._proven.append("told as a whole: the receipt claims nothing of what is in it")
        elif kind == "file":
            self._unproven.append("the receipt does not tell what differs in its parts")
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

    def _is_large(self, hashes: Sequence[str | None]) -> bool:
        """Return whether a version is so large that a plain file is told as a whole."""
        for sha256 in {each for each in hashes if each}:
            with self._open(sha256) as file:
                data = file.read(MAX_BYTES + 1)
            if len(data) > MAX_BYTES or data.count(b"\n") > MAX_LINES:
                return True
        return False

    def _is_told_by_parts(self, hashes: Sequence[str | None]) -> bool:
        """Return whether a version is a package with parts that are taken apart."""
        for sha256 in {each for each in hashes if each}:
            try:
                with self._open(sha256) as file:
                    package = PackageReader(file)
                    if any(package.content_type(name) in self._checks for name in package.infos):
                        return True
            except Damaged:
                continue
        return False

    def _package(
        self, inside: Claim, hashes: Sequence[str | None], steps: Sequence[int] | None
    ) -> None:
        with ExitStack() as stack:
            try:
                packages = [self._package_of(stack, each) for each in hashes]
                self._parts = check_parts(
                    inside, packages, steps, self._checks, self._allowance, self._part_fault
                )
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
        lists = inside.child("lists")
        lists.only("lines")
        gone, came = check_sequence(
            lists.child("lines"), "line", versions, steps, self._allowance, self._faults.append
        )
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
