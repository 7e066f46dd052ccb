"""Spans of runs: what the log says, with the ids that it had before, and no content unasked."""

import base64
import json
from typing import Any

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from kbd.core.audit.run_spans import CONTENT_CHARACTERS, TraceSpan, encode_trace, fold_spans
from kbd.events.base import Recorded, ReplyCall
from kbd.events.runs import (
    ItemCompleted,
    ItemStarted,
    ModelFailed,
    ModelReplied,
    ModelRequested,
    PhaseCompleted,
    PhaseStarted,
    RunFailed,
    RunFinished,
    RunInterrupted,
    RunResumed,
    RunStarted,
    ToolCalled,
    ToolRefused,
    ToolReturned,
)
from kbd.events.workbenches import AssistantMessageAdded, UserMessageAdded
from kbd.messages import Usage
from kbd.types import BlobHash, CallId, Phase, Seq, WorkbenchId

WORKBENCH = WorkbenchId("0123456789abcdef")
OPENING = BlobHash("0" * 64)
SECRET = "the salaries"
CALL = CallId("c1")

ASKED = UserMessageAdded("m1", SECRET)
STARTED = RunStarted("m1", "openai:gpt-x")
REQUESTED = ModelRequested("openai:gpt-x", 1, OPENING)
REPLIED = ModelReplied(
    text=SECRET,
    calls=(ReplyCall(CALL, "table_query", f'{{"sql": "{SECRET}"}}'),),
    finish_reason="tool_calls",
    usage=Usage(70, 8),
    cost=0.25,
)


def folded(*events: tuple[int, Any], has_content: bool = False) -> tuple[TraceSpan, ...]:
    """The spans of run 1; each event with its time in milliseconds."""
    numbered = [
        (Seq(number), Recorded(1, data, time_ms * 1000, 0 if data is ASKED else 1))
        for number, (time_ms, data) in enumerate(events, 1)
    ]
    return fold_spans(WORKBENCH, 1, numbered, has_content=has_content)


WHOLE = (
    (0, ASKED), (10, STARTED), (20, PhaseStarted(Phase.IMPLEMENT)), (30, ItemStarted(1)),
    (40, REQUESTED), (50, REPLIED), (60, ToolCalled(CALL, 1, "table_query", "kbd_tables 0.1.0")),
    (80, ToolReturned(CALL, 1, ok=True, shown=SECRET, duration_ms=20)), (90, ItemCompleted(1)),
    (100, PhaseCompleted(Phase.IMPLEMENT)), (110, AssistantMessageAdded("m2", SECRET)),
    (120, RunFinished(has_draft=True)),
)  # fmt: skip


def parsed(trace: bytes) -> list[Any]:
    """Read a trace as OpenTelemetry's own library does; what it does not know is an error."""
    plain = json.loads(trace)
    # Alone of all that is JSON of Protocol Buffers, ids are hex digits in OTLP and not base64.
    for span in plain["resourceSpans"][0]["scopeSpans"][0]["spans"]:
        for key in ("traceId", "spanId", "parentSpanId"):
            if key in span:
                span[key] = base64.b64encode(bytes.fromhex(span[key])).decode()
    message = json_format.ParseDict(plain, ExportTraceServiceRequest())
    (resource,) = message.resource_spans
    named = {each.key: each.value.string_value for each in resource.resource.attributes}
    assert named["service.name"] == "kbd"
    return list(resource.scope_spans[0].spans)


def test_a_run_is_a_trace_of_run_phases_turns_and_calls() -> None:
    """Each within the one that it is a part of, with the times of its events."""
    run, phase, model, tool = folded(*WHOLE)

    assert [each.name for each in (run, phase, model, tool)] == [
        "invoke_agent kbd", "phase implement", "chat gpt-x", "execute_tool table_query"
    ]  # fmt: skip
    assert [(each.start_us // 1000, each.end_us // 1000) for each in (run, phase, model, tool)] == [
        (10, 120), (20, 100), (40, 50), (60, 80)
    ]  # fmt: skip
    assert run.parent_id == ""
    assert (phase.parent_id, model.parent_id, tool.parent_id) == (
        run.span_id, phase.span_id, phase.span_id,
    )  # fmt: skip
    assert run.attributes["gen_ai.conversation.id"] == WORKBENCH
    assert run.attributes["kbd.run.status"] == "finished"
    assert model.attributes == {
        "gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-x", "gen_ai.conversation.id": WORKBENCH, "kbd.turn": 1,
        "kbd.plan.item": 1, "gen_ai.usage.input_tokens": 70, "gen_ai.usage.output_tokens": 8,
        "kbd.cost.usd": 0.25, "gen_ai.response.finish_reasons": ("tool_calls",),
    }  # fmt: skip
    assert tool.attributes == {
        "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "table_query",
        "gen_ai.tool.type": "function", "gen_ai.tool.call.id": "c1", "kbd.plan.item": 1,
        "kbd.plugin": "kbd_tables 0.1.0",
    }  # fmt: skip


def test_the_library_of_opentelemetry_reads_the_trace() -> None:
    """Ids, times in nanoseconds, kinds, every type of attribute; and the same bytes each time."""
    spans = folded(*WHOLE)
    trace = encode_trace(WORKBENCH, 1, spans)
    read = parsed(trace)

    assert trace == encode_trace(WORKBENCH, 1, folded(*WHOLE))
    assert trace != encode_trace(WORKBENCH, 2, spans)
    assert {len(each.trace_id) for each in read} == {16}
    assert len({each.trace_id for each in read}) == 1
    assert len({each.span_id for each in read}) == len(spans)
    assert [each.span_id.hex() for each in read] == [each.span_id for each in spans]
    assert [each.parent_span_id.hex() for each in read] == [each.parent_id for each in spans]
    assert [each.start_time_unix_nano for each in read] == [each.start_us * 1000 for each in spans]
    assert [each.kind for each in read] == [1, 1, 3, 1]
    found = {each.key: each.value for each in read[2].attributes}
    assert found["gen_ai.usage.input_tokens"].int_value == 70
    assert found["kbd.cost.usd"].double_value == 0.25
    assert (
        found["gen_ai.response.finish_reasons"].array_value.values[0].string_value == "tool_calls"
    )


def test_content_is_there_on_demand_only() -> None:
    """What was asked, said, given to a tool and answered by it; a name that a model made up."""
    refused = ToolRefused(CALL, SECRET, "NOT_FOUND", SECRET)
    failed = ModelFailed("PROVIDER_UNAVAILABLE", SECRET, partial=SECRET)
    events = (*WHOLE[:-1], (111, refused), (112, REQUESTED), (113, failed), WHOLE[-1])
    plain = encode_trace(WORKBENCH, 1, folded(*events))
    run, _, model, tool, *_ = folded(*events, has_content=True)

    assert SECRET.encode() not in plain
    assert "execute_tool unknown" in plain.decode()
    assert json.loads(str(run.attributes["gen_ai.input.messages"])) == [
        {"role": "user", "parts": [{"type": "text", "content": SECRET}]}
    ]
    (said,) = json.loads(str(model.attributes["gen_ai.output.messages"]))
    assert [part["type"] for part in said["parts"]] == ["text", "tool_call"]
    assert SECRET in str(run.attributes["gen_ai.output.messages"])
    assert tool.attributes["gen_ai.tool.call.arguments"] == f'{{"sql": "{SECRET}"}}'
    assert tool.attributes["gen_ai.tool.call.result"] == SECRET


def test_long_content_is_cut() -> None:
    """And shows that it is."""
    long = ToolReturned(CALL, 1, ok=True, shown="x" * (CONTENT_CHARACTERS + 1))
    spans = folded((0, STARTED), (1, ToolCalled(CALL, 1, "t")), (2, long), has_content=True)

    assert spans[1].attributes["gen_ai.tool.call.result"] == "x" * CONTENT_CHARACTERS + "…"


def test_failures_have_their_codes() -> None:
    """Of a turn, whose retry is a span of its own; of a call, and of the run."""
    failed = ModelFailed("PROVIDER_UNAVAILABLE", SECRET, 1, 1000, usage=Usage(5, 1))
    run, first, second, tool = folded(
        (0, STARTED), (10, REQUESTED), (20, failed), (2000, REPLIED),
        (2010, ToolCalled(CALL, 1, "run_job")),
        (2020, ToolReturned(CALL, 1, ok=False, shown=SECRET, error_code="NOT_FOUND")),
        (2030, RunFailed("DISK_FULL", SECRET, "rpi_plan")),
    )  # fmt: skip

    assert (first.error, first.end_us) == ("PROVIDER_UNAVAILABLE", 20_000)
    assert first.attributes["gen_ai.usage.input_tokens"] == 5
    assert (second.error, second.start_us, second.end_us) == ("", 1_020_000, 2_000_000)
    assert second.attributes["kbd.retry"] == 1
    assert second.attributes["gen_ai.usage.input_tokens"] == 70
    assert second.span_id != first.span_id
    assert (tool.error, run.error) == ("NOT_FOUND", "DISK_FULL")
    assert run.attributes["kbd.run.status"] == "failed"
    errors = parsed(encode_trace(WORKBENCH, 1, (run, first, second, tool)))
    assert [each.status.code for each in errors] == [2, 2, 0, 2]
    found = {each.key: each.value.string_value for each in errors[0].attributes}
    assert found["error.type"] == "DISK_FULL"


def test_a_run_that_was_interrupted_ends_when_it_was_resumed_and_finished() -> None:
    """What was cut off ends with the interruption, and is asked anew in a span of its own."""
    run, phase, cut, again = folded(
        (0, STARTED), (1, PhaseStarted(Phase.PLAN)), (10, REQUESTED),
        (20, RunInterrupted("the daemon stopped")), (5000, RunResumed("openai:gpt-x")),
        (5010, REQUESTED), (5020, REPLIED), (5030, PhaseCompleted(Phase.PLAN)),
        (5040, RunFinished(has_draft=False)),
    )  # fmt: skip

    assert (cut.error, cut.end_us) == ("interrupted", 20_000)
    assert (again.error, again.end_us) == ("", 5_020_000)
    assert (run.error, run.end_us, phase.end_us) == ("", 5_040_000, 5_030_000)
    assert [each.name for each in run.events] == ["kbd.run.resumed"]
    assert run.attributes["kbd.run.status"] == "finished"


def test_what_is_under_way_is_told_as_far_as_it_came() -> None:
    """And no end is before its beginning, whatever the clock did."""
    run, model = folded((100, STARTED), (200, REQUESTED))
    assert (run.end_us, model.end_us) == (200_000, 200_000)
    run, model = folded((100, STARTED), (200, REQUESTED), (50, REPLIED))
    assert model.end_us == model.start_us
    assert run.end_us >= run.start_us
