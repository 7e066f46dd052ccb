"""Comparison of a draft's file with its reference: what the file was when the draft began.

Where those bytes cannot be read any more, what is published now takes their place, and without that
the file is shown as it is; each time the answer says so. A file that its format cannot compare is
told by its size and hash.
"""

from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Any, TypeVar

import msgspec
from anyio.lowlevel import checkpoint

from kbd.core.domain.lineage import LineageStep
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.core.plugins.format_calls import FormatCalls
from kbd.core.runtime.fairness import read_in_turn
from kbd.core.workbench.attribution import (
    Attribution,
    StepFormats,
    render_maker,
    steps_of_draft,
)
from kbd.core.workbench.change_set import find_renames
from kbd.core.workbench.sandbox import file_name
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.editing import own_file
from kbd.errors import FileReadFailed, KbdError, NotFound, ToolTimeout, ValidationFailed
from kbd.events.drafts import FileChanged
from kbd.formats import (
    Change,
    ChangeList,
    Comparable,
    CompareOptions,
    Comparison,
    FormatHandler,
    Hunk,
    Place,
)
from kbd.requests import reviews as wire
from kbd.requests.base import UNSET, Unset
from kbd.tools import FileRef
from kbd.types import BlobHash, FileName, Seq

__all__ = ["DraftVersions", "answer_diff", "compare_versions", "find_versions"]

ANSWER_BYTES = 4 * 1024 * 1024
"""The changes of one answer, and again its hunks; a message is at most 10 MiB."""

_LABELS: dict[wire.ReferenceSource, str] = {
    "draft_start_snapshot": "Reference (Draft start)",
    "published_current_fallback": "Published (current preview)",
    "none": "No reference",
}


T = TypeVar("T")


class DraftVersions(msgspec.Struct, frozen=True):
    """Both versions of a file of the draft, or of a change that the log holds.

    Args:
        name: The file.
        before: Its reference; None for a file that is new, or where nothing can be read.
        after: The draft's version; None if the draft deletes it.
        source: Where the reference is from.
        warning: Why it is not what the file was when the draft began; "" if it is.
    """

    name: FileName
    before: FileRef | None
    after: FileRef | None
    source: wire.ReferenceSource = "draft_start_snapshot"
    warning: str = ""


async def find_versions(workbench: OpenWorkbench, path: str) -> DraftVersions:
    """Return both versions of a file; the same twice for one that the draft leaves as it is.

    Args:
        workbench: The workbench.
        path: The file's name, or that of one that the draft deletes.

    Raises:
        ValidationFailed: No draft is open.
        NotFound: There is no such file.
        SandboxViolation: The path would leave the workbench.
    """
    state, name = workbench.state, file_name(path)
    if state.draft is None:
        msg = "draft not found: there is nothing to review"
        raise ValidationFailed(msg)
    drafted = state.draft.files.get(name)
    if drafted is None:
        seen = state.published(name)
        if seen is None:
            msg = f"there is no file {name!r} in the draft"
            raise NotFound(msg)
        same = _version(workbench, name, seen.blob, seen.size_bytes)
        return DraftVersions(name, same, same)
    after = None
    if drafted.blob is not None:
        after = _version(workbench, name, drafted.blob, drafted.size_bytes)
    # A renamed file is compared with what it was under its other name.
    before_name = find_renames(state).get(name, name)
    base = state.draft.files[before_name]
    if base.base is None:
        return DraftVersions(name, None, after)
    reference = _version(workbench, before_name, base.base, base.base_size_bytes)
    if await read_in_turn(_is_whole, workbench, reference):
        return DraftVersions(name, reference, after)
    return await _fall_back(workbench, DraftVersions(name, None, after), before_name)


async def _fall_back(
    workbench: OpenWorkbench, versions: DraftVersions, name: FileName
) -> DraftVersions:
    """Return the versions with what is published now in place of a lost reference."""
    lost = "what this file was when the draft began cannot be read any more"
    published = workbench.state.published(name)
    if published is not None:
        current = _version(workbench, name, published.blob, published.size_bytes)
        on_disk = msgspec.structs.replace(current, path=workbench.folders.published / name)
        for file, check in ((current, _is_whole), (on_disk, _is_published)):
            if await read_in_turn(check, workbench, file):
                return msgspec.structs.replace(
                    versions,
                    before=file,
                    source="published_current_fallback",
                    warning=f"{lost}; it is compared with what is published now",
                )
    return msgspec.structs.replace(
        versions, source="none", warning=f"{lost}, and nothing is published; it is shown as it is"
    )


def _version(workbench: OpenWorkbench, name: FileName, blob: BlobHash, size_bytes: int) -> FileRef:
    return FileRef(name, blob, size_bytes, workbench.blobs.path(blob))


def _is_whole(workbench: OpenWorkbench, file: FileRef) -> bool:
    """Return whether the stored bytes of a file are those that its hash names."""
    try:
        workbench.blobs.store.check(file.blob)
    except KbdError:
        return False
    return True


def _is_published(workbench: OpenWorkbench, file: FileRef) -> bool:
    """Return whether published/ holds the bytes of a file, and no link in their place."""
    try:
        return workbench.files.published_hash(file.name) == file.blob
    except KbdError:
        return False


async def find_recorded_versions(workbench: OpenWorkbench, path: str, seq: Seq) -> DraftVersions:
    """Return both versions of a file as a recorded change has them.

    Raises:
        NotFound: That event did not change this file.
        SandboxViolation: The path would leave the workbench.
    """
    name = file_name(path)
    for at, record in await workbench.keeper.journal.read(Seq(seq - 1), 1):
        if at == seq and isinstance(record.data, FileChanged) and record.data.name == name:
            changed = record.data
            before = after = None
            if changed.before is not None:
                before = _version(workbench, name, changed.before, changed.before_size_bytes)
            if changed.after is not None:
                after = _version(workbench, name, changed.after, changed.size_bytes)
            return DraftVersions(name, before, after)
    msg = f"event {seq} did not change {name!r}"
    raise NotFound(msg)


async def compare_versions(
    formats: FormatCalls,
    before: FileRef | None,
    after: FileRef | None,
    options: CompareOptions = CompareOptions(),  # noqa: B008 - it is frozen
) -> Comparison:
    """Compare two versions by their contents; where that fails, by size and hash, with the reason.

    Raises:
        ValidationFailed: An option does not fit the file.
    """
    found, _ = await _compare(formats, before, after, options)
    return found


async def _compare(
    formats: FormatCalls,
    before: FileRef | None,
    after: FileRef | None,
    options: CompareOptions,
) -> tuple[Comparison, bool]:
    """Return the comparison, and whether it is that of the contents of both versions."""
    if before is not None and after is not None and before.blob == after.blob:
        return ChangeList().comparison(), True
    file = after or before
    assert file is not None
    handler = formats.for_name(file.name)
    if not isinstance(handler, Comparable):
        kind = "of this kind" if handler is None else f"of the format {handler.name}"
        warning = f"files {kind} are not compared by their contents"
        return _compare_bytes(before, after, warning), False
    try:
        return await formats.compare(before, after, options), True
    except (FileReadFailed, ToolTimeout) as error:
        return await _compare_readable(formats, before, after, options, error), False


async def _compare_readable(
    formats: FormatCalls,
    before: FileRef | None,
    after: FileRef | None,
    options: CompareOptions,
    error: KbdError,
) -> Comparison:
    """Show the draft's version alone where the two cannot be compared; else sizes and hashes."""
    warning = f"the versions could not be compared: {error.message}"
    if before is not None and after is not None and not isinstance(error, ToolTimeout):
        try:
            alone = await formats.compare(None, after, options)
        except (FileReadFailed, ToolTimeout):
            return _compare_bytes(before, after, warning)
        warnings = (f"{warning}; all of this version is shown", *alone.warnings)
        return msgspec.structs.replace(alone, warnings=warnings)
    return _compare_bytes(before, after, warning)


def _compare_bytes(before: FileRef | None, after: FileRef | None, warning: str) -> Comparison:
    """Return the one change of a file that is told by its size and hash."""
    changes = ChangeList()
    changes.warn(warning)
    file = after or before
    assert file is not None
    kind = "changed" if before and after else "added" if after else "removed"
    changes.add(
        Change(
            place=Place(title=file.name),
            kind=kind,  # type: ignore[arg-type]
            what="file",
            before=_facts(before),
            after=_facts(after),
        )
    )
    return changes.comparison()


def _facts(file: FileRef | None) -> dict[str, Any] | None:
    return None if file is None else {"size_bytes": file.size_bytes, "sha256": file.blob}


async def answer_diff(
    workbench: OpenWorkbench,
    formats: FormatCalls,
    request: wire.DiffRequest,
    handler: FormatHandler | None = None,
) -> wire.ContentDiff:
    """Answer a comparison of a file of the draft, a page of it.

    Args:
        workbench: The workbench.
        formats: Its formats.
        request: What is asked.
        handler: The format that the file must be of; None for any.

    Raises:
        ValidationFailed: No draft is open, or the file is of another format, or an option does not
            fit it.
        NotFound: There is no such file, or the event did not change it.
    """
    if isinstance(request.seq, Unset):
        versions = await find_versions(workbench, request.path)
    else:
        versions = await find_recorded_versions(workbench, request.path, request.seq)
    file = versions.after or versions.before
    if handler is not None and file is not None:
        own_file(formats, handler, file)
    found, is_compared = ChangeList().comparison(), False
    if file is not None:
        options = _options(request)
        found, is_compared = await _compare(formats, versions.before, versions.after, options)
    page = tuple(_page(found.changes[request.offset :], request.limit))
    makers: list[LineageStep | None] = [None] * len(page)
    warnings = found.warnings
    if page and request.made_by and isinstance(request.seq, Unset):
        makers = await _find_makers(workbench, formats, versions, page, is_compared=is_compared)
        if unknown := makers.count(None):
            warnings += (f"it is not certain who made {unknown:,} of the {len(page):,} changes",)
    end = request.offset + len(page)
    has_more = end < len(found.changes)
    return wire.ContentDiff(
        path=versions.name,
        reference_source=versions.source,
        baseline_missing=versions.source != "draft_start_snapshot",
        changes=tuple(
            [
                _render_change(workbench.state, change, maker)
                async for change, maker in _unhurried(zip(page, makers, strict=True))
            ]
        ),
        total=found.total,
        has_more=has_more,
        counts=msgspec.convert(msgspec.to_builtins(found.counts), tuple[wire.ChangeCounted, ...]),
        warnings=warnings,
        reference_label=_LABELS[versions.source],
        reference_warning=versions.warning or UNSET,
        next_offset=end if has_more else UNSET,
        hunks=UNSET if found.hunks is None else _render_hunks(found.hunks, page),
    )


BURST = 100
"""Changes that are rendered before others get a turn: a few milliseconds."""


async def _unhurried(items: Iterable[T]) -> AsyncIterator[T]:
    """Yield items, with a turn for others after each burst."""
    for number, item in enumerate(items, 1):
        yield item
        if number % BURST == 0:
            await checkpoint()


async def _find_makers(
    workbench: OpenWorkbench,
    formats: FormatCalls,
    versions: DraftVersions,
    page: tuple[Change, ...],
    *,
    is_compared: bool,
) -> list[LineageStep | None]:
    """Return what made each change, None where it is not certain."""
    lineage = await workbench.lineages.read(workbench.keeper.journal, versions.name)
    head, base = lineage.drafted, lineage.base
    # The draft may have moved on since the versions were looked up.
    if head is None or head.after != (versions.after.blob if versions.after else None):
        return [None] * len(page)
    steps, is_whole = steps_of_draft(lineage)
    is_same = (base.after if base else None) == (versions.before.blob if versions.before else None)
    attribution = Attribution(
        steps,
        StepFormats(formats, workbench.blobs),
        is_whole=is_whole and is_same and is_compared,
    )
    return await attribution.find_makers(page)


def _options(request: wire.DiffRequest) -> CompareOptions:
    given = msgspec.structs.asdict(request)
    names = CompareOptions.__struct_fields__
    return CompareOptions(
        **{name: given[name] for name in names if not isinstance(given.get(name, UNSET), Unset)}
    )


def _page(changes: tuple[Change, ...], limit: int) -> Iterator[Change]:
    """Yield changes up to a limit, and as many as fit into an answer; one at the least."""
    room = ANSWER_BYTES
    for number, change in enumerate(changes[:limit]):
        room -= len(msgspec.json.encode(change))
        if number and room < 0:
            return
        yield change


def _render_change(
    state: WorkbenchState, change: Change, maker: LineageStep | None
) -> wire.ContentChange:
    # Left out at their defaults by the one record, and by the other: all but a value that is null.
    plain = msgspec.to_builtins(change)
    for side, absent in (("before", "added"), ("after", "removed")):
        if change.kind != absent and change.kind != "moved":
            plain.setdefault(side, None)
    rendered = msgspec.convert(plain, wire.ContentChange)
    if maker is None:
        return rendered
    return msgspec.structs.replace(rendered, made_by=render_maker(state, maker))


def _render_hunks(hunks: tuple[Hunk, ...], page: tuple[Change, ...]) -> tuple[wire.DiffHunk, ...]:
    """Return the hunks that the changes of a page are in, as many as fit into an answer."""
    lines = {
        side: {change.place.line for change in page if (change.kind == "removed") == removed}
        for side, removed in (("before", True), ("after", False))
    }
    rendered: list[wire.DiffHunk] = []
    room = ANSWER_BYTES
    for hunk in hunks:
        before = range(hunk.before_start, hunk.before_start + hunk.before_count)
        after = range(hunk.after_start, hunk.after_start + hunk.after_count)
        if not any(line in before for line in lines["before"]) and not any(
            line in after for line in lines["after"]
        ):
            continue
        plain = msgspec.to_builtins(hunk)
        room -= len(msgspec.json.encode(plain))
        if rendered and room < 0:
            break
        rendered.append(msgspec.convert(plain, wire.DiffHunk))
    return tuple(rendered)
