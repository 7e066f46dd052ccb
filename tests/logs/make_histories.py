"""Make the golden histories: `python tests/logs/make_histories.py`.

A golden history is the log of one workbench, or of the daemon, in which each event follows from
those before it, as the real ones do: it can be folded, told as steps and replayed by every later
version. Like the other golden logs these are made once and never changed; a history that needs new
types or fields is a new directory. Beside the log lies `state.json`: what is true at its end. Later
versions know more of a state, but never anything else of what stands there. One value was mended:
run 2 of `v1-run` counted as discarded with a draft that a client had opened and the run never
wrote into.

`hashes.json` is not golden: it holds the hash of today's state after each event. It is made anew
when a state gets a new field, by calling this, which leaves every log that is there as it is.
"""

import hashlib
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from kbd.core.domain.daemon_state import DaemonState, fold_daemon
from kbd.core.domain.fold import fold_workbench
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.core.store.history import plain_state
from kbd.events import Event, EventLog, codec
from kbd.events import drafts as d
from kbd.events import runs as r
from kbd.events import watches as f
from kbd.events import workbenches as w
from kbd.events.base import FileVersion, PluginUsed, Recorded, ReplyCall
from kbd.messages import Usage
from kbd.types import BlobHash, CallId, FileName, Phase, RunId, Seq, WatchId, WorkbenchId

HERE = Path(__file__).resolve().parent
SHOWN, STATE, HASHES = "events.jsonl", "state.json", HERE / "hashes.json"

FIRST_US = 1_795_000_000_000_000
BENCH, WATCH = WorkbenchId("00112233445566ff"), WatchId("ffeeddccbbaa9988")
CSV, XLSX, TEXT = FileName("März.csv"), FileName("out/summary.xlsx"), FileName("notes.txt")
BLOB = {name: BlobHash(hashlib.sha256(name.encode()).hexdigest()) for name in "abcdefgh"}
TABLES = PluginUsed("kbd_tables", "0.3.0", "1" * 64)
SHEETS = PluginUsed("kbd_xlsx", "0.4.1", "2" * 64)
MODEL = "openai:some-model"


class History(NamedTuple):
    """A golden history.

    Args:
        name: Its directory beside this file.
        shape: The state that it folds to.
        fold: Changes that as an event says.
        commits: Its records, as they land together.
    """

    name: str
    shape: type[Any]
    fold: Callable[[Any, Seq, Recorded], None]
    commits: tuple[tuple[Recorded, ...], ...]


def _records(commits: Sequence[tuple[int, Sequence[Event]]]) -> tuple[tuple[Recorded, ...], ...]:
    """Commits of a run's number and its events, with times and causes as they would be."""
    made: list[tuple[Recorded, ...]] = []
    seq = 0
    for run, events in commits:
        ts_us = FIRST_US + len(made) * 1_000_003
        cause = seq if run and len(made) % 3 else 0
        made.append(tuple(codec.wrap_event(event, ts_us, run, cause) for event in events))
        seq += len(events)
    return tuple(made)


def _called(entry: int, tool: str, used: PluginUsed) -> r.ToolCalled:
    plugin = f"{used.package} {used.version}"
    return r.ToolCalled(CallId(f"c{entry}"), entry, tool, plugin, plugin_sha256=used.sha256)


def _returned(entry: int, saw: int, *worked: PluginUsed, ok: bool = True) -> r.ToolReturned:
    return r.ToolReturned(
        CallId(f"c{entry}"),
        entry,
        ok=ok,
        shown='{"rows":12}' if ok else "Error: TOOL_TIMEOUT: it took longer than 30 s",
        result="" if entry % 2 else '{"rows":12,"path":"out/summary.xlsx"}',
        blob=BLOB["h"] if entry == 4 else None,
        size_bytes=11 * entry,
        duration_ms=7 * entry,
        error_code=None if ok else "TOOL_TIMEOUT",
        fingerprint=f"{entry:016x}",
        saw=saw,
        receipt_bytes=1024,
        worked=worked,
    )


def _asks(*calls: ReplyCall) -> tuple[Event, ...]:
    usage = Usage(1200, 80)
    return (r.ModelReplied("Next.", calls, "tool_calls", usage),)


def _turn(turn: int, tool_choice: Any = "auto") -> tuple[Event, ...]:
    return (r.ModelRequested(MODEL, turn, BLOB["g"], tool_choice, ("table_query", "xlsx_edit")),)


def _call(entry: int, tool: str) -> ReplyCall:
    return ReplyCall(CallId(f"c{entry}"), tool, f'{{"entry":{entry}}}')


_WORKBENCH: tuple[tuple[int, tuple[Event, ...]], ...] = (
    (0, (w.WorkbenchCreated(BENCH, "Überweisungen"),)),
    (0, (w.FileAdded(CSV, BLOB["a"], 1204, "/home/someone/März.csv", FIRST_US - 5),)),
    (0, (w.FileAdded(TEXT, BLOB["b"], 30),)),
    (0, (w.ModelChosen(MODEL), w.ConsentGranted("openai", MODEL, "5" * 64))),
    (0, (w.UserMessageAdded("m1", "one sheet per category"),)),
    (1, (r.RunStarted("m1", MODEL), r.PhaseStarted(Phase.RESEARCH))),
    (1, _turn(1, "required")),
    (1, _asks(_call(1, "table_query"), _call(2, "table_query"))),
    (1, (_called(1, "table_query", TABLES), _called(2, "table_query", TABLES))),
    (1, (_returned(1, 12, TABLES, SHEETS),)),
    (1, (_returned(2, 12, TABLES, ok=False),)),
    (1, _turn(2)),
    (1, (r.ModelFailed("PROVIDER_RATE_LIMITED", "too many requests", 1, 2000),)),
    (1, (r.ModelReplied("12 categories.", (), "stop", Usage(1500, 40), True),)),
    (1, (r.ResearchWritten("# Research\n12 categories"), r.PhaseCompleted(Phase.RESEARCH))),
    (1, (r.PhaseStarted(Phase.PLAN),)),
    (1, (r.PlanWritten("Split", ("Food: its sheet", "Rest: the others"), "None."),)),
    (1, (r.PhaseCompleted(Phase.PLAN), r.PhaseStarted(Phase.IMPLEMENT), r.ItemStarted(1))),
    (1, _turn(1)),
    (1, _asks(_call(3, "xlsx_edit"), ReplyCall(CallId("cx"), "no_such_tool", "{}"))),
    (1, (_called(3, "xlsx_edit", SHEETS),)),
    (1, (
        d.DraftOpened("d1"),
        d.FileChanged(XLSX, None, BLOB["c"], 9000, 0, CallId("c3"), warnings=("a link",)),
        _returned(3, 27, SHEETS),
    )),
    (1, (r.ToolRefused(CallId("cx"), "no_such_tool", "NOT_FOUND", "Error: no", "e" * 16),)),
    (1, (r.ItemRetried(1, "TURN_LIMIT", "not done"),)),
    (1, (d.FileChanged(XLSX, BLOB["c"], None, 0, 9000, cause="rollback"),)),
    (1, (r.ItemStarted(1, 2),)),
    (1, (r.RunInterrupted("the daemon stopped"),)),
    (1, (r.RunResumed("openai:other-model"), r.ItemStarted(1, 2))),
    (1, _turn(1)),
    (1, _asks(_call(4, "xlsx_edit"))),
    (1, (_called(4, "xlsx_edit", SHEETS),)),
    (1, (
        d.DraftOpened("d2"),
        d.FileChanged(XLSX, None, BLOB["d"], 9100, 0, CallId("c4"), notes=("12 sheets",)),
        d.FileChanged(TEXT, BLOB["b"], None, 0, 30, CallId("c4")),
        _returned(4, 40, SHEETS, TABLES),
    )),
    (1, (r.ItemsAdded(("Check the totals",)), r.ItemsRefused(("One more",), "enough"))),
    (1, (r.ItemCompleted(1, "done"), r.ItemStarted(2))),
    (1, (r.ItemFailed(2, "AGENT_LOOP_DETECTED", "the same call three times"),)),
    (1, (r.ItemStarted(3), r.ItemCompleted(3, "they fit"), r.PhaseCompleted(Phase.IMPLEMENT))),
    (1, (r.PhaseStarted(Phase.SUMMARY), r.SummaryWritten("12 sheets."))),
    (1, (w.AssistantMessageAdded("m2", "12 sheets."), r.PhaseCompleted(Phase.SUMMARY))),
    (1, (r.RunFinished(has_draft=True),)),
    (0, (d.DeletionConfirmed((TEXT,)),)),
    (0, (
        d.PublishIntended(
            "p1",
            (d.PlannedFile(XLSX, None, BLOB["d"], 9100), d.PlannedFile(TEXT, BLOB["b"], None)),
        ),
    )),
    (0, (
        d.CheckpointCreated(
            "k1", "publish", "before",
            (FileVersion(CSV, BLOB["a"], 1204), FileVersion(TEXT, BLOB["b"], 30)),
        ),
        d.PublishCompleted("p1", "k1"),
    )),
    (0, (d.EffectIntended("e1", "extract", "/home/someone/out", FileVersion(XLSX, BLOB["d"], 9)),)),
    (0, (d.EffectDone("e1", "summary (2).xlsx"),)),
    (0, (w.UserMessageAdded("m3", "and now in colour"),)),
    (2, (r.RunStarted("m3", MODEL), r.PhaseStarted(Phase.RESEARCH))),
    (2, _turn(1)),
    (2, (r.RunCancelRequested(), r.RunCancelled())),
    (0, (
        r.ToolCalled(CallId("c5"), 5, "XlsxApplyOps", "kbd_xlsx 0.4.1", "{}", None, "2" * 64),
        d.DraftOpened("d3"),
        d.FileChanged(XLSX, BLOB["d"], BLOB["e"], 9200, 9100, CallId("c5")),
        _returned(5, 69, SHEETS),
    )),
    (0, (d.DraftDiscarded("d3"), w.FileRemoved(CSV))),
)  # fmt: skip

_LANDED = ("d" * 64, "e" * 64)

_DAEMON: tuple[tuple[int, tuple[Event, ...]], ...] = (
    (0, (w.DaemonStarted(1, 4711, "0.1.0", "asyncio"), w.PluginLoaded("kbd_xlsx", "0.4.1", "b"))),
    (0, (w.PluginLeftOut("kbd_odd", "it raised ImportError"), w.ModelChosen(MODEL))),
    (0, (w.WorkbenchCreated(BENCH, "Überweisungen"),)),
    (0, (f.WatchAdded(WATCH, f.WatchRule("inbox", "/srv/in", "sum it up", mode="batch")),)),
    (0, (f.FilesPassedOver(WATCH, (f.PassedFile("alt/März.csv", "7:1700:1701:12"),)),)),
    (0, (f.FileLanded(WATCH, "Mai.csv", _LANDED[0], 1204, "1204:1700:1701:13"),)),
    (0, (f.FileLanded(WATCH, "Juni.csv", _LANDED[1], 9, "9:1700:1702:13"),)),
    (0, (f.WatchRunStarted(WATCH, (Seq(8), Seq(9)), BENCH),)),
    (0, (
        f.WatchRunFinished(
            WATCH, (Seq(8), Seq(9)), BENCH, "failed", RunId("1"),
            "PROVIDER_UNAVAILABLE", "no answer", retry_at_us=FIRST_US,
        ),
    )),
    (0, (f.WatchRunStarted(WATCH, (Seq(8), Seq(9)), BENCH, 2),)),
    (0, (f.FilesWritten("/srv/out", _LANDED[1:], WATCH, 1),)),
    (0, (
        f.WatchRunFinished(
            WATCH, (Seq(8), Seq(9)), BENCH, "published", RunId("1"), delivered=("/srv/out/x",)
        ),
    )),
    (0, (f.FileLanded(WATCH, "Juli.csv", "f" * 64, 7, "7:1700:1703:13"),)),
    (0, (f.WatchSuspended(WATCH, "BUDGET_CAP_REACHED", "100 runs within an hour"),)),
    (0, (f.LandingsParked(WATCH, (Seq(15),), "BUDGET_CAP_REACHED", "5 within an hour"),)),
    (0, (w.DaemonStopped("asked to"),)),
)  # fmt: skip

HISTORIES = (
    History("v1-run", WorkbenchState, fold_workbench, _records(_WORKBENCH)),
    History("v1-daemon", DaemonState, fold_daemon, _records(_DAEMON)),
)
"""All histories; new ones are added at the end."""


def states(history: History) -> list[Any]:
    """The state after each event, as plain values."""
    state, found = history.shape(), []
    records = [record for commit in history.commits for record in commit]
    for seq, record in enumerate(records, 1):
        history.fold(state, Seq(seq), record)
        found.append(plain(state))
    return found


def plain(state: Any) -> Any:
    """A state as JSON values."""
    if isinstance(state, WorkbenchState):
        values = plain_state(state)
    else:
        values = msgspec.to_builtins(state, str_keys=True, order="deterministic")
    return msgspec.json.decode(msgspec.json.encode(values))


def hash_of(value: Any) -> str:
    """The hash of a state's plain values, whatever the order of their keys."""
    return hashlib.sha256(msgspec.json.encode(value, order="deterministic")).hexdigest()


def write(history: History, directory: Path) -> None:
    """Write the log of a history, byte for byte the same each time."""
    log = EventLog.open(
        directory, segment_bytes=4000, entropy=lambda size: bytes(range(size)), clock=lambda: 0.0
    )
    for commit in history.commits:
        log.append(commit)
    log.close()


def main() -> None:
    """Write the histories that are not there, and all hashes of today's states."""
    hashes = {}
    for history in HISTORIES:
        found = states(history)
        hashes[history.name] = [hash_of(state) for state in found]
        place = HERE / history.name
        if not place.exists():
            write(history, place)
            bodies = [codec.decode_plain(codec.encode(commit)) for commit in history.commits]
            lines = [msgspec.json.encode(item) + b"\n" for body in bodies for item in body]
            (place / SHOWN).write_bytes(b"".join(lines))
            text = json.dumps(found[-1], indent=1, sort_keys=True, ensure_ascii=False)
            (place / STATE).write_text(text + "\n")
        sys.stdout.write(f"{place}: {len(found)} events\n")
    HASHES.write_text(json.dumps(hashes, indent=1) + "\n")


if __name__ == "__main__":
    main()
