"""Make the golden log of the current format: `python tests/logs/make_golden.py`.

A golden log holds one event of every type, with contents that never change. Every `v*/` beside
this file is a log that some version of kbd wrote; all of them are read by all later versions. A
new type or field is appended in a new commit at the end of ADDED; when the format or a version
changes, the directory of today stays and a new one is begun.
"""

import shutil
import sys
from pathlib import Path

import msgspec

from kbd.events import Event, EventLog, codec
from kbd.events import approvals as a
from kbd.events import damages as g
from kbd.events import drafts as d
from kbd.events import recipes as c
from kbd.events import restores as s
from kbd.events import retention as t
from kbd.events import runs as r
from kbd.events import watches as f
from kbd.events import workbenches as w
from kbd.events.base import (
    Actor,
    CallNotes,
    FileVersion,
    ModelShare,
    Recorded,
    RecordedReadAs,
    ReplyCall,
    TableRead,
)
from kbd.messages import Decline, Usage
from kbd.types import BlobHash, CallId, FileName, Phase, RunId, Seq, WatchId, WorkbenchId

HERE = Path(__file__).resolve().parent
CURRENT = HERE / "v1"
SHOWN = "events.jsonl"
"""The records as plain values, one a line, as `codec.decode_plain` gives them."""

FIRST_US = 1_700_000_000_000_000
BENCH = WorkbenchId("00112233445566ff")
CSV, XLSX = FileName("data/transactions.csv"), FileName("résumé/summary.xlsx")
A, B, C = (BlobHash(digit * 64) for digit in "abc")
CALL = CallId("call_1")
DOCUMENT, RUN = "ab" * 32, RunId("00112233445566ff-1")
ASKED = ReplyCall(CALL, "table_query", '{"query":"select 1"}')
LONG = ReplyCall(CallId("call_2"), "write_text_file", blob=B, fault="too long")
REFUSAL = Decline("there is no column Größe", "total by Größe", ("total by Size", "what is in it?"))
WATCH = WatchId("ffeeddccbbaa9988")
# No blobs of a log: the copies of landed files go when their jobs are done.
LANDED = ("d" * 64, "e" * 64)
FIRST, SECOND = (Seq(101),), (Seq(102), Seq(103))
RULE = f.WatchRule(
    name="Überweisungen",
    folder="/home/someone/inbox",
    prompt="one sheet per category",
    patterns=("*.csv", "!old/*"),
    model_id="openai:some-model",
    mode="batch",
    quiet_s=0.5,
    deliver_to="/home/someone/outbox",
    publish="auto",
    limits=f.RuleLimits(50, 3, 2, 20),
    on_failure=f.FailurePolicy(1, 30.0, "pause"),
    on_outcome=("notify-send", "kbd"),
    consent=f.WatchConsent("openai", "openai:some-model"),
)

REWOUND = w.ConversationRewound(
    "m1",
    to_seq=9,
    reason="regenerate",
    files=(w.FileThen(CSV, A, 1204, 1_700, 1_699, A),),
    draft=w.DraftThen(
        "d1", 1_701, 1, (w.DraftedThen(XLSX, B, C, 9000, 8000, 1, (1, 2), ("B2",), ("n",)),), (CSV,)
    ),
    runs=w.RunsThen(2, 1, (2,), (1,)),
    checkpoint_id="c4",
)

EVENTS: tuple[Event, ...] = (
    w.DaemonStarted(3, 4711, "0.1.0", "asyncio"),
    w.PluginLoaded("kbd_xlsx", "0.1.0", "built-in"),
    w.PluginLeftOut("kbd_odd", "it raised ImportError"),
    w.WorkbenchCreated(BENCH, "Überweisungen"),
    w.FileAdded(CSV, A, 1204, "/home/someone/transactions.csv", 1_699_999_999_000_000),
    w.FileRemoved(FileName("old.txt")),
    w.ModelChosen("offline:planner"),
    w.ConsentGranted("openai", "openai:some-model", "5" * 64, persist=False),
    w.UserMessageAdded("m1", "one sheet per category\nwith totals – bitte"),
    r.RunStarted("m1", "offline:planner"),
    r.PhaseStarted(Phase.RESEARCH),
    r.ModelRequested("offline:planner", 1, B, "auto", ("read_file", "table_query")),
    r.ModelReplied("Let me look.", (ASKED, LONG), "tool_calls", Usage(120, 45), True),
    r.ToolCalled(CALL, 1, "table_query", "kbd_tables 0.1.0"),
    r.ToolReturned(CALL, 1, True, "12 rows", '{"rows":12}', None, 11, 8, None, "f" * 16),
    r.ToolReturned(CALL, 2, False, "Error: TOOL_TIMEOUT: 30 s", blob=A, error_code="TOOL_TIMEOUT"),
    r.ToolRefused(CallId("call_2"), "write_text_file", "VALIDATION_FAILED", "Error: no", "e" * 16),
    r.ModelFailed("PROVIDER_RATE_LIMITED", "too many requests", 1, 10_000),
    r.ResearchWritten("# Research\n12 categories"),
    r.PhaseCompleted(Phase.RESEARCH),
    r.PlanWritten("Split the table", ("Create the workbook", "Fill the sheets"), "None."),
    r.ItemStarted(1),
    r.ItemRetried(1, "TURN_LIMIT", "30 turns were not enough"),
    r.ItemStarted(1, 2),
    d.DraftOpened("d1"),
    d.FileChanged(XLSX, A, C, 9000, 8000, CALL, "edit", ("an external reference",)),
    r.ItemCompleted(1, "done"),
    r.ItemsAdded(("Check the totals",)),
    r.ItemsRefused(("One more", "And one more"), "the plan may only double"),
    r.ItemFailed(2, "AGENT_LOOP_DETECTED", "the same call three times"),
    r.SummaryWritten("12 sheets."),
    w.AssistantMessageAdded("m2", "12 sheets."),
    r.RunFinished(has_draft=True),
    r.RunInterrupted("the daemon stopped"),
    r.RunResumed("offline:planner"),
    r.RunCancelRequested(),
    r.RunCancelled(),
    r.RunFailed("PROVIDER_UNAVAILABLE", "no answer", "rpi_implement", True),
    d.DeletionConfirmed((CSV,)),
    d.PublishIntended("p1", (d.PlannedFile(XLSX, None, C, 9000),), ((CSV, FileName("copy.csv")),)),
    d.CheckpointCreated("c1", "publish", "before the publish", (FileVersion(CSV, A, 1204),)),
    d.PublishCompleted("p1", "c1", ((CSV, FileName("copy.csv")),)),
    d.PublishAborted("p2", "a file changed meanwhile"),
    d.EffectIntended("e1", "extract", "/home/someone/out", FileVersion(XLSX, C, 9000)),
    d.EffectDone("e1", "summary (2).xlsx"),
    d.EffectAborted("e2", "the folder is gone"),
    d.DraftDiscarded("d1"),
    w.LogRepaired("00000000000000000001.kbl", 4096, 17, "00000000000000000001.kbl.torn-1"),
    w.WorkbenchDeleted(BENCH),
    w.DaemonStopped("asked to"),
)
"""One event of every type that there was at first."""

SHEET_READ = TableRead(FileName("b.xlsx"), "März", {"decimal": ","}, (("Betrag", "float"),), 12)

ADDED: tuple[tuple[Event, ...], ...] = (
    (
        r.ToolCalled(CallId("w1"), 3, "XlsxApplyOps", "kbd_xlsx 0.2.0", '{"ops":[]}'),
        d.DraftOpened("d2"),
        d.FileChanged(
            XLSX, A, C, 9000, 8000, CallId("w1"), "edit", ("B2: a link", "a query"), ("a query",)
        ),
        r.ToolReturned(CallId("w1"), 3, True, '{"ok":true}', size_bytes=11, duration_ms=5),
    ),
    (
        r.ToolCalled(CallId("w2"), 4, "XlsxApplyOps", "kbd_xlsx 0.2.0", arguments_blob=B),
        r.ToolReturned(CallId("w2"), 4, False, "Error: no", error_code="VALIDATION_FAILED"),
    ),
    (
        f.WatchAdded(WATCH, RULE),
        f.FilesPassedOver(WATCH, (f.PassedFile("alt/März.csv", "7:1700:1701:12"),)),
        f.WatchAdded(WatchId("1"), f.WatchRule("inbox", "/srv/in", "sum it up")),
        f.FilesWritten("/home/someone/inbox", LANDED),
        f.FileLanded(WATCH, "Mai.csv", LANDED[0], 1204, "1204:1700:1701:13"),
        f.FileLanded(
            WATCH, "Juni.csv", LANDED[0], 1204, "1204:1700:1702:13", 1, "moved", "Mai.csv"
        ),
        f.FileLanded(
            WATCH, "zu.csv", "", 9, "9:1:1:14", 1, "failed", code="FILE_READ_FAILED", message="no"
        ),
    ),
    (
        f.WatchRunStarted(WATCH, FIRST, BENCH),
        f.WatchRunFinished(
            WATCH,
            FIRST,
            BENCH,
            "failed",
            RunId("1"),
            "PROVIDER_UNAVAILABLE",
            "no answer",
            retry_at_us=FIRST_US,
        ),
        f.WatchRunStarted(WATCH, FIRST, BENCH, 2),
        f.FilesWritten("/home/someone/outbox", LANDED[1:], WATCH, 1),
        f.WatchRunFinished(
            WATCH, FIRST, BENCH, "published", RunId("1"), delivered=("/home/someone/outbox/x.xlsx",)
        ),
        f.WatchCommandEnded(WATCH, FIRST, 0),
        f.WatchCommandEnded(WATCH, SECOND, message="it is not there"),
        f.LandingsParked(WATCH, SECOND, "BUDGET_CAP_REACHED", "5 within an hour"),
        f.LandingsRetried(WATCH, (Seq(102),)),
        f.LandingsDismissed(WATCH, (Seq(103),)),
        f.WatchPaused(WATCH),
        f.WatchSuspended(WATCH, "BUDGET_CAP_REACHED", "100 runs within an hour"),
        f.WatchResumed(WATCH, f.WatchConsent("openai", "openai:other-model")),
        f.WatchRemoved(WATCH),
    ),
    (
        w.WorkbenchForked(BENCH, "clone_all", 41, "m1"),
        w.ContextSet("situation", "Year end: “net” only", "memo.docx"),
        w.ContextRemoved("situation"),
        w.UserMessageAdded("m2", "again", FIRST_US),
        w.AssistantMessageAdded("a2", "done", FIRST_US),
        w.ConsentGranted("openai", "openai:some-model", "6" * 64, endpoint="ai.example:443"),
        d.CheckpointCreated("c2", "manual", "", (), FIRST_US),
    ),
    (
        r.RunStarted("m2", "openai:some-model", "a1"),
        r.NoticeGiven("STYLE_MERGE_FAILED", "document-style was left out"),
        w.RequestSent("openai", "openai:some-model", "ai.example:443", "POST", "/v1/chat", 4096),
        r.ModelRequested(
            "openai:some-model", 2, B, "auto", (), 4000, 1200, "low", ("tool_choice", "strict")
        ),
        r.ModelFailed(
            "PROVIDER_UNAVAILABLE", "cut short", 1, 10_000, "", "# Rese", Usage(1200, 2), 0.0031
        ),
        r.ModelFailed("VALIDATION_FAILED", "400", option="effort"),
        r.ModelReplied("yes", (), "stop", Usage(1, 2), cost=0.25),
    ),
    (
        d.PublishIntended("p3", (d.PlannedFile(CSV, C, A, 1204),), rewind=REWOUND),
        REWOUND,
        d.PublishIntended("p4", (), restores="c1"),
        d.CheckpointRestored("c1", "c3"),
    ),
    (
        w.SettingChanged("reasoning_effort", "high", "openai", "plan"),
        w.SettingChanged("consent_mode", "allow_all"),
        w.RequestSent("openai", "", "ai.example:443", "GET", "/v1/models", 120, "validate"),
        w.BudgetReserved("r1", "2023-11-14", BENCH, 3, "openai:some-model", 9000, 0.04),
        w.BudgetCharged("r1", 5000, 0.02),
    ),
    (
        w.RequestSent(
            "openai",
            "openai:some-embedder",
            "ai.example:443",
            "POST",
            "/v1/embeddings",
            90,
            "embed",
        ),
        r.ToolReturned(
            CallId("w3"),
            5,
            True,
            "{}",
            outside=ModelShare("openai:some-model", Usage(7, 8), 0.5),
        ),
    ),
    (
        d.DraftRecovered(
            w.DraftThen(
                "d1", 1_701, 1, (w.DraftedThen(XLSX, B, C, 9000, 8000, 1, (1, 2), runs=(1, 2)),)
            ),
            ended_seq=47,
            is_whole=False,
            runs=(1,),
        ),
    ),
    (
        d.FileAdopted(CSV, B, 21),
        r.ToolCalled(CallId("rebase-1"), 6, "CsvApplyOps", arguments="{}", repeats=3),
        d.FileChanged(CSV, B, A, 20, 21, call_id=CallId("rebase-1"), cause="rebase"),
        r.ToolReturned(CallId("rebase-1"), 6, True, "{}"),
        d.FileAdopted(XLSX, None),
        d.DraftRebased("d5", "d4", (CSV, XLSX)),
    ),
    (d.ReceiptMade("c2", C, 4096),),
    (d.PublishIntended("p5", (), accepted=((XLSX, ("a link to http://ai.example",)),)),),
    (
        a.ApprovalRequested("00112233445566ff-a1-0", "publish", (a.AskedFile(CSV, A, B),)),
        a.ApprovalRequested("00112233445566ff-a1-1", "deletion", (a.AskedFile(XLSX, A),)),
        a.ApprovalRequested(
            "00112233445566ff-a1-2",
            "external",
            (a.AskedFile(XLSX, None, C, ("http://ai.example/x",)),),
        ),
    ),
    (
        a.ApprovalRequested(
            "00112233445566ff-a2",
            "call",
            provider_id="openai",
            model_id="openai:some-model",
            scope_hash="e" * 64,
            endpoint="ai.example:443",
            tool="workspace_summarize",
            call_id=CALL,
        ),
    ),
    (a.ApprovalDecided("00112233445566ff-a2", "decline"),),
    (
        s.WorkbenchRestored("89abcdef01234567"),
        s.HomeRestored("89abcdef01234567", "2023-11-14T22:13:20.000000Z"),
        f.WatchResumed(
            WatchId("1"),
            confirmed=f.RuleConfirmation(("notify-send", "it's done"), "auto", "/home/someone/out"),
        ),
    ),
    (
        w.PluginEndedDaemon("kbd_odd", "1.0"),
        w.PluginLeftOut("kbd_odd", "the settings block it", is_blocked=True),
    ),
    (
        w.ReadingChosen(CSV, RecordedReadAs(encoding="cp1252", decimal=",", date_order="dmy")),
        w.ReadingChosen(CSV, RecordedReadAs()),
        r.ToolCalled(CallId("w3"), 5, "table_query", "kbd_tables 0.2.0", '{"query":"FROM data"}'),
        r.ToolReturned(CallId("w3"), 5, True, "{}", noted=CallNotes(("a.csv: its dates are",))),
        f.WatchAdded(
            WatchId("2"),
            f.WatchRule("euros", "/srv/in", "sum", read_as=RecordedReadAs(decimal=",")),
        ),
    ),
    (
        r.ToolCalled(CallId("w4"), 6, "table_stats", "kbd_tables 0.2.0", '{"path":"b.xlsx"}'),
        r.ToolReturned(
            CallId("w4"),
            6,
            True,
            "{}",
            noted=CallNotes(readings=(SHEET_READ, TableRead(CSV))),
        ),
    ),
    (
        r.ModelReplied("I do not", finish_reason="declined", refusal=REFUSAL),
        r.RunFinished(has_draft=False, refusal=Decline(REFUSAL.reason)),
    ),
    (
        c.RecipeSaved("monthly-split", DOCUMENT, 'recipe = 1\nname = "monthly-split"\n', RUN),
        c.RecipeRemoved("monthly-split"),
        f.WatchAdded(
            WatchId("3"),
            f.WatchRule(
                "split", "/srv/in", "split it", recipe=f.RuleRecipe("monthly-split", "model")
            ),
        ),
    ),
    (
        w.UserMessageAdded(
            "u9", "Recipe monthly-split: split.", 0, "recipe:monthly-split@abababababab", DOCUMENT
        ),
        r.PhaseStarted(Phase.RESEARCH),
    ),
    (w.TraceSent(WorkbenchId("0123456789abcdef"), 2, "traces.example:4318", "/v1/traces", 9000),),
    (
        w.WorkbenchArchived(BENCH, "f" * 64, 20_480, Seq(33), "published on 2026-10-01"),
        w.WorkbenchUnarchived(BENCH, "it was asked for"),
        w.WorkbenchDeleted(BENCH, "archived for 365 days"),
    ),
    (
        g.DamageFound(BENCH, "blob damaged", f"aa/{A}", 0, 2, "its 3 bytes are not those"),
        g.DamageFound(
            WorkbenchId("daemon"), "damaged", "00000000000000000001.kbl", 64, 1, "flipped"
        ),
        g.DamageMended(BENCH, "blob damaged", f"aa/{A}"),
    ),
    (
        w.RetentionPlanned(WATCH, 365, 12, 40_960, "this is the first time"),
        f.WatchAdded(WATCH, RULE, f.RuleRetention(30, 365)),
    ),
    (
        t.BlobsCollected((B, C), 17_000, "only drafts discarded more than 30 days ago had them"),
        t.StorageReclaimed("0123456789abcdef", "unnamed", 2, 4096, "no event names them"),
        t.StorageReclaimed("", "landed", 1, 21, "their landings are done", "1"),
    ),
)
"""What came later, a commit each: fields that were added, clients' calls, which have no run,
watched folders, what models cost, are told and may undo, and searches."""


CLIENT = Actor("kbd", 7, "0.1.0", "terminal")
CLIENTS_FROM = len(ADDED) - 16
"""From which of what came later on a client asked for it."""

DOCUMENTS_FROM = len(ADDED) - 6
"""From which of what came later on it belongs to the run of a recipe."""


def commits() -> list[list[Recorded]]:
    """The golden records: commits of one, two, three events in turn, as a run would write them."""
    records = [
        codec.wrap_event(event, _time_us(n), run=n % 3, cause=n if n % 4 == 0 else 0)
        for n, event in enumerate(EVENTS)
    ]
    place = len(records)
    made: list[list[Recorded]] = []
    while records:
        size = len(made) % 3 + 1
        made.append(records[:size])
        records = records[size:]
    for n, commit in enumerate(ADDED):
        actor = CLIENT if n >= CLIENTS_FROM else None
        document = DOCUMENT if n >= DOCUMENTS_FROM else ""
        made.append([
            codec.wrap_event(event, _time_us(place), actor=actor, document=document)
            for event in commit
        ])  # fmt: skip
        place += 1
    return made


def _time_us(place: int) -> int:
    return FIRST_US + place * 1_000_003


def write(directory: Path) -> None:
    """Write the golden log, byte for byte the same each time."""
    log = EventLog.open(
        directory, segment_bytes=3000, entropy=lambda size: bytes(range(size)), clock=lambda: 0.0
    )
    for commit in commits():
        log.append(commit)
    log.close()


def main() -> None:
    """Replace the golden log of the current format."""
    shutil.rmtree(CURRENT, ignore_errors=True)
    write(CURRENT)
    lines = [codec.decode_plain(codec.encode(commit)) for commit in commits()]
    shown = b"".join(msgspec.json.encode(item) + b"\n" for commit in lines for item in commit)
    (CURRENT / SHOWN).write_bytes(shown)
    sys.stdout.write(f"{CURRENT}: {sum(map(len, commits()))} events\n")


if __name__ == "__main__":
    main()
