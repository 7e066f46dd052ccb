"""State of a workbench after any event of its past: a fresh fold of the log up to there."""

import hashlib
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, Literal

import msgspec

from kbd.core.domain.fold import fold_workbench
from kbd.core.domain.long_lists import plain_parts
from kbd.core.domain.run_state import Run
from kbd.core.domain.state_text import plan_markdown
from kbd.core.domain.workbench_state import Draft, DraftFile, WorkbenchState
from kbd.errors import LogCorrupt, NotFound
from kbd.events.base import Recorded
from kbd.events.scan import read_log
from kbd.requests.replays import FileAt, RunAt
from kbd.types import FileName, Seq

__all__ = [
    "drafts_before",
    "encoded_state",
    "files_at",
    "plain_state",
    "run_at",
    "state_at",
    "state_hash",
]


class _Reached(Exception):
    """The last event that counts is folded."""


def state_at(log_dir: Path, seq: Seq) -> WorkbenchState:
    """Fold a log from its first event up to one; blocking, and the log may be in use.

    Args:
        log_dir: The log's folder.
        seq: The last event that counts; 0 is before the first.

    Raises:
        NotFound: The log ends before it.
        LogCorrupt: The log is damaged before it.
    """
    return _folded(log_dir, seq, lambda _state, _at: None)


def drafts_before(log_dir: Path, seqs: Collection[Seq]) -> dict[Seq, Draft]:
    """Return the drafts that were open just before some events, in one walk; blocking.

    Where none was open, the event is not among them.

    Args:
        log_dir: The log's folder; it may be in use.
        seqs: The events.

    Raises:
        NotFound: The log ends before one of them.
        LogCorrupt: The log is damaged before one of them.
    """
    wanted, drafts = frozenset(seqs), dict[Seq, Draft]()

    def look(state: WorkbenchState, at: Seq) -> None:
        # The next one ends the draft, and a draft that has ended is changed no more.
        if at + 1 in wanted and state.draft is not None:
            drafts[Seq(at + 1)] = state.draft

    _folded(log_dir, Seq(max(wanted, default=1) - 1), look)
    return drafts


def _folded(log_dir: Path, seq: Seq, look: Callable[[WorkbenchState, Seq], None]) -> WorkbenchState:
    """Fold a log up to an event; `look` sees the state after each one."""
    state = WorkbenchState()
    if seq == 0:
        return state

    def apply(at: Seq, record: Recorded) -> None:
        fold_workbench(state, at, record)
        look(state, at)
        if at == seq:
            raise _Reached

    try:
        found = read_log(log_dir, apply, seq)
    except _Reached:
        return state  # What comes behind it, damage too, is nothing to it.
    if found.fault is not None:
        fault = found.fault
        msg = f"the log is damaged behind event {state.seq}: {fault.message}"
        raise LogCorrupt(msg, detail=fault.detail)
    msg = f"the log ends at event {state.seq}; there is no event {seq}"
    raise NotFound(msg, detail={"last_seq": state.seq})


def encoded_state(state: WorkbenchState) -> bytes:
    """Return a state as JSON that is equal for equal states, to the byte.

    Sets and dicts are in the order of their keys, for in which order they grew is no part of what
    is true.
    """
    return msgspec.json.encode(plain_state(state), order="deterministic")


def plain_state(state: WorkbenchState) -> dict[str, Any]:
    """Return a state as JSON has it, with the conversation as it stands."""
    # JSON has no keys but text, and msgspec puts in order only those.
    plain, said = (
        msgspec.to_builtins(part, str_keys=True, order="deterministic", enc_hook=plain_parts)
        for part in (state, list(state.said))
    )
    return {**plain, "said": said}


def state_hash(state: WorkbenchState) -> str:
    """Return the SHA-256 of a state's encoding: equal if and only if the state is."""
    return hashlib.sha256(encoded_state(state)).hexdigest()


def files_at(state: WorkbenchState) -> tuple[FileAt, ...]:
    """Return the current files by name; of one that the draft changes, its draft version."""
    drafted = state.draft.files if state.draft else {}
    found = [
        FileAt(path=name, state="published", size_bytes=entry.size_bytes, hash=entry.blob)
        for name, entry in state.files.items()
        if name not in drafted
    ]
    found += [_drafted(name, file) for name, file in drafted.items()]
    return tuple(sorted(found, key=lambda file: file.path))


def run_at(state: WorkbenchState) -> RunAt | None:
    """Return the newest run and its state."""
    run: Run | None = state.runs[-1] if state.runs else None
    if run is None:
        return None
    return RunAt(
        run_id=state.run_id(run.number),
        status=run.status.value,
        phase=run.phase,
        item=run.item,
        attempt=run.attempt,
        research=run.research or "",
        plan=plan_markdown(run.plan) if run.plan else "",
        summary=run.summary or "",
        usage=run.usage,
    )


def _drafted(name: FileName, file: DraftFile) -> FileAt:
    if file.blob is None:
        return FileAt(path=name, state="deleted", size_bytes=0, hash=None)
    state: Literal["added", "modified"] = "added" if file.base is None else "modified"
    return FileAt(path=name, state=state, size_bytes=file.size_bytes, hash=file.blob)
