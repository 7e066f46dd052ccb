"""Readable copies of the log for people; nothing depends on them.

meta/workshop/tool_log.jsonl     every finished tool call, a call a line
meta/workshop/_rpi/research.md   of the newest message's run
meta/workshop/_rpi/plan.md
"""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from threading import get_ident
from typing import Any

import msgspec
from anyio.to_thread import run_sync

from kbd.core.domain.run_state import Run
from kbd.core.domain.state_text import plan_markdown
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.core.runtime.diagnostics import get_logger
from kbd.core.store.journal import Journal
from kbd.events.base import Recorded
from kbd.events.codec import format_time
from kbd.events.runs import ToolCalled, ToolReturned
from kbd.types import Seq

__all__ = [
    "clear_unfinished",
    "copy_texts",
    "current_run",
    "has_tool_log",
    "write_copies",
    "write_tool_log",
]

_TOOL_LOG = "tool_log.jsonl"

_log = get_logger(__name__)


def current_run(state: WorkbenchState) -> Run | None:
    """Return the run of the newest message, or None if its plan is set aside."""
    return state.run(state.current) if state.current else None


def copy_texts(state: WorkbenchState) -> dict[str, str | None]:
    """Return what research.md and plan.md should hold; None for one that should not be there."""
    run = current_run(state)
    return {
        "research.md": run.research if run else None,
        "plan.md": plan_markdown(run.plan) if run and run.plan else None,
    }


async def write_copies(folder: Path, texts: Mapping[str, str | None]) -> bool:
    """Bring research.md and plan.md up to date; those of a run that is set aside are removed.

    A copy that cannot be written is logged and left: no run fails for it.

    Args:
        folder: Where the copies lie.
        texts: What they should hold, as from `copy_texts`.

    Returns:
        Whether all are up to date.
    """
    paths = {folder / "_rpi" / name: text for name, text in texts.items()}
    return await run_sync(_write_all, paths)


def clear_unfinished(folder: Path) -> None:
    """Remove half-written copies of a killed daemon; blocking, nobody else writes."""
    for left in (*folder.glob("*.new"), *folder.glob("_rpi/*.new")):
        left.unlink(missing_ok=True)


def has_tool_log(folder: Path) -> bool:
    """Return whether the readable tool log is there; blocking. It may lag behind the log."""
    return (folder / _TOOL_LOG).exists()


async def write_tool_log(folder: Path, journal: Journal) -> None:
    """Write the readable tool log of a workbench from its events."""
    tools: dict[int, str] = {}
    lines: list[dict[str, Any]] = []

    def note(seq: int, record: Recorded) -> None:
        del seq
        match record.data:
            case ToolCalled(entry_id=entry_id, tool=tool):
                tools[entry_id] = tool
            case ToolReturned() as returned:
                lines.append(_call_line(returned, tools.get(returned.entry_id, ""), record))

    await journal.replay(note, Seq(0))
    await run_sync(lambda: _write_all({folder / _TOOL_LOG: _log_lines(lines)}))


def _call_line(returned: ToolReturned, tool: str, record: Recorded) -> dict[str, Any]:
    return {
        "id": returned.entry_id,
        "tool": tool,
        "tool_call_id": returned.call_id,
        "run": record.run,
        "success": returned.ok,
        "result": returned.result or returned.shown,
        "blob": returned.blob,
        "size_bytes": returned.size_bytes,
        "duration_ms": returned.duration_ms,
        "created_at": format_time(record.ts_us),
    }


def _log_lines(values: Iterable[dict[str, Any]]) -> str:
    return "".join(msgspec.json.encode(value).decode() + "\n" for value in values)


def _write_all(texts: Mapping[Path, str | None]) -> bool:
    """Write each text through a temporary file; None removes the copy. Return whether all were."""
    are_written = True
    for path, text in texts.items():
        try:
            if text is None:
                path.unlink(missing_ok=True)
                continue
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # The agent and who follows the log may be at it at once, each in a thread.
            fresh = path.with_name(f"{path.name}.{get_ident()}.new")
            fresh.write_text(text, "utf-8", "replace")
            # Not synced: what a crash takes is written anew from the log.
            os.replace(fresh, path)
        except OSError as fault:
            _log.warning("copy_not_written", copy=path.name, fault=fault.strerror)
            are_written = False
    return are_written
