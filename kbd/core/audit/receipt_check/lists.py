"""Lists of what differs, found again and compared with what a receipt claims."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Callable, Tuple

from .claims import Claim

__all__ = ["Quota", "canonical", "check_keyed", "check_sequence", "count_listed"]

MAX_TOLD = 5
"""Faults that are told of one list."""

MAX_LISTED = 200
"""Entries of a list that a receipt shows."""

Fault = Callable[[str], None]


def canonical(value: Any) -> bytes:
    """Return the one form in which a value is written."""
    told = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    # Half of a pair stands in no receipt that kbd wrote: it is compared, and differs.
    return told.encode("utf-8", "surrogatepass")


class Quota:
    """Entries that a receipt shows of a file: as many as it may, and not one less.

    Which call made an entry is in no digest: one that is not shown has none.

    Args:
        left: How many.
    """

    def __init__(self, left: int) -> None:
        self._left = left

    def take(self, wanted: int) -> int:
        """Return how many of the entries of a list are shown."""
        given = min(wanted, self._left, MAX_LISTED)
        self._left -= given
        return given

    def take_all(self, shown: int) -> None:
        """Take what the receipt shows of lists that cannot be compared."""
        self._left = max(0, self._left - shown)


def count_listed(claim: Claim) -> int:
    """Return how many entries a receipt shows of the lists of a part."""
    count = 0
    for name in claim.value:
        found = claim.child(name)
        if "listed" in found:
            count += len(found.items("listed"))
            continue
        for stretch in found.items("stretches"):
            count += len(stretch.items("before")) + len(stretch.items("after"))
    return count


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
    allowance: Quota,
    fault: Fault,
) -> int:
    """Compare a keyed list with what is claimed of it; return how many entries differ.

    Args:
        claim: What the receipt says.
        noun: What an address is called.
        versions: What each version holds; two if the steps are not checked.
        write: Writes an address.
        steps: The numbers of the steps between the versions; None if they are not checked.
        allowance: How many entries are shown.
        fault: Takes what is wrong.
    """
    claim.only("total", "digest", "listed")
    before, after = versions[0], versions[-1]
    keys = sorted(key for key in {*before, *after} if _differs(before.get(key), after.get(key)))
    digest = hashlib.sha256()
    listed = claim.items("listed")
    told = _Told(fault)
    shown = allowance.take(len(keys))
    for at, key in enumerate(keys):
        name = write(key)
        entry = {
            noun: name, "before": _shown(before.get(key)), "after": _shown(after.get(key)),
        }  # fmt: skip
        digest.update(canonical(entry) + b"\n")
        if at >= len(listed):
            continue
        makers = listed[at].numbers("by")
        said = {name: value for name, value in listed[at].value.items() if name != "by"}
        if canonical(said) != canonical(entry):
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
    elif len(listed) != shown:
        told(f"the receipt lists {len(listed)} of {noun}s that differ, it should list {shown}")
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
    allowance: Quota,
    fault: Fault,
) -> tuple[int, int]:
    """Compare a sequence with what is claimed of it; return how many items differ on each side.

    Args:
        claim: What the receipt says.
        noun: What an item is called.
        versions: What each version holds; two if the steps are not checked.
        steps: The numbers of the steps between the versions; None if they are not checked.
        allowance: How many items are shown.
        fault: Takes what is wrong.
    """
    claim.only("before_total", "after_total", "digest", "stretches")
    before, after = versions[0], versions[-1]
    told = _Told(fault)
    for side, items in (("before", before), ("after", after)):
        if claim.count(side + "_total") != len(items):
            told(f"there are {len(items)} {noun}s {side}, the receipt says otherwise")
    stretches = list(_stretches(claim, len(before), len(after), told))
    _check_between(before, after, stretches, noun, told)
    gone = sum(i2 - i1 for i1, i2, _, _, _ in stretches)
    came = sum(j2 - j1 for _, _, j1, j2, _ in stretches)
    left = allowance.take(gone + came)
    digest = hashlib.sha256()
    counts = _Counts(versions, steps) if steps is not None else None
    for i1, i2, j1, j2, said in stretches:
        _check_ends(before[i1:i2], after[j1:j2], noun, j1, told)
        makers = _Makers(said, counts, f"{noun} {j1 + 1}", told)
        for side, items, start in (("before", before[i1:i2], i1), ("after", after[j1:j2], j1)):
            for item in items:
                digest.update(canonical([side, _shown(item)]) + b"\n")
            shown = said.items(side)
            if len(shown) != min(len(items), left):
                told(f"the receipt lists {len(shown)} of {len(items)} {noun}s {side} that differ")
            left = max(0, left - len(items))
            for place, item in enumerate(items):
                entry = makers.check(side, item, shown[place] if place < len(shown) else None)
                if entry is not None and canonical(entry) != canonical(_shown(item)):
                    told(f"{noun} {start + place + 1} {side} is not what the receipt says")
        makers.check_all()
    if claim.text("digest") != digest.hexdigest():
        told(f"the digest of all {noun}s that differ is not that of the files")
    return gone, came


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
        said.only("before_at", "before_count", "before", "after_at", "after_count", "after", "by")
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

    def able(self, side: str, digest: str) -> set[int]:
        """Return the steps that can have made an item come, or go."""
        sign = 1 if side == "after" else -1
        found = {
            step
            for at, step in enumerate(self._steps)
            if sign * (self._counts[at + 1].get(digest, 0) - self._counts[at].get(digest, 0)) > 0
        }
        return found or self._changing


class _Makers:
    """The steps that a stretch names, compared with those that can have made its items.

    Args:
        said: The stretch.
        counts: How often each item stands in each version; None if the steps are not checked.
        place: Where it is, for messages.
        told: Takes what is wrong.
    """

    def __init__(self, said: Claim, counts: _Counts | None, place: str, told: Fault) -> None:
        self._counts, self._place, self._told = counts, place, told
        self._named = said.numbers("by")
        self._possible: set[int] = set()
        self._of_items: set[int] = set()
        self._hidden = 0
        if self._named != sorted(set(self._named)):
            told(f"{place}: the receipt names its calls twice, or not in order")

    def check(self, side: str, item: Sequence[Any], shown: Claim | None) -> dict[str, Any] | None:
        """Compare the steps of an item; return what else the receipt shows of it."""
        named = self._named
        entry = dict(shown.value) if shown is not None else None
        if shown is None:
            self._hidden += 1
        elif entry is not None and len(named) > 1:
            # Several made the stretch: then each item has its own.
            named = shown.numbers("by") if "by" in shown else []
            entry.pop("by", None)
            self._of_items.update(named)
            if not named or named != sorted(set(named)) or not set(named) <= set(self._named):
                self._told(f"{self._place}: the receipt names {named} for one of its items")
        if self._counts is not None:
            able = self._counts.able(side, item[0])
            self._possible |= able
            is_own = named is not self._named
            if not able & set(named) or (is_own and not set(named) <= able):
                self._told(f"{self._place} was changed by {sorted(able)}, not by {named}")
        return entry

    def check_all(self) -> None:
        """Compare the steps of the stretch with those of its items."""
        named = set(self._named)
        if self._counts is not None and not named <= self._possible:
            self._told(
                f"{self._place} was changed by {sorted(self._possible)}, not by {self._named}"
            )
        if len(named) > 1 and not self._hidden and self._of_items != named:
            self._told(f"{self._place}: the receipt names calls that made none of its items")
