"""What goes into a case file: the log up to the run's end, what it names, and words for people."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from kbd import __version__
from kbd.core.archive.readme import readme_of
from kbd.core.archive.verifier import verifier_files
from kbd.core.archive.verify.manifest import Case, Member
from kbd.core.archive.writing import Source, sorted_members, weighed
from kbd.core.domain.fold import fold_workbench
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.core.replay.page import blobs_of, page_of
from kbd.core.replay.span import Numbered
from kbd.core.replay.steps import steps_of
from kbd.core.runtime.paths import WorkbenchFolders
from kbd.core.workbench.run_rows import run_info
from kbd.errors import LogCorrupt, NotFound
from kbd.events.anchor import ANCHOR_NAME, Anchor, anchor_bytes
from kbd.events.blobs import BlobStore
from kbd.events.codec import decode
from kbd.events.frame import BODY_AT
from kbd.events.log_copy import Extent, extent_of
from kbd.events.named_blobs import named_blobs
from kbd.events.scan import survey
from kbd.events.segment import Block, Segment
from kbd.types import BlobHash, Seq

__all__ = ["Contents", "Wanted", "contents_of"]

_TEXT_BYTES = 8 * 1024 * 1024
"""Longer blobs are not offered to the report; it cuts texts far shorter itself."""


class Wanted(msgspec.Struct, frozen=True):
    """Which run is to be written.

    Args:
        folders: Its workbench.
        number: Its number there.
        end: The durable end of its log.
        is_active: Whether it is under way: all that is durable belongs to it.
    """

    folders: WorkbenchFolders
    number: int
    end: Anchor
    is_active: bool


class Contents(msgspec.Struct, frozen=True):
    """All that a case file is made of.

    Args:
        case: What its manifest says.
        sources: Where the members' bytes come from.
        blobs: How many of them are blobs.
    """

    case: Case
    sources: tuple[Source, ...]
    blobs: int


def contents_of(wanted: Wanted) -> Contents:
    """Gather what goes into the case file of a run. Blocking; reads everything once.

    Raises:
        LogCorrupt: The log is damaged, be it behind the run, or a blob is missing or damaged:
            evidence must not look whole if it is not.
        NotFound: There is no such run.
        OSError: Something cannot be read.
    """
    log_dir, blobs_dir = wanted.folders.log, wanted.folders.blobs
    extent, events = _history(log_dir, wanted)
    state = WorkbenchState()
    blobs: dict[BlobHash, Seq] = {}
    for seq, record in events:
        fold_workbench(state, seq, record)
        for blob in named_blobs(record.data):
            blobs.setdefault(blob, seq)
    named = [_blob(BlobStore(blobs_dir), blob, seq) for blob, seq in sorted(blobs.items())]
    time = datetime.fromtimestamp(events[-1][1].ts_us // 1_000_000, UTC)
    case = Case(
        kbd=__version__,
        run=state.run_id(wanted.number),
        workbench=(state.workbench_id, state.name),
        seq=extent.seq,
        head=extent.head.hex(),
        time=f"{time:%Y-%m-%dT%H:%M:%SZ}",
        members=(),
    )
    made = {
        **verifier_files(),
        f"log/{ANCHOR_NAME}": anchor_bytes(Anchor(extent.seq, extent.head)),
        "report.html": _report(wanted, state, events).encode("utf-8", "replace"),
        "README.txt": readme_of(case).encode("utf-8", "replace"),
    }
    sources = [Source(name, len(data), data) for name, data in made.items()]
    sources += [Source(f"log/{name}", size, path=log_dir / name) for name, size in extent.files]
    members = [weighed(source) for source in sources] + [member for _, member in named]
    return Contents(
        case._replace(members=sorted_members(members)),
        (*sources, *(source for source, _ in named)),
        len(named),
    )


def _history(log_dir: Path, wanted: Wanted) -> tuple[Extent, list[Numbered]]:
    """Read the log up to the end of the run, with every check that it allows."""
    events: list[Numbered] = []

    def visit(segment: Segment, block: Block) -> None:
        for first, _, at, stop in block.spans():
            if first <= wanted.end.seq:
                try:
                    records = decode(block.data[at + BODY_AT : stop])
                except LogCorrupt as error:
                    error.detail |= {"file": segment.name, "offset": block.base + at, "seq": first}
                    raise
                events.extend((Seq(seq), record) for seq, record in enumerate(records, first))

    fault = survey(log_dir, chained=True, visit=visit, durable=wanted.end).fault
    last = max((seq for seq, record in events if record.run == wanted.number), default=Seq(0))
    if wanted.is_active:
        last = Seq(wanted.end.seq)
    if fault is not None:
        raise fault
    if not last:
        msg = f"there is no run {wanted.folders.id}-{wanted.number}"
        raise NotFound(msg)
    extent = extent_of(log_dir, last)
    return extent, events[: extent.seq]


def _blob(store: BlobStore, blob: BlobHash, seq: Seq) -> tuple[Source, Member]:
    """Read a blob and see that it is what its name says.

    Raises:
        LogCorrupt: It is not there, or something else.
    """
    path = store.path(blob)
    try:
        source = Source(f"blobs/{blob}", path.stat().st_size, path=path)
        member = weighed(source)
    except FileNotFoundError:
        msg = f"the blob {blob}, which event {seq} names, is missing; see `kbd verify`"
        raise LogCorrupt(msg, detail={"file": blob, "offset": 0, "seq": seq}) from None
    if member.sha256 != blob:
        msg = f"the blob {blob}, which event {seq} names, is damaged; see `kbd verify`"
        raise LogCorrupt(msg, detail={"file": blob, "offset": 0, "seq": seq})
    return source, member


def _report(wanted: Wanted, state: WorkbenchState, events: list[Numbered]) -> str:
    run = state.run(wanted.number)
    steps = steps_of(wanted.number, events)
    store = BlobStore(wanted.folders.blobs)
    texts: Mapping[BlobHash, str] = {
        blob: store.read(blob, limit=_TEXT_BYTES).decode("utf-8", "replace")
        for blob in blobs_of(steps)
    }
    asked = state.heard.get(run.message_id)
    return page_of(run_info(state, run), asked.text if asked else "", steps, texts)
