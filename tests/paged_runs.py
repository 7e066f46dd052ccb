"""Runs made by hand, for the page: all that a step can tell, and what hostile texts would do."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from msgspec import UNSET

from kbd.messages import Message, Usage
from kbd.requests.events import EventPlace
from kbd.requests.replays import CallStep, FileStep, ItemStep, ModelStep, Step, StepCall, StepKind
from kbd.requests.workshop import RunError, RunInfo, RunItem, RunStatus
from kbd.types import BlobHash, CallId, FileName, Phase, RunId, Seq, WorkbenchId

__all__ = ["BIG", "CONTENTS", "HOSTILE", "MISSING", "OPENING", "long_run", "run_info", "varied_run"]

BEGAN = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)

HOSTILE = (
    "</script><img src=x onerror=alert(1)><script>alert(2)</script><svg onload=alert(3)>"
    "<!-- ]]> </pre></article></noscript></style> &lt;b&gt; \x1b[2Jgone\x00 \u202egnp.exe\u202c"
    " \u2028next \u200bzero\u00ad \U000e0041tag \"quoted\" 'single' ${title} $script javascript:x"
)

OPENING = BlobHash("a1" * 32)
AGAIN = BlobHash("a2" * 32)
BIG = BlobHash("b2" * 32)
MISSING = BlobHash("c3" * 32)

_RULES = Message("system", "You work on files.\n" + "A rule to keep.\n" * 40)
_REQUEST = Message("user", f"<request>\nTidy the books.\n</request>\n{HOSTILE}")
_ITEM = Message("user", "<item>Chart of accounts</item>")

CONTENTS = {
    OPENING: msgspec.json.encode([_RULES, _REQUEST]).decode(),
    AGAIN: msgspec.json.encode([_RULES, _ITEM]).decode(),
    BIG: json.dumps({"rows": [[n, f"Shop {n}", n * 1.5] for n in range(2000)]}),
}
"""Of the blobs that the varied run names, but one."""

_LABELS = ("Ledger", "Chart of accounts", "Letter to the bank")
NO_TOKENS = Usage()

_LEDGER = FileName("ledger 2026.xlsx")


def run_info(status: RunStatus = "finished") -> RunInfo:
    """A run that stands so."""
    failure = RunError(error_code="DISK_FULL", message=f"Nothing is left. {HOSTILE}")
    items = tuple(RunItem(index=n, label=name, state="done") for n, name in enumerate(_LABELS, 1))
    return RunInfo(
        run_id=RunId("0123456789abcdef-2"),
        workbench_id=WorkbenchId("0123456789abcdef"),
        request="Tidy the books",
        model_id="example:large",
        status=status,
        phase=Phase.IMPLEMENT,
        items=items,
        usage=Usage(31_500, 2_750),
        cost=0.1234,
        started_at=_ts(0),
        error=failure if status == "failed" else UNSET,
        reason=f"There is no such column. {HOSTILE}" if status == "declined" else UNSET,
        ended_at=UNSET if status == "running" else _ts(95_000),
    )


def varied_run() -> list[Step]:
    """Steps of every kind: failures, a refusal, a retry, a night of waiting, hostile words."""
    made = [*_looking(), *_working(), *_ending()]
    return [
        msgspec.structs.replace(step, index=n, first_seq=Seq(2 * n), seq=Seq(2 * n + 1))
        for n, step in enumerate(made, 1)
    ]


def long_run(steps: int) -> list[Step]:
    """So many steps: turns and calls in turn, 20 an item, each with some text."""
    made = []
    for n in range(1, steps + 1):
        ms, item = n * 2000, n // 20 + 1
        if n % 2:
            step = _call(ms, f"call-{n}", "table_query", '{"path":"a","n":1}', '{"rows":[[1,2]]}')
        else:
            said = f"Looking at part {n} of the ledger. " * 60
            step = _turn(ms, n // 2 % 10 + 1, text=said, used=Usage(900 + n, 90))
        made.append(
            msgspec.structs.replace(
                step, index=n, first_seq=Seq(n), seq=Seq(n), item=item, phase=Phase.IMPLEMENT
            )
        )
    return made


def _looking() -> list[Step]:
    asked = StepCall(call_id=CallId("c1"), tool="read_file", arguments='{"path":"a.txt","n":1.10}')
    refused = StepCall(call_id=CallId("c2"), tool=HOSTILE, arguments="{broken", fault="not JSON")
    result = json.dumps({"text": HOSTILE + "\nline two\n" * 9, "bytes": 12_345_678_901_234_567})
    long_line = json.dumps("x" * 1_000_000)
    shared: dict[str, Any] = {"phase": Phase.RESEARCH}
    return [
        _step("asked", "Asked: Tidy the books", 0, text=f"Tidy the books\n{HOSTILE}"),
        _step("run", "Run started with example:large", 10),
        _step("phase", "Phase research began", 20, **shared),
        _turn(400, 1, calls=(asked, refused), used=Usage(4000, 250), lasted=5200, **shared),
        _call(5700, "c1", "read_file", asked.arguments, result, lasted=900, **shared),
        _call(6700, "c2", HOSTILE, "{broken", "Error: VALIDATION_FAILED: not JSON", kind="refused",
              code="VALIDATION_FAILED", **shared),
        _call(6800, "c3", "read_file", '{"path":"long.txt"}', long_line, lasted=200, **shared),
        _turn(7200, 2, text=f"# Research\n\nThe books.\n{HOSTILE}", used=Usage(9000, 800),
              failures=("RATE_LIMITED: later",), lasted=9000, **shared),
        _step("research", "research.md written", 16_300, text="# Research", **shared),
        _step("plan", "Plan of 3 items", 17_000, items=_plan("open", "open", "open"),
              phase=Phase.PLAN),
    ]  # fmt: skip


def _working() -> list[Step]:
    first: dict[str, Any] = {"phase": Phase.IMPLEMENT, "item": 1, "attempt": 1}
    second: dict[str, Any] = {"phase": Phase.IMPLEMENT, "item": 2, "attempt": 1}
    added = _file("added", None, "d4", 18_000, f"1 text looks like a formula. {HOSTILE}")
    changed = _file("modified", "d4", "e5", 21_000)
    undone = _file("rolled back", "e5", "d4", 18_000)
    night_ms = 9 * 3_600_000
    return [
        _step("item", "Item 1 began", 18_000, items=_plan("active", "open", "open"), **first),
        _turn(18_100, 1, used=Usage(8000, 900), lasted=4000, **first),
        _call(22_200, "c5", "xlsx_operations", '{"path":"ledger 2026.xlsx","ops":[]}',
              '{"applied":6}', lasted=2500, files=(added,), **first),
        _step("item", "Item 1 is done", 25_000, items=_plan("done", "open", "open"), **first),
        _step("run", "Run interrupted: the daemon stopped", 26_000),
        _step("run", "Run resumed with example:large", 26_000 + night_ms),
        _step("item", "Item 2 began: Chart of accounts", 26_100 + night_ms,
              items=_plan("done", "active", "open"), **second),
        _turn(26_200 + night_ms, 1, opening=AGAIN, used=Usage(10_000, 700), lasted=6000, **second),
        _call(32_300 + night_ms, "c6", "table_query", '{"sql":"select 1"}', "{}", blob=BIG,
              lasted=700, **second),
        _call(33_100 + night_ms, "c7", "table_query", '{"sql":"select 2"}', "{}", blob=MISSING,
              lasted=700, files=(changed,), **second),
        _step("item", "Item 2 failed — TOOL_FAILED: no such account", 34_000 + night_ms,
              items=_plan("done", "failed", "open"), files=(undone,), **second),
    ]  # fmt: skip


def _ending() -> list[Step]:
    end_ms = 9 * 3_600_000 + 40_000
    return [
        _turn(end_ms, 1, opening=MISSING, is_open=True, phase=Phase.SUMMARY),
        _step("summary", "Summary: Tidied.", end_ms + 1000, text="Tidied.", phase=Phase.SUMMARY),
        _step("run", "Run finished, with a draft to review", end_ms + 1100),
        _step("draft", "Published 1 file", end_ms + 9000),
        _step("other", "Consent: files may go to example", end_ms + 9100),
    ]


def _plan(*states: str) -> tuple[ItemStep, ...]:
    return tuple(
        ItemStep(
            index=n,
            text=f"Entity: {label} — {HOSTILE if n == 3 else 'as the plan says'}",
            state=state,
            reason=f"No such account {HOSTILE}" if state == "failed" else "",
        )
        for n, (label, state) in enumerate(zip(_LABELS, states, strict=True), 1)
    )


def _file(change: Any, before: str | None, after: str, size: int, *warnings: str) -> FileStep:
    return FileStep(
        path=_LEDGER,
        change=change,
        before=BlobHash(before * 32) if before else None,
        after=BlobHash(after * 32),
        size_bytes=size,
        before_size_bytes=18_000 if before else 0,
        warnings=warnings,
    )


def _turn(
    ms: int,
    turn: int,
    *,
    opening: BlobHash = OPENING,
    text: str = "",
    calls: tuple[StepCall, ...] = (),
    used: Usage = NO_TOKENS,
    failures: tuple[str, ...] = (),
    is_open: bool = False,
    lasted: int = 1000,
    **more: Any,
) -> Step:
    model = ModelStep(
        model_id="example:large",
        turn=turn,
        opening=opening,
        tools=("read_file", "table_query"),
        text=text,
        calls=calls,
        finish_reason="" if is_open else "stop",
        usage=used,
        failures=failures,
        is_open=is_open,
    )
    title = f"Turn {turn} {'not answered' if is_open else 'answered'}"
    return _step("model", title, ms, model=model, duration_ms=lasted, **more)


def _call(
    ms: int,
    call_id: str,
    tool: str,
    arguments: str,
    shown: str,
    *,
    kind: StepKind = "tool",
    code: str | None = None,
    blob: BlobHash | None = None,
    lasted: int = 300,
    **more: Any,
) -> Step:
    call = CallStep(
        call_id=CallId(call_id),
        entry_id=0 if kind == "refused" else 1,
        tool=tool,
        arguments=arguments,
        ok=code is None,
        error_code=code,
        shown=shown,
        blob=blob,
        size_bytes=70_000 if blob else len(shown),
        plugins=("kbd_tables 0.1.0 " + "f6" * 32,),
    )
    return _step(kind, f"{tool} {arguments}"[:160], ms, call=call, duration_ms=lasted, **more)


def _step(kind: StepKind, title: str, ms: int, **more: Any) -> Step:
    call, model = more.get("call"), more.get("model")
    is_failure = (
        title.startswith("Item 2 failed")
        or (call is not None and not call.ok)
        or (model is not None and bool(model.failures))
    )
    text = [f"phase {more['phase'].value}"] if "phase" in more else []
    text += [f"item {more['item']} of 3"] if "item" in more else []
    place = EventPlace(text=", ".join(text), is_failure=is_failure)
    more |= {"index": 0, "first_seq": Seq(0), "seq": Seq(0), "place": place}
    return Step(kind=kind, title=title, ts=_ts(ms), **more)


def _ts(ms: int) -> str:
    moment = BEGAN + timedelta(milliseconds=ms)
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")
