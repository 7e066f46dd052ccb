"""Change set of a draft: the files that differ, and what a publish still asks about them."""

import msgspec

from kbd.core.domain.workbench_state import DraftFile, WorkbenchState
from kbd.core.plugins.catalog import Catalog
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.requests import drafts
from kbd.types import BlobHash, FileName

__all__ = ["change_set", "deletion_confirmations", "find_renames"]


def change_set(workbench: OpenWorkbench, catalog: Catalog) -> drafts.ChangeSet:
    """Return what the draft changes; empty if there is none.

    A deletion and an addition of equal content are shown as one renamed file.
    """
    state = workbench.state
    if state.draft is None:
        return drafts.ChangeSet(draft_id=None, changes=())
    renamed = find_renames(state)
    renamed_from = set(renamed.values())
    rows = tuple(
        _row(state, catalog, name, drafted, renamed.get(name))
        for name, drafted in sorted(state.draft.files.items())
        if name not in renamed_from
    )
    return drafts.ChangeSet(
        draft_id=state.draft.draft_id, changes=rows, draft_summary=_summary(state)
    )


def deletion_confirmations(state: WorkbenchState) -> drafts.DeletionConfirmations:
    """Return which deletions are confirmed and which a publish still needs."""
    draft = state.draft
    deleted = [name for name, file in draft.files.items() if file.blob is None] if draft else []
    confirmed = set(draft.confirmed) if draft else set()
    return drafts.DeletionConfirmations(
        confirmed=tuple(sorted(name for name in deleted if name in confirmed)),
        pending=tuple(sorted(name for name in deleted if name not in confirmed)),
    )


def _summary(state: WorkbenchState) -> str | msgspec.UnsetType:
    for run in reversed(state.runs):
        if run.summary and not run.undone:
            return run.summary
    return msgspec.UNSET


SUMMARY_CHARACTERS = 300


def _file_summary(state: WorkbenchState, drafted: DraftFile) -> str:
    """Return what the run itself says of a file: the answers of the items that changed it."""
    if not drafted.run:
        return ""
    plan = state.run(drafted.run).plan
    items = plan.items if plan is not None else []
    answers = [items[number - 1] for number in drafted.items if number <= len(items)]
    first_lines = (
        next((text.strip() for text in item.answer.splitlines() if text.strip()), item.text)
        for item in answers
    )
    summary = " ".join(dict.fromkeys(first_lines))
    if len(summary) <= SUMMARY_CHARACTERS:
        return summary
    return summary[: SUMMARY_CHARACTERS - 1] + "…"


def find_renames(state: WorkbenchState) -> dict[FileName, FileName]:
    """Return new names with the old ones, where a deletion and an addition have equal bytes."""
    files = state.draft.files if state.draft else {}
    deleted: dict[BlobHash | None, list[FileName]] = {}
    for name, file in sorted(files.items(), reverse=True):
        if file.blob is None:
            deleted.setdefault(file.base, []).append(name)
    renamed: dict[FileName, FileName] = {}
    for name, file in sorted(files.items()):
        if file.base is None and deleted.get(file.blob):
            renamed[name] = deleted[file.blob].pop()
    return renamed


def _row(
    state: WorkbenchState,
    catalog: Catalog,
    name: FileName,
    drafted: DraftFile,
    previous: FileName | None,
) -> drafts.ChangeRow:
    kind = catalog.kind_of(name)
    before: int | msgspec.UnsetType = msgspec.UNSET
    if drafted.base is not None:
        before = drafted.base_size_bytes
    return drafts.ChangeRow(
        path=name,
        change_type=_change_type(drafted, previous),
        file_kind=kind.kind,
        preview_kind="none" if kind.is_opaque else kind.kind,
        size_bytes=drafted.size_bytes if drafted.blob is not None else 0,
        size_before=before,
        summary=_file_summary(state, drafted) or msgspec.UNSET,
        focus_hint=drafted.focus or msgspec.UNSET,
        warnings=(*drafted.warnings, *drafted.notes),
        run_id=state.run_id(drafted.run) if drafted.run else None,
        items=tuple(drafted.items),
        previous_path=previous if previous is not None else msgspec.UNSET,
    )


def _change_type(drafted: DraftFile, previous: FileName | None) -> drafts.ChangeType:
    if previous is not None:
        return "renamed"
    if drafted.blob is None:
        return "deleted"
    return "added" if drafted.base is None else "modified"
