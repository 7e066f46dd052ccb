"""A workbench with a finished run, made without a daemon, and case files of it."""

from pathlib import Path

from events.logs import Unsynced
from kbd.core.audit.case_file import (
    CaseContents,
    CaseRequest,
    MemberSource,
    gather_contents,
    hash_member,
    sorted_members,
    write_case,
)
from kbd.core.audit.verify.manifest import Case
from kbd.core.runtime.paths import WorkbenchFolders
from kbd.events import BlobStore, Event, EventLog, codec
from kbd.events import drafts as d
from kbd.events import runs as r
from kbd.events import workbenches as w
from kbd.events.anchor import Anchor
from kbd.events.base import PluginUsed, ReplyCall
from kbd.events.scan import survey_log
from kbd.messages import Usage
from kbd.types import CallId, FileName, Phase, Seq, WorkbenchId

__all__ = ["RUN_ENDS", "case_bytes", "contents", "forged", "small", "workbench"]

NOON_US = 1_763_812_801_000_000
"""An odd second: zip keeps even ones."""

NAME = FileName("März.csv")
CALL = CallId("call_1")
BIG = bytes(range(256)) * 260
"""A blob of two pieces."""

RUN_ENDS = Seq(17)
"""The last event of the run."""


def workbench(folder: Path) -> WorkbenchFolders:
    """Make a workbench with one finished run, and an event after it."""
    folders = WorkbenchFolders(id=WorkbenchId("00112233445566ff"), root=folder)
    blobs = BlobStore(folders.blobs, Unsynced())
    log = EventLog.open(folders.log, disk=Unsynced(), entropy=lambda size: b"salt" * (size // 4))
    for run, commit in _commits(folders.id, blobs):
        log.append([codec.wrap_event(event, NOON_US, run) for event in commit])
    log.close()
    return folders


def _commits(workbench_id: WorkbenchId, blobs: BlobStore) -> list[tuple[int, tuple[Event, ...]]]:
    big, small = blobs.put_bytes(BIG), blobs.put_bytes(b"a;b\n1;2\n")
    opening = blobs.put_bytes(b'[{"role":"system","text":"do it"}]')
    result = blobs.put_bytes(b'{"rows":[[1,2]]}')
    worked = (PluginUsed("kbd_files", "0.1.0", "5" * 64),)
    return [
        (0, (w.WorkbenchCreated(workbench_id, "Überweisungen"),)),
        (0, (w.FileAdded(NAME, small, 8, "/srv/März.csv", NOON_US),)),
        (0, (w.UserMessageAdded("m1", "double it"),)),
        (1, (r.RunStarted("m1", "offline:planner"), r.PhaseStarted(Phase.IMPLEMENT))),
        (1, (r.PlanWritten("double it", ("Double",)), r.ItemStarted(1))),
        (1, (r.ModelRequested("offline:planner", 1, opening, "auto", ("read_file",)),)),
        (1, (r.ModelReplied("", (ReplyCall(CALL, "read_file"),), "tool_calls", Usage(5, 3)),)),
        (1, (r.ToolCalled(CALL, 1, "read_file", "kbd_files 0.1.0", "{}"),)),
        (
            1,
            (
                d.DraftOpened("d1"),
                d.FileChanged(NAME, small, big, len(BIG), 8, CALL, "edit"),
                r.ToolReturned(CALL, 1, True, "1 row", "", result, 16, 8, worked=worked),
            ),
        ),
        (1, (r.ItemCompleted(1, "done"), r.PhaseCompleted(Phase.IMPLEMENT))),
        (1, (r.SummaryWritten("Doubled."),)),
        (1, (r.RunFinished(has_draft=True),)),
        (0, (d.DraftDiscarded("d1"),)),
    ]


def contents(folders: WorkbenchFolders) -> CaseContents:
    """What goes into the case file of the run."""
    end = survey_log(folders.log)
    anchor = Anchor(end.seq, end.chain)
    return gather_contents(CaseRequest(folders, 1, anchor, is_active=False))


def small(folders: WorkbenchFolders) -> CaseContents:
    """The same with a short report: most of a report is alike in every case."""
    found = contents(folders)
    report = MemberSource("report.html", 6, b"<html>")
    kept = [source for source in found.sources if source.name != report.name]
    return forged(found, [*kept, report])


def forged(found: CaseContents, sources: list[MemberSource], **said: object) -> CaseContents:
    """A case of other members, or with a manifest that says something else, that fits together."""
    members = sorted_members(hash_member(source) for source in sources)
    case = Case(**{**found.case._asdict(), **said, "members": members})
    return CaseContents(case, tuple(sources), found.blobs)


def case_bytes(folder: Path, found: CaseContents) -> bytes:
    """Write a case file and return its bytes."""
    path = folder / "case.zip"
    with path.open("wb") as file:
        write_case(file, found.case, found.sources)
    return path.read_bytes()
