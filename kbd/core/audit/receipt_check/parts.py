"""The parts of a package, each compared with what a receipt claims of it."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any, Callable, Mapping, NamedTuple

from . import markup
from .claims import Claim
from .lists import Quota, check_keyed, check_sequence, count_listed
from .packages import Damaged, PackageReader, TooLarge

__all__ = ["Checks", "PartFacts", "check_parts", "compare_hashes", "compare_packed"]

MAX_PART_BYTES = 32 * 1024 * 1024
"""Larger parts are told as a whole."""

Fault = Callable[[str, str], None]
"""Takes the part and what is wrong with it."""

Checks = Mapping[str, ModuleType]
"""The `receipt_check` of formats, by the content types that they read."""


class PartFacts(NamedTuple):
    """What was proven of a part.

    Args:
        name: Its name.
        title: What it is called in its file, or "".
        status: "identical", "changed", "added" or "removed".
        by: The steps that changed it.
        lists: How many entries differ of each list.
        note: What is not told of it, or "".
    """

    name: str
    title: str
    status: str
    by: tuple[int, ...]
    lists: tuple[tuple[str, int], ...] = ()
    note: str = ""


def check_parts(
    claim: Claim,
    versions: Sequence[PackageReader | None],
    steps: Sequence[int] | None,
    checks: Checks,
    allowance: Quota,
    fault: Fault,
) -> list[PartFacts]:
    """Compare the parts of a package with what is claimed of them.

    Args:
        claim: What the receipt says of the inside of the file.
        versions: The package as each step found it and left it, or before and after all; None
            where there was no file.
        steps: The numbers of the steps between them; None if the steps are not checked.
        checks: What formats' parts hold.
        allowance: How many entries of lists are shown.
        fault: Takes what is wrong.

    Raises:
        TooLarge: They are past a limit.
    """
    return _Parts(versions, steps, checks, allowance, fault).run(claim)


class _Parts:
    """One check of a package."""

    def __init__(
        self,
        versions: Sequence[PackageReader | None],
        steps: Sequence[int] | None,
        checks: Checks,
        allowance: Quota,
        fault: Fault,
    ) -> None:
        self._versions, self._steps, self._checks, self._fault = versions, steps, checks, fault
        self._allowance = allowance
        self._hashes: list[dict[str, str]] = []
        self._titles: dict[int, dict[str, str]] = {}

    def run(self, claim: Claim) -> list[PartFacts]:
        self._hashes = [_all_hashes(each, self._fault) for each in self._versions]
        before, after = self._hashes[0], self._hashes[-1]
        proven: list[PartFacts] = []
        claimed: set[str] = set()
        last = ""
        for part in claim.items("parts"):
            name = part.text("part")
            if name in claimed:
                self._fault(name, "the receipt tells of it twice")
            elif name < last:
                self._fault(name, "the receipt tells of it out of order")
            claimed.add(name)
            last = name
            found = self._part(part, name, before.get(name), after.get(name))
            if found is not None:
                proven.append(found)
        for name in sorted({*before, *after} - claimed):
            self._fault(name, "the file has this part, and the receipt does not tell of it")
        return proven

    def _part(
        self, claim: Claim, name: str, before: str | None, after: str | None
    ) -> PartFacts | None:
        said = claim.text("status")
        real = _status(before, after)
        hashes = (claim.sha256("before"), claim.sha256("after"))
        if said == "identical":
            claim.only("part", "status", "sha256")
            hashes = (claim.sha256("sha256"),) * 2
        if said != real:
            self._fault(name, f"the receipt says that it is {said}; it is {real}")
            return None
        if hashes != (before, after):
            self._fault(name, "its hashes are not those of the receipt")
            return None
        if real == "identical":
            return PartFacts(name, "", real, ())
        claim.only("part", "status", "before", "after", "by", "title", "inside")
        by = claim.numbers("by")
        if self._steps is not None:
            touched = [
                step
                for at, step in enumerate(self._steps)
                if self._hashes[at].get(name) != self._hashes[at + 1].get(name)
            ]
            if by != touched:
                self._fault(name, f"it was changed by {touched}, the receipt says by {by}")
        title = claim.text("title", "")
        lists, note = self._inside(claim, name, real, title)
        return PartFacts(name, title, real, tuple(by), lists, note)

    def _inside(
        self, claim: Claim, name: str, status: str, title: str
    ) -> tuple[tuple[tuple[str, int], ...], str]:
        """Compare what a part holds with what is claimed; return what differs, or a note."""
        shown = self._versions[-1] if status != "removed" else self._versions[0]
        assert shown is not None
        kind, module = self._kind(shown, name)
        if title != self._title(shown, module, name):
            self._fault(name, f"it is not called {title!r} in the file")
        is_told = kind is not None and (status == "changed" or kind != "elements")
        if "inside" not in claim:
            if is_told:
                self._fault(name, "the receipt does not tell what differs in it")
            return (), ""
        inside = claim.child("inside")
        inside.only("kind", "unread" if "unread" in inside else "lists")
        if not is_told or inside.text("kind") != kind:
            self._fault(name, f"the receipt takes it for {inside.text('kind')!r}")
            return (), ""
        versions, steps = self._around(name)
        sizes = [each.size(name) for each in versions if each is not None and name in each.infos]
        unread = inside.text("unread", "")
        if unread == "large" and max(sizes) > MAX_PART_BYTES:
            return (), "large: told as a whole"
        if unread:
            return (), f"the receipt does not tell what differs in it ({unread})"
        try:
            read = [self._read(kind or "", module, each, name) for each in versions]
        except Damaged as error:
            self._allowance.take_all(count_listed(inside.child("lists")))
            return (), f"what the receipt tells of it cannot be checked: {error}"
        return self._lists(inside.child("lists"), name, read, steps), ""

    def _around(self, name: str) -> tuple[list[PackageReader | None], list[int] | None]:
        """Return the versions around the steps that changed a part, and the steps."""
        if self._steps is None:
            return [self._versions[0], self._versions[-1]], None
        versions, steps = [self._versions[0]], []
        for at, step in enumerate(self._steps):
            if self._hashes[at].get(name) != self._hashes[at + 1].get(name):
                versions.append(self._versions[at + 1])
                steps.append(step)
        return versions, steps

    def _kind(self, package: PackageReader, name: str) -> tuple[str | None, ModuleType | None]:
        try:
            content = package.content_type(name)
        except Damaged:
            content = ""
        module = self._checks.get(content)
        if module is not None:
            return module.TYPES[content], module
        lowered = name.lower()
        is_xml = lowered.endswith((".xml", ".rels")) or content.endswith("xml")
        return ("elements" if is_xml else None), None

    def _title(self, package: PackageReader, module: ModuleType | None, name: str) -> str:
        if module is None:
            return ""
        if id(package) not in self._titles:
            try:
                self._titles[id(package)] = module.part_titles(package, markup)
            except Damaged:
                self._titles[id(package)] = {}
        return self._titles[id(package)].get(name.lower(), "")

    def _read(
        self, kind: str, module: ModuleType | None, package: PackageReader | None, name: str
    ) -> dict[str, Any] | None:
        if package is None or name not in package.infos:
            return None
        if module is not None:
            found: dict[str, Any] = module.read_part(kind, package, name, markup)
            return found
        parsed = markup.item_sequence(package.blocks(name), frozenset(), _describe_nothing)
        return {"elements": ("element", parsed["elements"], None)}

    def _lists(
        self,
        claim: Claim,
        part: str,
        versions: Sequence[dict[str, Any] | None],
        steps: Sequence[int] | None,
    ) -> tuple[tuple[str, int], ...]:
        model = next(each for each in versions if each is not None)
        if set(claim.value) != set(model):
            self._fault(part, "the receipt tells of other lists than it holds")
            return ()
        counts: list[tuple[str, int]] = []

        def told(text: str) -> None:
            self._fault(part, text)

        for name, (noun, _, write) in model.items():
            empty: Any = [] if write is None else {}
            held = [empty if each is None else each[name][1] for each in versions]
            if write is None:
                gone, came = check_sequence(
                    claim.child(name), noun, held, steps, self._allowance, told
                )
                counts.append((name, max(gone, came)))
            else:
                count = check_keyed(
                    claim.child(name), noun, held, write, steps, self._allowance, told
                )
                counts.append((name, count))
        return tuple(counts)


def _describe_nothing(_: markup.Element) -> dict[str, Any]:
    return {}


def _status(before: str | None, after: str | None) -> str:
    if before == after:
        return "identical" if before is not None else "in none of the versions"
    if before is None:
        return "added"
    return "removed" if after is None else "changed"


def _all_hashes(package: PackageReader | None, fault: Fault) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in package.infos if package is not None else ():
        assert package is not None
        try:
            found[name] = package.sha256(name)
        except TooLarge:
            raise
        except Damaged as error:
            fault(name, str(error))
            found[name] = "damaged"
    return found


def compare_packed(claim: Claim, package: PackageReader, other: PackageReader, fault: Fault) -> int:
    """Compare how untouched parts lie packed in two versions; return how many differ.

    Args:
        claim: What the receipt says of the inside of the file.
        package: A version whose bytes are not what they were, though its parts are.
        other: The other version, which is what it was.
        fault: Takes what is wrong.
    """
    count = 0
    for part in claim.items("parts"):
        name = part.text("part")
        if part.text("status") != "identical" or name not in package.infos:
            continue
        if name in other.infos and package.packed_sha256(name) != other.packed_sha256(name):
            fault(name, "it is packed otherwise, though to the same bytes (no call touched it)")
            count += 1
    return count


def compare_hashes(claim: Claim, package: PackageReader, side: str, fault: Fault) -> int:
    """Compare the parts of one version with their hashes; return how many are right.

    Args:
        claim: What the receipt says of the inside of the file.
        package: The version.
        side: "before" or "after".
        fault: Takes what is wrong.

    Raises:
        TooLarge: It is past a limit.
    """
    right = 0
    claimed: set[str] = set()
    for part in claim.items("parts"):
        name, status = part.text("part"), part.text("status")
        wanted = part.sha256("sha256" if status == "identical" else side)
        if wanted is None:
            continue
        claimed.add(name)
        told = "no call touched it" if status == "identical" else f"{status} by {part.value['by']}"
        if name not in package.infos:
            fault(name, f"it is missing ({told})")
            continue
        try:
            found = package.sha256(name)
        except TooLarge:
            raise
        except Damaged as error:
            fault(name, f"{error} ({told})")
            continue
        if found != wanted:
            fault(name, f"its bytes are not what they were ({told})")
        else:
            right += 1
    for name in package.infos:
        if name not in claimed:
            fault(name, "this part does not belong to the file")
    return right
