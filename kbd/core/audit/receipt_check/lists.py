"""Lists of what differs, found again and compared with what a receipt claims."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Tuple

from .claims import Claim

__all__ = ["canonical", "check_keyed", "check_sequence"]

MAX_TOLD = 5
"""Faults that are told of one list."""

Fault = Callable[[str], None]


def canonical(value: Any) -> bytes:
    """Return the one form in which a value is written."""
    told = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    # Half of a pair stands in no receipt that kbd wrote: it is compared, and differs.
    return told.encode("utf-8", "surrogatepass")


def _shown(item: Sequence[Any] | None) -> dict[str, Any] | None:
    return None if item is None else {**item[1], "digest": item[0]}


def _differs(one: Sequence[Any] | None, other: Sequence[Any] | None) -> bool:
    return (one[0] if one else None) != (other[0] if other else None)


def check_keyed(
    claim: Claim,
    noun: str,
    versions: Sequence[Mapping[Any, Sequence[Any]]],
    write: Callable[[Any], str],
    steps: Sequence[int] | None,
    fault: Fault,
) -> int:
    """Compare a keyed list with what is claimed of it; return how many entries differ.

    Args:
        claim: What the receipt says.
        noun: What an address is called.
        versions: What each version holds; two if the steps are not checked.
        write: Writes an address.
        steps: The numbers of the steps between the versions; None if they are not checked.
        fault: Takes what is wrong.
    """
    before, after = versions[0], versions[-1]
    keys = sorted(key for key in {*before, *after} if _differs(before.get(key), after.get(key)))
    digest = hashlib.sha256()
    listed = claim.items("listed")
    told = _Told(fault)
    for at, key in enumerate(keys):
        name = write(key)
        entry = {
            noun: name, "before": _shown(before.get(key)), "after": _shown(after.get(key)),
        }  # fmt: skip
        digest.update(canonical(entry) + b"\n")
        if at >= len(listed):
            continue
        said = dict(listed[at].value)
        makers = said.pop("by", None)
        if said != entry:
            if said.get(noun) != name:
                told(f"{noun} {name} differs, and the receipt leaves it out")
            else:
                told(f"{noun} {name}: the receipt says {_brief(said)}, the files {_brief(entry)}")
        if steps is not None:
            real = [
                step
                for number, step in enumerate(steps)
                if _differs(versions[number].get(key), versions[number + 1].get(key))
            ]
            if makers != real:
                told(f"{noun} {name} was changed by {real}, the receipt says by {makers}")
    if len(listed) > len(keys):
        told(f"the receipt lists {len(listed)} of {noun}s that differ; {len(keys)} do")
    if claim.count("total") != len(keys):
        told(f"{len(keys)} of {noun}s differ, the receipt says {claim.count('total')}")
    if claim.text("digest") != digest.hexdigest():
        told(f"the digest of all {noun}s that differ is not that of the files")
    return len(keys)


def _brief(entry: Mapping[str, Any]) -> str:
    """Return the values of an entry, short."""
    sides = []
    for side in ("before", "after"):
        item = entry.get(side)
        if not isinstance(item, dict):
            sides.append("nothing")
            continue
        value = item.get("formula") or item.get("value") or item.get("text") or ""
        sides.append(repr(str(value)[:40]) if value else "no text")
    return " -> ".join(sides)


class _Told:
    """Tells some faults of a list and drops the rest."""

    def __init__(self, fault: Fault) -> None:
        self._fault, self._left = fault, MAX_TOLD

    def __call__(self, text: str) -> None:
        if self._left:
            self._left -= 1
            self._fault(text)


Stretch = Tuple[int, int, int, int, Claim]
"""Items `[i1:i2]` before are items `[j1:j2]` after, as the receipt says."""


def check_sequence(
    claim: Claim,
    noun: str,
    versions: Sequence[Sequence[Sequence[Any]]],
    steps: Sequence[int] | None,
    fault: Fault,
) -> tuple[int, int]:
    """Compare a sequence with what is claimed of it; return how many items differ on each side.

    Args:
        claim: What the receipt says.
        noun: What an item is called.
        versions: What each version holds; two if the steps are not checked.
        steps: The numbers of the steps between the versions; None if they are not checked.
        fault: Takes what is wrong.
    """
    before, after = versions[0], versions[-1]
    told = _Told(fault)
    for side, items in (("before", before), ("after", after)):
        if claim.count(side + "_total") != len(items):
            told(f"there are {len(items)} {noun}s {side}, the receipt says otherwise")
    stretches = list(_stretches(claim, len(before), len(after), told))
    _check_between(before, after, stretches, noun, told)
    digest = hashlib.sha256()
    counts = _Counts(versions, steps) if steps is not None else None
    for i1, i2, j1, j2, said in stretches:
        _check_ends(before[i1:i2], after[j1:j2], noun, j1, told)
        for side, items, start in (("before", before[i1:i2], i1), ("after", after[j1:j2], j1)):
            shown = said.items(side)
            for place, item in enumerate(items):
                entry = _shown(item)
                digest.update(canonical([side, entry]) + b"\n")
                if place < len(shown) and shown[place].value != entry:
                    told(f"{noun} {start + place + 1} {side} is not what the receipt says")
            if len(shown) > len(items):
                told(f"the receipt lists {noun}s {side} that are not there")
        if counts is not None:
            counts.check(before[i1:i2], after[j1:j2], said, noun, j1, told)
    if claim.text("digest") != digest.hexdigest():
        told(f"the digest of all {noun}s that differ is not that of the files")
    gone = sum(i2 - i1 for i1, i2, _, _, _ in stretches)
    return gone, sum(j2 - j1 for _, _, j1, j2, _ in stretches)


def _check_between(
    before: Sequence[Any],
    after: Sequence[Any],
    stretches: Sequence[Stretch],
    noun: str,
    told: Fault,
) -> None:
    """Compare what lies between the stretches that are claimed to differ: it must not."""
    at, there = 0, 0
    bounds = [each[:4] for each in stretches]
    for i1, i2, j1, j2 in [*bounds, (len(before), 0, len(after), 0)]:
        if i1 - at != j1 - there:
            told(f"between {noun}s {at + 1} and {i1} some are left out")
        pairs = zip(before[at:i1], after[there:j1])
        for number, (one, other) in enumerate(pairs, there + 1):
            if one[0] != other[0]:
                sides = _brief({"before": one[1], "after": other[1]})
                told(f"{noun} {number} differs, and the receipt leaves it out: {sides}")
                break
        at, there = i2, j2


def _check_ends(
    before: Sequence[Any], after: Sequence[Any], noun: str, start: int, told: Fault
) -> None:
    """Tell of an item at the end of a stretch that is the same on both sides."""
    if not before and not after:
        told(f"at {noun} {start + 1} nothing differs, and the receipt says that something does")
    elif before and after and (before[0][0] == after[0][0] or before[-1][0] == after[-1][0]):
        told(f"at {noun} {start + 1} the receipt takes one that is the same for a changed one")


def _stretches(claim: Claim, before: int, after: int, told: Fault) -> Iterator[Stretch]:
    i, j = 0, 0
    for said in claim.items("stretches"):
        i1, j1 = said.count("before_at") - 1, said.count("after_at") - 1
        i2, j2 = i1 + said.count("before_count"), j1 + said.count("after_count")
        if not (i <= i1 <= i2 <= before and j <= j1 <= j2 <= after):
            told("the receipt names stretches that are not there, or not in order")
            return
        yield i1, i2, j1, j2, said
        i, j = i2, j2


class _Counts:
    """How often each item stands in each version: that tells which steps can have made it."""

    def __init__(self, versions: Sequence[Sequence[Any]], steps: Sequence[int]) -> None:
        self._steps = steps
        self._counts: list[dict[str, int]] = []
        for version in versions:
            count: dict[str, int] = {}
            for item in version:
                count[item[0]] = count.get(item[0], 0) + 1
            self._counts.append(count)
        self._changing = {
            step
            for at, step in enumerate(steps)
            if [item[0] for item in versions[at]] != [item[0] for item in versions[at + 1]]
        }

    def check(
        self,
        before: Sequence[Any],
        after: Sequence[Any],
        said: Claim,
        noun: str,
        start: int,
        told: Fault,
    ) -> None:
        """Compare the steps that are claimed with those that can have made a stretch."""
        named = said.numbers("by")
        possible: set[int] = set()
        for sign, items in ((-1, before), (1, after)):
            for item in items:
                able = self._able(item[0], sign)
                possible |= able
                if not able & set(named):
                    told(f"{noun} {start + 1} was changed by {sorted(able)}, not by {named}")
                    return
        if not set(named) <= possible:
            told(f"{noun} {start + 1} was changed by {sorted(possible)}, not by {named}")

    def _able(self, digest: str, sign: int) -> set[int]:
        found = {
            step
            for at, step in enumerate(self._steps)
            if sign * (self._counts[at + 1].get(digest, 0) - self._counts[at].get(digest, 0)) > 0
        }
        return found or self._changing
