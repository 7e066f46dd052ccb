"""Facts for receipts: what differs between versions of a file, in lists that others can recompute.

A receipt is checked by code that shares nothing with this, so each fact is defined by the bytes
alone. `docs/reference/receipts.md` has the definitions; this is one of two implementations.

A list is one of two kinds. Of a *keyed* one (cells, rows) the entries stand under an address, and
what differs is what differs at an address. Of a *sequence* (paragraphs, shapes, lines, elements)
the items have an order and no names: an alignment says which stretches differ, and whoever checks
it compares all that is left out with each other, so that the alignment need not be believed.

Each list has everything in its digest, and shows its first entries.
"""

import hashlib
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from kbd.formats.alignment import align

__all__ = [
    "MAX_LISTED",
    "MAX_LISTED_OF_FILE",
    "MAX_PART_BYTES",
    "MAX_STRETCHES",
    "MAX_TEXT_CHARACTERS",
    "Allowance",
    "ReceiptItem",
    "canonical_json",
    "cut_text",
    "keyed_facts",
    "sequence_facts",
]

MAX_LISTED = 200
"""Entries of a list that are shown; all count, and all are in its digest."""

MAX_LISTED_OF_FILE = 4000
"""Entries that are shown of all lists of a file."""

MAX_TEXT_CHARACTERS = 200
"""Characters of a text that are shown; all of it is in the digest of what it stands in."""

MAX_STRETCHES = 1000
"""Stretches that a sequence is compared by; the last one takes in what more there were."""

MAX_PART_BYTES = 32 * 1024 * 1024
"""Larger parts, and plain files, are told as a whole."""


class ReceiptItem(NamedTuple):
    """One entry of a list.

    Args:
        digest: What must be equal for two to be equal: 64 hex digits.
        facts: What is shown of it.
    """

    digest: str
    facts: Mapping[str, Any]

    @property
    def shown(self) -> dict[str, Any]:
        """What stands in the receipt."""
        return {**self.facts, "digest": self.digest}


class Allowance:
    """Entries that may still be shown of a file.

    Args:
        left: How many.
    """

    def __init__(self, left: int = MAX_LISTED_OF_FILE) -> None:
        self._left = left

    def take(self, wanted: int) -> int:
        """Return how many of the entries of a list may be shown."""
        given = min(wanted, self._left, MAX_LISTED)
        self._left -= given
        return given


def canonical_json(value: Any) -> bytes:
    """Return the one form in which a value is written: keys sorted, no blanks, UTF-8."""
    return msgspec.json.encode(value, order="deterministic")


def cut_text(name: str, text: str) -> dict[str, Any]:
    """Return a text under a name; of a long one the beginning, and how many characters it has.

    What no UTF-8 can hold (a lone half of a pair) becomes U+FFFD.
    """
    whole = text.encode("utf-8", "replace").decode() if not text.isascii() else text
    if len(whole) <= MAX_TEXT_CHARACTERS:
        return {name: whole}
    return {name: whole[:MAX_TEXT_CHARACTERS], f"{name}_characters": len(whole)}


def keyed_facts(
    noun: str,
    versions: Sequence[Mapping[Any, ReceiptItem]],
    steps: Sequence[int],
    allowance: Allowance,
    write_key: Callable[[Any], str] = str,
) -> dict[str, Any]:
    """Return what differs between the first and the last version of a keyed list.

    Args:
        noun: What an address is called ("cell").
        versions: The list as each step found it and left it: one more than there are steps. An
            address that no step changed may be left out of all.
        steps: The numbers of the steps.
        allowance: How many entries may be shown.
        write_key: Writes an address; addresses are told in their own order.
    """
    before, after = versions[0], versions[-1]
    keys = sorted(
        key for key in {*before, *after} if _digest_at(before, key) != _digest_at(after, key)
    )
    digest = hashlib.sha256()
    listed: list[dict[str, Any]] = []
    shown = allowance.take(len(keys))
    for key in keys:
        entry = {
            noun: write_key(key),
            "before": before[key].shown if key in before else None,
            "after": after[key].shown if key in after else None,
        }
        digest.update(canonical_json(entry) + b"\n")
        if len(listed) < shown:
            touched = [
                step
                for at, step in enumerate(steps)
                if _digest_at(versions[at], key) != _digest_at(versions[at + 1], key)
            ]
            listed.append({**entry, "by": touched})
    return {"total": len(keys), "digest": digest.hexdigest(), "listed": listed}


def _digest_at(version: Mapping[Any, ReceiptItem], key: Any) -> str | None:
    found = version.get(key)
    return found.digest if found is not None else None


class _Stretch(NamedTuple):
    """Stretch that differs: items `[i1:i2]` before are items `[j1:j2]` after."""

    i1: int
    i2: int
    j1: int
    j2: int


def sequence_facts(
    versions: Sequence[Sequence[ReceiptItem]], steps: Sequence[int], allowance: Allowance
) -> dict[str, Any]:
    """Return what differs between the first and the last version of a sequence.

    Args:
        versions: The items as each step found them and left them: one more than there are steps.
        steps: The numbers of the steps.
        allowance: How many items may be shown.
    """
    before, after = versions[0], versions[-1]
    digests = [[item.digest for item in version] for version in versions]
    stretches = _stretches(digests[0], digests[-1])
    makers = _Makers(digests, steps)
    whole = hashlib.sha256()
    left = allowance.take(sum(each.i2 - each.i1 + each.j2 - each.j1 for each in stretches))
    told = []
    for stretch in stretches:
        sides: dict[str, list[dict[str, Any]]] = {"before": [], "after": []}
        by = makers.of(stretch)
        for side, items, start in (
            ("before", before[stretch.i1 : stretch.i2], stretch.i1),
            ("after", after[stretch.j1 : stretch.j2], stretch.j1),
        ):
            for index, item in enumerate(items, start):
                whole.update(canonical_json([side, item.shown]) + b"\n")
                if left:
                    own = {"by": makers.of_item(side, index)} if len(by) > 1 else {}
                    sides[side].append({**item.shown, **own})
                    left -= 1
        told.append(
            {
                "before_at": stretch.i1 + 1,
                "before_count": stretch.i2 - stretch.i1,
                "after_at": stretch.j1 + 1,
                "after_count": stretch.j2 - stretch.j1,
                **sides,
                "by": by,
            }
        )
    return {
        "before_total": len(before),
        "after_total": len(after),
        "digest": whole.hexdigest(),
        "stretches": told,
    }


def _stretches(before: Sequence[str], after: Sequence[str]) -> list[_Stretch]:
    """Align two versions; return what differs, neighbors as one, each end of it differing."""
    found: list[_Stretch] = []
    for block in align(before, after):
        if block.kind == "equal":
            continue
        if (found and (found[-1].i2, found[-1].j2) == (block.i1, block.j1)) or len(
            found
        ) == MAX_STRETCHES:
            found[-1] = _Stretch(found[-1].i1, block.i2, found[-1].j1, block.j2)
        else:
            found.append(_Stretch(block.i1, block.i2, block.j1, block.j2))
    return [_trimmed(each, before, after) for each in found]


def _trimmed(stretch: _Stretch, before: Sequence[str], after: Sequence[str]) -> _Stretch:
    i1, i2, j1, j2 = stretch
    while i1 < i2 and j1 < j2 and before[i1] == after[j1]:
        i1, j1 = i1 + 1, j1 + 1
    while i1 < i2 and j1 < j2 and before[i2 - 1] == after[j2 - 1]:
        i2, j2 = i2 - 1, j2 - 1
    return _Stretch(i1, i2, j1, j2)


class _Makers:
    """Which steps made the stretches of a sequence.

    An item that came is followed back to the step across which it was not there, one that went
    forward to the step across which it is not there any more. How often an item like it stands in
    each version proves the step, or shows that only several can be named.

    Args:
        digests: The versions.
        steps: The numbers of the steps.
    """

    def __init__(self, digests: Sequence[Sequence[str]], steps: Sequence[int]) -> None:
        self._digests, self._steps = digests, steps
        self._changing = [at for at in range(len(steps)) if digests[at] != digests[at + 1]]
        self._counts = [Counter(version) for version in digests] if self._is_shared else []
        self._forward: dict[int, _Map] = {}
        self._backward: dict[int, _Map] = {}
        for at in self._changing if self._is_shared else ():
            stretches = _stretches(digests[at], digests[at + 1])
            self._forward[at] = _Map(stretches, forward=True)
            self._backward[at] = _Map(stretches, forward=False)

    @property
    def _is_shared(self) -> bool:
        return len(self._changing) > 1

    def of(self, stretch: _Stretch) -> list[int]:
        """Return the numbers of the steps that made a stretch, in order."""
        if not self._is_shared:
            return [self._steps[at] for at in self._changing]
        found: set[int] = set()
        for index in range(stretch.i1, stretch.i2):
            found |= self._removers(index)
        for index in range(stretch.j1, stretch.j2):
            found |= self._adders(index)
        return [self._steps[at] for at in sorted(found)]

    def of_item(self, side: str, index: int) -> list[int]:
        """Return the numbers of the steps that made one item come or go, in order."""
        found = self._adders(index) if side == "after" else self._removers(index)
        return [self._steps[at] for at in sorted(found)]

    def _removers(self, index: int) -> set[int]:
        digest = self._digests[0][index]
        possible = {
            at for at in self._changing if self._counts[at][digest] > self._counts[at + 1][digest]
        }
        for at in self._changing:
            there = self._forward[at].find(index)
            if there is None:
                return self._settled(at, possible)
            index = there
        return possible or {*self._changing}

    def _adders(self, index: int) -> set[int]:
        digest = self._digests[-1][index]
        possible = {
            at for at in self._changing if self._counts[at][digest] < self._counts[at + 1][digest]
        }
        for at in reversed(self._changing):
            there = self._backward[at].find(index)
            if there is None:
                return self._settled(at, possible)
            index = there
        return possible or {*self._changing}

    def _settled(self, at: int, possible: set[int]) -> set[int]:
        return {at} if at in possible else possible or {*self._changing}


class _Map:
    """Where items of one side of an alignment are on the other.

    Args:
        stretches: What differs, in order.
        forward: Whether items before are looked up; else items after.
    """

    def __init__(self, stretches: Sequence[_Stretch], *, forward: bool) -> None:
        self._ends = [
            (each.i1, each.i2, each.j2) if forward else (each.j1, each.j2, each.i2)
            for each in stretches
        ]
        self._starts = [start for start, _, _ in self._ends]

    def find(self, index: int) -> int | None:
        """Return where an item is; None if it lies in a stretch that differs."""
        at = bisect_right(self._starts, index) - 1
        if at < 0:
            return index
        _, end, other_end = self._ends[at]
        return None if index < end else other_end + index - end
