"""Gathering of what a review's page shows: comparisons, cells around changes, and pictures.

All of it is bounded: so many changes of a file, so many windows of cells, so many pictures. What a
plugin cannot give is left out, for a page that lacks a picture is better than none.
"""

from collections.abc import Iterable, Iterator, Sequence

import msgspec
from anyio import create_task_group

from kbd.core.audit.review_page.file_view import MAX_DRAWN, drawn_changes
from kbd.core.audit.review_page.neighborhood import (
    ColumnNames,
    find_blocks,
    find_windows,
    sheet_of,
    unit_axis,
    unit_number,
)
from kbd.core.audit.review_page.records import DraftReview, FileReview, PicturePair, SheetGrids
from kbd.core.plugins.catalog import Catalog
from kbd.core.plugins.format_calls import FormatCalls
from kbd.core.workbench.change_set import change_set, deletion_confirmations
from kbd.core.workbench.content_diff import DraftVersions, answer_diff, find_versions
from kbd.core.workbench.preview_answers import render_grid, render_picture
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.errors import KbdError, NotFound, ValidationFailed
from kbd.formats import Gridded, GridWindow, Previewable, Printable
from kbd.requests.base import Unset
from kbd.requests.drafts import ChangeRow
from kbd.requests.formats import PreviewGrid, PreviewPicture
from kbd.requests.reviews import ContentChange, ReviewGetDiff
from kbd.tools import FileRef

__all__ = ["MAX_PICTURES", "gather_file", "gather_review"]

MAX_PICTURES = 40
"""Pictures of one page, of all files together."""

MAX_PICTURE_BYTES = 24 * 1024 * 1024
"""Bytes of all of them together, as they stand in the page."""

EDGE_PX = 1000
"""The longer edge of a picture."""

GALLERY_PAGES = 8
"""Pages that are shown of a file whose changes name no pages."""

MAX_WINDOWS = 40
"""Windows of cells of one sheet."""

MAX_WINDOW_BYTES = 256 * 1024 * 1024
"""Bytes of a file that its windows may read over and over: of a large one there are few."""

HEAD_COLUMNS = 200
"""Columns of a table whose names are known."""


class _Room:
    """Room that is left for pictures."""

    def __init__(self) -> None:
        self.pictures, self.characters = MAX_PICTURES, MAX_PICTURE_BYTES

    def take(self, picture: PreviewPicture | None) -> bool:
        """Take room for a picture; False if there is none."""
        if picture is None:
            return True
        if not self.pictures or len(picture.base64) > self.characters:
            return False
        self.pictures -= 1
        self.characters -= len(picture.base64)
        return True


async def gather_review(
    workbench: OpenWorkbench, formats: FormatCalls, catalog: Catalog
) -> DraftReview:
    """Gather all that a draft's page shows.

    Raises:
        ValidationFailed: No draft is open.
    """
    if workbench.state.draft is None:
        msg = "draft not found: there is nothing to review"
        raise ValidationFailed(msg)
    changes = change_set(workbench, catalog)
    deletions = deletion_confirmations(workbench.state)
    room = _Room()
    files = [await _gather(workbench, formats, row, room) for row in changes.changes]
    return DraftReview(
        workbench_id=workbench.id,
        name=workbench.state.name,
        change_set=changes,
        deletions=deletions,
        files=tuple(files),
    )


async def gather_file(
    workbench: OpenWorkbench, formats: FormatCalls, catalog: Catalog, path: str
) -> FileReview:
    """Gather what is shown of one changed file.

    Raises:
        ValidationFailed: No draft is open.
        NotFound: The draft does not change such a file.
    """
    if workbench.state.draft is None:
        msg = "draft not found: there is nothing to review"
        raise ValidationFailed(msg)
    for row in change_set(workbench, catalog).changes:
        if path in (row.path, row.previous_path):
            return await _gather(workbench, formats, row, _Room())
    msg = f"the draft does not change a file {path!r}"
    raise NotFound(msg)


async def _gather(
    workbench: OpenWorkbench, formats: FormatCalls, row: ChangeRow, room: _Room
) -> FileReview:
    """Gather one file; what fails is told on the page."""
    request = ReviewGetDiff(workbench_id=workbench.id, path=row.path, limit=MAX_DRAWN)
    try:
        diff = await answer_diff(workbench, formats, request)
        versions = await find_versions(workbench, row.path)
    except KbdError as error:
        return FileReview(row=row, problem=f"The contents could not be compared: {error.message}")
    review = FileReview(row=row, diff=diff)
    grids = await _gather_grids(formats, versions, drawn_changes(review))
    pictures: tuple[PicturePair, ...] = ()
    left_out = 0
    if diff.total:
        pictures, left_out = await _gather_pictures(formats, versions, drawn_changes(review), room)
    return msgspec.structs.replace(
        review, grids=grids, pictures=pictures, pictures_left_out=left_out
    )


async def _gather_grids(
    formats: FormatCalls, versions: DraftVersions, changes: Sequence[ContentChange]
) -> tuple[SheetGrids, ...]:
    """Return the cells around the changes of each sheet, of both versions."""
    handler = formats.for_name(versions.name)
    if not isinstance(handler, Gridded):
        return ()
    found: list[SheetGrids] = []
    by_sheet: dict[str, list[tuple[int, ContentChange]]] = {}
    for index, change in enumerate(changes):
        sheet = sheet_of(change.place)
        if sheet is not None:
            by_sheet.setdefault(sheet, []).append((index, change))
    for sheet, own in by_sheet.items():
        earlier = _earlier_name(sheet, changes)
        heads = [
            await _windows(formats, file, [GridWindow(name or None, 1, 1, 1, HEAD_COLUMNS)])
            for file, name in ((versions.before, earlier), (versions.after, sheet))
        ]
        names = ColumnNames(*(grids[0].columns if grids and not sheet else () for grids in heads))
        blocks = find_blocks(own, names)
        sides: list[tuple[PreviewGrid, ...]] = []
        for side, (file, name) in enumerate(((versions.before, earlier), (versions.after, sheet))):
            if not heads[side]:
                sides.append(())
                continue
            pick = "after" if side else "before"
            rows = {getattr(pair, pick) for block in blocks for pair in block.rows}
            columns = {getattr(pair, pick) for block in blocks for pair in block.columns}
            wanted = [
                GridWindow(name or None, *window)
                for window in find_windows(rows - {None}, columns - {None})
            ]
            sides.append((*heads[side], *await _windows(formats, file, wanted)))
        found.append(SheetGrids(sheet=sheet, before=sides[0], after=sides[1]))
    return tuple(found)


def _earlier_name(sheet: str, changes: Iterable[ContentChange]) -> str:
    """Return what a sheet was called in the version before."""
    for change in changes:
        place = change.place
        if change.what == "sheet" and change.kind != "added" and place.sheet == sheet:
            if not isinstance(change.moved_from, Unset) and change.moved_from.sheet:
                return str(change.moved_from.sheet)
            if isinstance(change.before, str) and change.kind == "changed":
                return change.before
    return sheet


async def _windows(
    formats: FormatCalls, file: FileRef | None, wanted: Sequence[GridWindow]
) -> tuple[PreviewGrid, ...]:
    """Return windows of a version, none where it has no such sheet or cannot be read."""
    if file is None:
        return ()
    most = min(MAX_WINDOWS, max(2, MAX_WINDOW_BYTES // max(1, file.size_bytes)))
    found: list[PreviewGrid] = []
    for window in wanted[:most]:
        try:
            found.append(render_grid(await formats.grid(file, window)))
        except KbdError:
            break
    return tuple(found)


async def _gather_pictures(
    formats: FormatCalls,
    versions: DraftVersions,
    changes: Sequence[ContentChange],
    room: _Room,
) -> tuple[tuple[PicturePair, ...], int]:
    """Return pictures of what changed, as many as there is room for, and how many more there are.

    Of a file whose changes name no pages the first pages are shown, those that differ first.
    """
    handler = formats.for_name(versions.name)
    # The cells of a sheet say more than a picture of its pages, if they are shown.
    if not isinstance(handler, Previewable | Printable) or isinstance(handler, Gridded):
        return (), 0
    unit = handler.preview_unit.lower() or "picture"
    numbers = list(_numbers(unit, changes))
    named = bool(numbers)
    if not numbers:
        pages = GALLERY_PAGES if handler.preview_unit else 1
        numbers = [(number, number) for number in range(1, pages + 1)]
    pairs: list[PicturePair] = []
    for place, (before, after) in enumerate(numbers):
        pair = await _picture_pair(formats, versions, unit, before, after)
        if pair is None:
            # No renderer, or no such page: the others would fail likewise.
            if not named or not pairs:
                break
            continue
        if not (room.take(pair.before) and room.take(pair.after)):
            return _in_order(pairs, named=named), len(numbers) - place if named else 0
        pairs.append(pair)
    return _in_order(pairs, named=named), 0


def _in_order(pairs: list[PicturePair], *, named: bool) -> tuple[PicturePair, ...]:
    return tuple(pairs if named else sorted(pairs, key=lambda pair: pair.is_same))


def _numbers(
    unit: str, changes: Sequence[ContentChange]
) -> Iterator[tuple[int | None, int | None]]:
    """Yield the slides or pages with changes, from 1: in the version before, and after."""
    axis = unit_axis(changes, unit)
    seen: set[tuple[int | None, int | None]] = set()
    for change in changes:
        number = unit_number(change.place, unit)
        if not number:
            continue
        before: int | None = number
        after: int | None = number
        if change.kind == "removed":
            is_gone = number in axis.removed
            after = None if is_gone else axis.after_of(axis.common_before(number))
        elif number in axis.added:
            before = None
            if change.kind == "moved" and not isinstance(change.moved_from, Unset):
                before = unit_number(change.moved_from, unit) or None
        else:
            before = axis.before_of(axis.common_after(number))
        if (before, after) not in seen:
            seen.add((before, after))
            yield before, after


async def _picture_pair(
    formats: FormatCalls,
    versions: DraftVersions,
    unit: str,
    before: int | None,
    after: int | None,
) -> PicturePair | None:
    """Return both pictures; None if there is neither."""
    found: dict[str, PreviewPicture | None] = {}

    async def take(side: str, file: FileRef | None, number: int | None) -> None:
        found[side] = await _picture(formats, file, number)

    # At once: where an office program prints them, each version takes seconds.
    async with create_task_group() as tasks:
        tasks.start_soon(take, "before", versions.before, before)
        tasks.start_soon(take, "after", versions.after, after)
    older, newer = found["before"], found["after"]
    if older is None and newer is None:
        return None
    return PicturePair(
        unit=unit,
        number=after or before or 1,
        before=older,
        after=newer,
        is_same=older is not None and newer is not None and older.base64 == newer.base64,
    )


async def _picture(
    formats: FormatCalls, file: FileRef | None, number: int | None
) -> PreviewPicture | None:
    if file is None or number is None:
        return None
    try:
        return render_picture(await formats.preview(file, number - 1, EDGE_PX))
    except KbdError:
        return None
