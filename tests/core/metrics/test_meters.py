"""What is counted of events and requests."""

from typing import Any

from kbd.core.metrics.exposition import render
from kbd.core.metrics.meters import EventMeter, RequestMeter
from kbd.errors import NotFound
from kbd.events.base import Recorded
from kbd.events.runs import (
    ModelFailed,
    ModelReplied,
    ModelRequested,
    RunFinished,
    RunStarted,
    ToolCalled,
    ToolRefused,
    ToolReturned,
)
from kbd.events.workbenches import FileAdded
from kbd.messages import Decline, Usage
from kbd.types import BlobHash, CallId, FileName, Seq

OPENING = BlobHash("0" * 64)
SECRET = "what nobody else may read"


def observed(*events: tuple[int, Any]) -> dict[str, float]:
    """The samples after events of one log, each with its time in seconds."""
    meter = EventMeter()
    observe = meter.observer()
    for number, (time_s, data) in enumerate(events, 1):
        observe(Seq(number), Recorded(1, data, time_s * 1_000_000, 1))
    return samples("".join(render(meter.families())))


def samples(text: str) -> dict[str, float]:
    """Return the samples of a text."""
    lines = [line.rpartition(" ") for line in text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in lines}


def test_model_requests_are_counted_with_what_they_took() -> None:
    """Each attempt for itself, from when it was begun; of a retry that is behind the wait."""
    asked = ModelRequested("p:m", 1, OPENING)
    failed = ModelFailed("PROVIDER_UNAVAILABLE", SECRET, 1, 10_000)
    replied = ModelReplied(text=SECRET, usage=Usage(70, 8), cost=0.25)
    found = observed((0, RunStarted("m1", "p:m")), (1, asked), (3, failed), (20, replied))

    assert found['kbd_model_requests_total{model="p:m",code="ok"}'] == 1
    assert found['kbd_model_requests_total{model="p:m",code="PROVIDER_UNAVAILABLE"}'] == 1
    assert found['kbd_model_request_duration_seconds_sum{model="p:m"}'] == 2 + 7
    assert found['kbd_model_tokens_total{model="p:m",direction="input"}'] == 70
    assert found['kbd_model_tokens_total{model="p:m",direction="output"}'] == 8
    assert found['kbd_model_cost_dollars_total{model="p:m"}'] == 0.25
    assert not any(SECRET in name for name in found)


def test_tool_calls_are_counted_by_tool_and_outcome() -> None:
    """A result is the tool's that was called; a name that a model made up is no label."""
    call = CallId("c1")
    found = observed(
        (0, ToolCalled(call, 1, "table_query")),
        (1, ToolReturned(call, 1, ok=True, shown=SECRET, duration_ms=250)),
        (2, ToolCalled(call, 2, "run_job")),
        (3, ToolReturned(call, 2, ok=False, shown=SECRET, error_code="NOT_FOUND")),
        (4, ToolRefused(call, SECRET, "PHASE_FORBIDDEN", SECRET)),
        (5, ToolReturned(call, 9, ok=True, shown="")),
    )

    assert found['kbd_tool_calls_total{tool="table_query",code="ok"}'] == 1
    assert found['kbd_tool_calls_total{tool="run_job",code="NOT_FOUND"}'] == 1
    assert found['kbd_tool_calls_total{tool="unknown",code="ok"}'] == 1
    assert found['kbd_tool_call_duration_seconds_sum{tool="table_query"}'] == 0.25
    assert found['kbd_tool_calls_refused_total{code="PHASE_FORBIDDEN"}'] == 1
    assert not any(SECRET in name for name in found)


def test_events_and_runs_are_counted() -> None:
    """Events by their type; a run that declined is told from one that is done."""
    declined = RunFinished(has_draft=False, refusal=Decline(SECRET))
    found = observed(
        (0, FileAdded(FileName(SECRET), OPENING, 1)),
        (1, RunStarted("m1", "p:m")), (2, RunFinished(has_draft=True)),
        (3, RunStarted("m2", "p:m")), (4, declined),
    )  # fmt: skip

    assert found['kbd_events_appended_total{type="RunStarted"}'] == 2
    assert found['kbd_events_appended_total{type="FileAdded"}'] == 1
    runs = {name: value for name, value in found.items() if "run_transitions" in name}
    assert runs == {
        'kbd_run_transitions_total{status="started"}': 2,
        'kbd_run_transitions_total{status="finished"}': 1,
        'kbd_run_transitions_total{status="declined"}': 1,
    }
    assert not any(SECRET in name for name in found)


def test_requests_are_counted_by_method_and_error() -> None:
    """A fault of kbd's own has a code that says no more; one that was canceled has its own."""
    meter = RequestMeter()
    meter.answered("RunList", 0.0)
    for error in (NotFound(SECRET), ValueError(SECRET), KeyboardInterrupt()):
        meter.answered("RunGet", 0.0, error)
    meter.refused(-32601)
    meter.dropped("slow_consumer")
    found = samples(render(meter.families()))

    counts = {name: value for name, value in found.items() if name.startswith("kbd_rpc_requests")}
    assert counts == {
        'kbd_rpc_requests_total{method="RunList",code="ok"}': 1,
        'kbd_rpc_requests_total{method="RunGet",code="NOT_FOUND"}': 1,
        'kbd_rpc_requests_total{method="RunGet",code="INTERNAL"}': 1,
        'kbd_rpc_requests_total{method="RunGet",code="CANCELLED"}': 1,
    }
    assert found['kbd_rpc_refused_total{code="-32601"}'] == 1
    assert found['kbd_rpc_clients_dropped_total{reason="slow_consumer"}'] == 1
