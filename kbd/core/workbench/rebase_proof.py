"""Proof of a rebase, by what the versions of a file hold: what clashes, and whether all was kept.

Four versions: the base, of which the draft made `ours` and somebody else `theirs`, and the result
of applying the draft's edits to `theirs`. Two changes clash if they are about one place of the base
and end differently. The result is right if it differs from `theirs` just where the draft differs
from the base, and from `ours` just where `theirs` does; what is not so is named, and nothing is
recorded. What a format says that only follows from other changes does not count.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from kbd.core.plugins.format_calls import FormatCalls
from kbd.core.workbench.attribution import place_key
from kbd.errors import ValidationFailed
from kbd.formats import Change, CompareOptions, Place, Relocatable
from kbd.formats.rebase import places_overlap, touches
from kbd.tools import FileRef

__all__ = ["Clash", "ThreeVersions"]


class Clash(msgspec.Struct, frozen=True, kw_only=True):
    """Something that a rebase would have to guess.

    Args:
        place: Where.
        reason: Why, as a sentence for people.
        before: What the base has there, where that is known.
        ours: What the draft makes of it.
        theirs: What is published now.
        change: The draft's change that it is about; None if it is about none.
    """

    place: Place
    reason: str
    before: Any = None
    ours: Any = None
    theirs: Any = None
    change: Change | None = None


class _Placed(msgspec.Struct, frozen=True):
    """A change, and its place in other versions.

    Args:
        change: As the comparison of two versions lists it.
        base: The same with the place that it has in the version before; None if it has none there.
    """

    change: Change
    base: Change | None


class ThreeVersions:
    """The base of a file, what the draft made of it, and what somebody else did.

    Args:
        formats: The formats.
        base: Where both began.
        ours: The draft's version.
        theirs: What is published now.
        stays: Whether it is known that nothing stands elsewhere in `ours` than in the base, and the
            same of `theirs`. Then no place need be followed, and none can be taken for another.
    """

    def __init__(
        self,
        formats: FormatCalls,
        base: FileRef,
        ours: FileRef,
        theirs: FileRef,
        *,
        stays: tuple[bool, bool] = (False, False),
    ) -> None:
        self._formats = formats
        self._base, self._ours, self._theirs = base, ours, theirs
        self._ours_stay, self._theirs_stay = stays
        handler = formats.for_name(theirs.name)
        self._derived = handler.derived if isinstance(handler, Relocatable) else ()
        self._laid_on = handler.laid_on if isinstance(handler, Relocatable) else ()
        self._our_changes: tuple[_Placed, ...] | None = None
        self._their_changes: tuple[_Placed, ...] | None = None
        # Where what somebody else did has other results, in their version.
        self._their_results: tuple[Place, ...] = ()
        self._agreed: tuple[set[int], set[int]] = (set(), set())

    async def clashes(self) -> list[Clash]:
        """Return what both changed, and not in the same way.

        Raises:
            ValidationFailed: There are too many changes to look at each.
            FileReadFailed: A version cannot be read.
        """
        base, mine, yours = self._base, self._ours, self._theirs
        changes, _ = await self._differences(base, mine, stays=self._ours_stay)
        ours = await self._placed(mine, changes, stays=self._ours_stay)
        changes, results = await self._differences(base, yours, stays=self._theirs_stay)
        theirs = await self._placed(yours, changes, stays=self._theirs_stay)
        self._our_changes, self._their_changes = ours, theirs
        self._their_results = tuple(each.place for each in results)
        found: list[Clash] = []
        sides = [each.base for each in ours], [each.base for each in theirs]
        for one, other, is_same in [*self._pairs(*sides), *await self._added(ours, theirs)]:
            draft, other_side = ours[one].change, theirs[other].change
            if is_same:
                self._agreed[0].add(one)
                self._agreed[1].add(other)
                continue
            wider = ours[one].base or draft
            found.append(
                Clash(
                    place=wider.place,
                    reason=_reason(draft, other_side),
                    before=draft.before if draft.kind != "added" else other_side.before,
                    ours=draft.after,
                    theirs=other_side.after,
                    change=draft,
                )
            )
        return _merged(found)

    async def _added(
        self, ours: Sequence[_Placed], theirs: Sequence[_Placed]
    ) -> Iterable[tuple[int, int, bool]]:
        """Return the pairs of what both added where the base has nothing, by what it is called."""
        mine = [number for number, each in enumerate(ours) if each.base is None]
        yours = [each.change if each.base is None else None for each in theirs]
        if not mine or not any(yours):
            return ()
        traces = await self._formats.trace(
            self._ours, self._theirs, [ours[number].change.place for number in mine], forward=True
        )
        moved: list[Change | None] = [None] * len(ours)
        for number, trace in zip(mine, traces, strict=True):
            if trace.place is not None:
                moved[number] = msgspec.structs.replace(ours[number].change, place=trace.place)
        return self._pairs(moved, yours)

    async def losses(self, result: FileRef) -> list[Clash]:
        """Return where a result is not what both together make of the base; none if it is right.

        Args:
            result: What `theirs` became by the draft's edits; `clashes` found none before.

        Raises:
            ValidationFailed: There are too many changes to look at each.
            FileReadFailed: A version cannot be read.
        """
        assert self._our_changes is not None
        assert self._their_changes is not None
        ours = _without(self._our_changes, self._agreed[0])
        theirs = _without(self._their_changes, self._agreed[1])
        carried, _ = await self._differences(self._theirs, result, stays=self._ours_stay)
        wanted: list[Change | None] = list(ours)
        if not self._theirs_stay:
            wanted = await self._mapped(ours, (self._ours, result), (self._base, self._theirs))
        missing, surplus = _unmatched(wanted, carried)
        found = [_surplus("the edits would change more here", each) for each in surplus]
        found += [
            _missing("the edits would leave nothing of this", ours[n])
            for n in missing
            if not self._is_recalculated(wanted[n])
        ]
        mine = [each for each in wanted if each is not None]
        kept, _ = await self._differences(self._ours, result, stays=self._theirs_stay)
        wanted = list(theirs)
        if not self._ours_stay:
            wanted = await self._mapped(theirs, (self._theirs, result), (self._base, self._ours))
        missing, surplus = _unmatched(wanted, kept)
        found += [
            Clash(
                place=theirs[number].place,
                reason="what was changed there would be lost",
                before=theirs[number].before,
                theirs=theirs[number].after,
            )
            for number in missing
        ]
        found += [
            _swapped(_surplus("the edits would come out otherwise", each))
            for each in surplus
            if not _is_surrounding(each, mine)
        ]
        return _merged(found)

    def _pairs(
        self, ours: Sequence[Change | None], theirs: Sequence[Change | None]
    ) -> Iterable[tuple[int, int, bool]]:
        """Yield the numbers of changes of one place, and whether they are the same.

        The places are given in one version, for in others the same place may be called otherwise.
        """
        single: dict[object, list[int]] = {}
        wide: list[int] = []
        for number, change in enumerate(theirs):
            if change is None:
                continue
            if _is_single(change.place):
                single.setdefault(_key(change.place), []).append(number)
            else:
                wide.append(number)
        for one, mine in enumerate(ours):
            if mine is None:
                continue
            near: Iterable[int] = [*single.get(_key(mine.place), ()), *wide]
            if not _is_single(mine.place):
                near = range(len(theirs))
            for other in near:
                yours = theirs[other]
                if yours is not None and touches(mine, yours, self._laid_on):
                    yield one, other, _is_same(mine, yours)

    def _is_recalculated(self, change: Change | None) -> bool:
        """Tell whether what the draft changed had already another result in `theirs`.

        Then `theirs` may hold there what the draft wants, and the edits change nothing: of an array
        that is replaced, results that are not known any more are not there to be removed. That the
        result is right there shows against the draft, where nothing else may differ.
        """
        return change is not None and any(
            places_overlap(change.place, place) for place in self._their_results
        )

    async def _differences(
        self, before: FileRef, after: FileRef, *, stays: bool
    ) -> tuple[tuple[Change, ...], tuple[Change, ...]]:
        """Return what differs between two versions, each part by itself, and what follows of it."""
        if before.blob == after.blob:
            return (), ()
        found = await self._formats.compare(
            before, after, CompareOptions(singly=True, in_place=stays)
        )
        if found.total > len(found.changes):
            msg = (
                f"{after.name} differs in {found.total:,} places, more than can be looked at one "
                "by one: publish with on_conflict keep_both, or discard and ask again"
            )
            raise ValidationFailed(msg)
        return (
            tuple(each for each in found.changes if each.what not in self._derived),
            tuple(each for each in found.changes if each.what in self._derived),
        )

    async def _placed(
        self, after: FileRef, changes: Sequence[Change], *, stays: bool
    ) -> tuple[_Placed, ...]:
        """Return what differs from the base, with its places there."""
        base = self._base
        if stays:
            return tuple(_Placed(each, each) for each in changes)
        wanted = [each.place for each in changes if each.kind != "removed"]
        traces = iter(
            await self._formats.trace(base, after, wanted, forward=False) if wanted else ()
        )
        found: list[_Placed] = []
        for change in changes:
            place = change.place if change.kind == "removed" else next(traces).place
            moved = None if place is None else msgspec.structs.replace(change, place=place)
            found.append(_Placed(change, moved))
        return tuple(found)

    async def _mapped(
        self,
        changes: Sequence[Change],
        there: tuple[FileRef, FileRef],
        gone: tuple[FileRef, FileRef],
    ) -> list[Change | None]:
        """Return changes with the places that they have in another pair of versions.

        Args:
            changes: Changes of one version.
            there: That version, and the one in which the places are looked for.
            gone: The same for places of what was removed.
        """
        found: dict[int, Place | None] = {}
        for is_removed, (before, after) in ((False, there), (True, gone)):
            numbers = [
                n for n, each in enumerate(changes) if (each.kind == "removed") is is_removed
            ]
            if not numbers:
                continue
            places = [changes[number].place for number in numbers]
            if before.blob == after.blob:
                found.update(zip(numbers, places, strict=True))
                continue
            traces = await self._formats.trace(before, after, places, forward=True)
            found.update((n, trace.place) for n, trace in zip(numbers, traces, strict=True))
        return [
            None if place is None else msgspec.structs.replace(changes[number], place=place)
            for number, place in sorted(found.items())
        ]


def _surplus(reason: str, change: Change) -> Clash:
    """Return what was found of a result that is published and that nobody wanted to differ."""
    return Clash(
        place=change.place,
        reason=f"{reason}: {change.what} {change.kind}",
        before=change.before,
        ours=change.after,
        theirs=change.before,
    )


def _missing(reason: str, change: Change) -> Clash:
    return Clash(
        place=change.place, reason=reason, before=change.before, ours=change.after, change=change
    )


def _swapped(clash: Clash) -> Clash:
    """Return the same of a result that was held against the draft."""
    return msgspec.structs.replace(clash, before=None, ours=clash.theirs, theirs=clash.ours)


def _is_surrounding(change: Change, ours: Sequence[Change]) -> bool:
    """Tell whether what the draft put in only looks as all does there where somebody put it.

    A new cell has the look that the workbook has for cells, and a new paragraph that of its style,
    unless the draft gave it one of its own.
    """
    if change.kind != "changed" or change.what not in _LOOKS:
        # What it says is another thing: a total, say, of numbers that somebody else changed.
        return False
    near = [each for each in ours if places_overlap(each.place, change.place)]
    return any(each.kind == "added" for each in near) and (
        change.before == change.after or all(each.what != change.what for each in near)
    )


_LOOKS = frozenset(("format", "style", "list", "layout", "position", "width", "height"))
"""What of a change (`Change.what`) is about how something looks."""


def _is_single(place: Place) -> bool:
    """Tell whether a place is the smallest there is, so that it meets only itself and wider ones.

    Most changes are of such places, and there may be thousands on either side.
    """
    return place.cell is not None and place.part is None


def _key(place: Place) -> object:
    return (place.sheet or "").casefold(), place.cell


def _is_same(one: Change, other: Change) -> bool:
    """Tell whether both sides did the same."""
    return (
        one.kind == other.kind
        and one.what == other.what
        and place_key(one.place) == place_key(other.place)
        and one.after == other.after
        and one.details == other.details
        and one.kind != "moved"
        and not one.is_cut
        and not other.is_cut
    )


def _reason(ours: Change, theirs: Change) -> str:
    words = {"added": "added", "removed": "removed", "changed": "changed", "moved": "moved"}
    if ours.what == theirs.what and ours.kind == theirs.kind:
        return f"the draft and somebody else both {words[ours.kind]} the {ours.what}"
    return (
        f"the draft {words[ours.kind]} the {ours.what}, "
        f"somebody else {words[theirs.kind]} the {theirs.what}"
    )


def _without(changes: Sequence[_Placed], agreed: set[int]) -> list[Change]:
    return [placed.change for number, placed in enumerate(changes) if number not in agreed]


def _unmatched(
    wanted: Sequence[Change | None], found: Sequence[Change]
) -> tuple[list[int], list[Change]]:
    """Return which of the wanted changes were not found, and which found ones nobody wanted."""
    by_key: dict[object, list[int]] = {}
    for number, change in enumerate(found):
        by_key.setdefault(_change_key(change), []).append(number)
    taken: set[int] = set()
    missing: list[int] = []
    for number, expected in enumerate(wanted):
        same = by_key.get(_change_key(expected), ()) if expected is not None else ()
        taken.update(same)
        if not same:
            missing.append(number)
    # Areas of one look may be told as other rectangles: then they cover each other.
    areas = [each for each in found if not _is_single(each.place)]
    missing = [number for number in missing if not _is_covered(wanted[number], areas)]
    areas = [each for each in wanted if each is not None and not _is_single(each.place)]
    left = (change for number, change in enumerate(found) if number not in taken)
    return missing, [each for each in left if not _is_covered(each, areas)]


def _is_covered(change: Change | None, areas: Sequence[Change]) -> bool:
    return change is not None and any(
        each.kind == change.kind and touches(change, each) for each in areas
    )


def _change_key(change: Change) -> object:
    return change.kind, change.what, place_key(change.place)


def _merged(clashes: Sequence[Clash]) -> list[Clash]:
    """Return one clash a place, with all that is known of it."""
    found: dict[object, Clash] = {}
    for clash in clashes:
        known = found.setdefault(place_key(clash.place), clash)
        if known is not clash:
            found[place_key(clash.place)] = msgspec.structs.replace(
                known,
                before=clash.before if known.before is None else known.before,
                ours=clash.ours if known.ours is None else known.ours,
                theirs=clash.theirs if known.theirs is None else known.theirs,
                change=known.change or clash.change,
            )
    return list(found.values())
