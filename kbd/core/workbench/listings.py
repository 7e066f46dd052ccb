"""Rows of workbenches and of their files, as clients see them."""

import os
from pathlib import Path

import msgspec

from kbd.core.domain.daemon_state import KnownWorkbench
from kbd.core.plugins.catalog import Catalog
from kbd.core.runtime.settings import Limits
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.events.plain_form import format_time
from kbd.requests import workbenches as wire
from kbd.types import Seq

__all__ = [
    "closed_row",
    "disk_bytes",
    "file_rows",
    "workbench_info",
    "workbench_row",
    "workbench_scope",
]


def disk_bytes(folder: Path) -> int:
    """Return the size of a folder on disk, in bytes. Blocks."""
    total = 0
    for root, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(root, name)).st_blocks * 512
            except FileNotFoundError:
                continue  # It went while we looked: a stage file, a snapshot.
    return total


def workbench_row(bench: OpenWorkbench, size_bytes: int) -> wire.WorkbenchRow:
    """Return one line of the list of workbenches."""
    state = bench.state
    return wire.WorkbenchRow(
        id=state.workbench_id or bench.id,
        name=state.name,
        created_at=format_time(state.created_at_us),
        updated_at=format_time(state.updated_at_us),
        has_draft=state.draft is not None,
        files=sum(1 for _ in state.all_seen()),
        last_seq=state.seq,
        disk_bytes=size_bytes,
        reason=bench.damage.message if bench.damage is not None else msgspec.UNSET,
        parent_workbench_id=state.parent.workbench_id if state.parent else msgspec.UNSET,
    )


def closed_row(known: KnownWorkbench, size_bytes: int, reason: str) -> wire.WorkbenchRow:
    """Return the line of a workbench that cannot be opened."""
    created_at = format_time(known.created_at_us)
    return wire.WorkbenchRow(
        id=known.workbench_id,
        name=known.name,
        created_at=created_at,
        updated_at=created_at,
        has_draft=False,
        files=0,
        last_seq=Seq(0),
        disk_bytes=size_bytes,
        reason=reason,
    )


def workbench_info(
    bench: OpenWorkbench, size_bytes: int, default_model_id: str
) -> wire.WorkbenchInfo:
    """Return the full description of one workbench."""
    row = workbench_row(bench, size_bytes)
    parent = bench.state.parent
    forked: wire.ForkedFrom | msgspec.UnsetType = msgspec.UNSET
    if parent is not None:
        forked = wire.ForkedFrom(
            workbench_id=parent.workbench_id,
            mode=parent.mode,
            seq=parent.source_seq,
            forked_at=format_time(parent.forked_at_us),
            from_message_id=parent.from_message_id or msgspec.UNSET,
        )
    return wire.WorkbenchInfo(
        **msgspec.structs.asdict(row), default_model_id=default_model_id, forked=forked
    )


def file_rows(bench: OpenWorkbench, catalog: Catalog) -> tuple[wire.FileRow, ...]:
    """Return the files as runs see them: in the draft where they are changed there."""
    rows: list[wire.FileRow] = []
    for seen in bench.state.all_seen():
        kind = catalog.kind_of(seen.name)
        entry = bench.state.files.get(seen.name)
        rows.append(
            wire.FileRow(
                path=seen.name,
                size=seen.size_bytes,
                modified_at=format_time(seen.modified_at_us),
                added_at=format_time(entry.added_at_us if entry else seen.modified_at_us),
                file_kind=kind.kind,
                mime_type=kind.mime_type,
                is_opaque=kind.is_opaque,
                reason=kind.reason or msgspec.UNSET,
            )
        )
    return tuple(rows)


def workbench_scope(bench: OpenWorkbench, catalog: Catalog, limits: Limits) -> wire.Scope:
    """Return the scope of a workbench: what a run may touch."""
    return wire.Scope(
        limits=wire.ScopeLimits(max_files=limits.files, max_file_bytes=limits.file_bytes),
        supported_types=wire.SupportedTypes(
            editable_extensions=catalog.editable_suffixes(),
            readable_kinds=catalog.readable_kinds(),
            readable_extensions=catalog.readable_suffixes(),
        ),
        sandbox_root=str(bench.folders.root),
    )
