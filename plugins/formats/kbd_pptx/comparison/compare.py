"""Comparison of two versions of a deck, and the way of a place from one to the other."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from kbd.errors import ValidationFailed
from kbd.formats import (
    Change,
    ChangeKind,
    ChangeList,
    CompareOptions,
    Comparison,
    Place,
    Source,
    Trace,
)
from kbd_pptx.comparison.deck import compare_decks, deck_places, name_layouts
from kbd_pptx.comparison.matches import SlideMatches, match_slides
from kbd_pptx.comparison.places import HOW, locate_on_slides, slide_place
from kbd_pptx.comparison.routes import PlaceRoute
from kbd_pptx.comparison.slides import add_whole_slide, compare_slides, is_same
from kbd_pptx.comparison.version import DeckVersion
from kbd_pptx.presentation import open_presentation

__all__ = ["compare", "locate", "matched_decks", "trace"]


def compare(before: Source | None, after: Source | None, options: CompareOptions) -> Comparison:
    """Return what differs between two versions of a deck, in the order of its slides.

    Raises:
        FileReadFailed: A version cannot be read.
        ValidationFailed: An option is given; decks have none.
    """
    source = after or before
    assert source is not None
    if options.named():
        raise ValidationFailed(
            f"{source.name} is compared whole; a deck takes no {options.named()[0]}"
        )
    changes = ChangeList()
    if before is None or after is None:
        with _opened(source) as (version,):
            _add_all(version, "added" if before is None else "removed", changes)
            _add_warnings(version, changes)
    elif before.path != after.path:
        with _opened(before, after) as (old, new):
            _compare(old, new, changes)
            _add_warnings(old, changes)
            _add_warnings(new, changes)
    return changes.comparison()


def trace(
    before: Source, after: Source, places: tuple[Place, ...], *, forward: bool
) -> tuple[Trace, ...]:
    """Return where places of one version stand in the other; raises FileReadFailed."""
    with _opened(before, after) as (old, new):
        route = PlaceRoute(old, new, _matched(old, new), forward=forward)
        return tuple(route.trace(place) for place in places)


def locate(source: Source, text: str) -> Place:
    """Return the place that a text means.

    Raises:
        FileReadFailed: The deck cannot be read.
        ValidationFailed: It names no place of the deck.
    """
    with _opened(source) as (version,):
        found = locate_on_slides(version.deck, text)
        if found is not None:
            return found
        wanted = " ".join(text.split()).casefold()
        for place in deck_places(version):
            if wanted in (place.title.casefold(), (place.part or "").casefold()):
                return place
    raise ValidationFailed(f'"{text[:80]}" is no place of {source.name}; {HOW}')


@contextmanager
def matched_decks(
    before: Source, after: Source
) -> Iterator[tuple[DeckVersion, DeckVersion, SlideMatches]]:
    """Open two versions of a deck, and tell which slides are the same; raises FileReadFailed."""
    with _opened(before, after) as (old, new):
        yield old, new, _matched(old, new)


@contextmanager
def _opened(*sources: Source) -> Iterator[list[DeckVersion]]:
    with ExitStack() as stack:
        packages = [stack.enter_context(open_presentation(source)) for source in sources]
        yield [DeckVersion(package, identity) for package, identity in packages]


def _matched(old: DeckVersion, new: DeckVersion) -> SlideMatches:
    name_layouts(old, new)
    return match_slides(old, new)


def _add_warnings(version: DeckVersion, changes: ChangeList) -> None:
    for warning in version.deck.warnings:
        changes.warn(warning)


def _add_all(version: DeckVersion, kind: ChangeKind, changes: ChangeList) -> None:
    for index in range(version.count):
        add_whole_slide(version, index, kind, changes)


def _compare(old: DeckVersion, new: DeckVersion, changes: ChangeList) -> None:
    slides = _matched(old, new)
    for i, j in _in_order(old.count, new.count, slides):
        if i is None and j is not None:
            add_whole_slide(new, j, "added", changes)
        elif j is None and i is not None:
            add_whole_slide(old, i, "removed", changes)
        elif i is not None and j is not None:
            if j in slides.moved:
                changes.add(Change(slide_place(j), "moved", "slide", moved_from=slide_place(i)))
            if not is_same(old, i, new, j, slides):
                compare_slides(old, i, new, j, changes)
    compare_decks(old, new, slides, changes)


def _in_order(
    before: int, after: int, slides: SlideMatches
) -> Iterator[tuple[int | None, int | None]]:
    """Yield slides in the order after; those that are gone stand where they stood."""
    places = slides.slides.after
    gone: dict[int, list[int]] = {}
    last = -1
    for i in range(before):
        j = places.get(i)
        if j is None:
            gone.setdefault(last, []).append(i)
        elif j not in slides.moved:
            last = j
    stood = slides.slides.before
    for j in range(-1, after):
        if j >= 0:
            yield stood.get(j), j
        for i in gone.get(j, ()):
            yield i, None
