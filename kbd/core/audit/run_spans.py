"""Spans of a run, made from its log, as traces of OpenTelemetry.

A run is a trace: a span for the run, one for each phase, each request to a model and each call of a
tool. Nothing is measured for it; the events have the times. Ids are made from the workbench, the
run and the events' numbers, so whoever exports a run again gets the same spans.

Attributes are those of the semantic conventions for generative AI
(https://opentelemetry.io/docs/specs/semconv/gen-ai/), what is kbd's own begins with `kbd.`. What
was said, asked of tools and answered by them is in it only on demand: content may be anybody's
secret.

The encoding is OTLP's JSON (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding).
"""

import hashlib
from collections.abc import Iterable
from typing import Any, Literal

import msgspec

from kbd import __version__
from kbd.core.audit.steps import Numbered
from kbd.events.base import ReplyCall
from kbd.events.runs import (
    ItemCompleted,
    ItemFailed,
    ItemStarted,
    ModelFailed,
    ModelReplied,
    ModelRequested,
    PhaseCompleted,
    PhaseStarted,
    RunCancelled,
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
from kbd.types import CallId, Seq, WorkbenchId

__all__ = ["TraceSpan", "encode_trace", "fold_spans"]

CONTENT_CHARACTERS = 65_536
"""Of one attribute with content; backends cut or refuse what is longer."""

Value = str | int | float | bool | tuple[str, ...]


class SpanEvent(msgspec.Struct, frozen=True):
    """Something that happened within a span, at one moment."""

    name: str
    time_us: int


class TraceSpan(msgspec.Struct):
    """A span.

    Args:
        span_id: Its id, as 16 hex digits.
        parent_id: Of the span that it is a part of; "" for the run's.
        name: What it is, of few kinds.
        is_client: Whether it is a request to somebody else.
        start_us: When it began, in microseconds since 1970 UTC.
        end_us: When it ended.
        attributes: Facts about it.
        error: Why it failed, as a code; "" if it did not.
        events: What happened within it.
    """

    span_id: str
    parent_id: str
    name: str
    is_client: bool
    start_us: int
    end_us: int
    attributes: dict[str, Value]
    error: str = ""
    events: list[SpanEvent] = []


def fold_spans(
    workbench_id: WorkbenchId, run: int, events: Iterable[Numbered], *, has_content: bool = False
) -> tuple[TraceSpan, ...]:
    """Return the spans of a run; the run's first, the others in the order of their beginning.

    What was under way when the run's events end is told as far as it came.

    Args:
        workbench_id: Whose run it is.
        run: Its number.
        events: Those of its span (`RunSpan`), in order.
        has_content: Whether attributes have what was said, asked and answered.
    """
    fold = _SpanFold(workbench_id, run, has_content=has_content)
    for seq, record in events:
        if record.run == run or isinstance(record.data, UserMessageAdded):
            fold.apply(seq, record.ts_us, record.data)
    return fold.finish()


class _SpanFold:
    """Fold of a run's events into spans."""

    def __init__(self, workbench_id: WorkbenchId, run: int, *, has_content: bool) -> None:
        self._workbench_id, self._run, self._has_content = workbench_id, run, has_content
        self._spans: list[TraceSpan] = []
        self._open: dict[str, TraceSpan] = {}
        self._asked: dict[CallId, ReplyCall] = {}
        self._texts: dict[str, str] = {}
        self._item = 0
        self._last_us = 0

    def apply(self, seq: Seq, time_us: int, data: Any) -> None:
        """Apply the next event."""
        if isinstance(data, UserMessageAdded):
            self._texts[data.message_id] = data.text
            return
        self._last_us = time_us
        match data:
            case RunStarted() | RunResumed() | RunFinished() | RunFailed() | RunCancelled():
                self._apply_run(seq, time_us, data)
            case RunInterrupted():
                self._apply_run(seq, time_us, data)
            case ModelRequested() | ModelReplied() | ModelFailed():
                self._apply_model(seq, time_us, data)
            case ToolCalled() | ToolReturned() | ToolRefused():
                self._apply_tool(seq, time_us, data)
            case PhaseStarted(phase=phase):
                facts: dict[str, Value] = {"kbd.phase": phase.value}
                self._begin("phase", seq, time_us, f"phase {phase.value}", facts)
            case PhaseCompleted():
                self._end("phase", time_us)
            case ItemStarted(item=item):
                self._item = item
            case ItemCompleted() | ItemFailed():
                self._item = 0
            case AssistantMessageAdded(text=text) if "run" in self._open:
                self._say(self._open["run"], "gen_ai.output.messages", _message("assistant", text))
            case _:
                pass

    def finish(self) -> tuple[TraceSpan, ...]:
        """Return the spans; what is open ends with the last event."""
        for key in [*self._open]:
            self._end(key, self._last_us)
        return tuple(self._spans)

    def _apply_run(
        self,
        seq: Seq,
        time_us: int,
        data: RunStarted | RunResumed | RunFinished | RunFailed | RunCancelled | RunInterrupted,
    ) -> None:
        if isinstance(data, RunStarted):
            facts: dict[str, Value] = {
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.agent.name": "kbd",
                **_model_facts(data.model_id),
                "gen_ai.conversation.id": self._workbench_id,
                "kbd.run.id": f"{self._workbench_id}-{self._run}",
            }
            span = self._begin("run", seq, time_us, "invoke_agent kbd", facts)
            asked = self._texts.get(data.message_id, "")
            self._say(span, "gen_ai.input.messages", _message("user", asked))
            return
        run = self._open.get("run")
        if run is None:
            return
        status = "finished"
        match data:
            case RunResumed():
                run.events.append(SpanEvent("kbd.run.resumed", time_us))
                run.error, status = "", "running"
            case RunFailed(code=code):
                run.error, status = code, "failed"
            case RunCancelled():
                run.error, status = "USER_CANCELED", "cancelled"
            case RunInterrupted():
                run.error, status = "interrupted", "interrupted"
            case RunFinished(refusal=refusal):
                status = "finished" if refusal is None else "declined"
        run.attributes["kbd.run.status"] = status
        # It may be resumed: what ends it for good is the last of these.
        run.end_us = time_us
        if status not in ("running", "finished", "declined"):
            # A resumed run asks anew for what had not come.
            for key in self._open.keys() - {"run", "phase"}:
                self._end(key, time_us, "interrupted")

    def _apply_model(
        self, seq: Seq, time_us: int, data: ModelRequested | ModelReplied | ModelFailed
    ) -> None:
        if isinstance(data, ModelRequested):
            facts: dict[str, Value] = {
                "gen_ai.operation.name": "chat",
                **_model_facts(data.model_id),
                "gen_ai.conversation.id": self._workbench_id,
                "kbd.turn": data.turn,
            }
            name = f"chat {facts['gen_ai.request.model']}"
            self._begin("model", seq, time_us, name, facts, is_client=True)
            return
        span = self._open.get("model")
        if span is None:
            return
        if data.usage.input_tokens or data.usage.output_tokens:
            span.attributes["gen_ai.usage.input_tokens"] = data.usage.input_tokens
            span.attributes["gen_ai.usage.output_tokens"] = data.usage.output_tokens
        if data.cost > 0:
            span.attributes["kbd.cost.usd"] = data.cost
        if isinstance(data, ModelReplied):
            span.attributes["gen_ai.response.finish_reasons"] = (data.finish_reason,)
            if data.usage_is_estimate:
                span.attributes["kbd.usage.is_estimate"] = True
            self._asked.update((call.id, call) for call in data.calls)
            self._say(span, "gen_ai.output.messages", _reply(data))
            self._end("model", time_us)
            return
        again = {key: each for key, each in span.attributes.items() if key not in _OF_ONE_ATTEMPT}
        self._end("model", time_us, data.code)
        if data.retry_attempt:
            # No event of its own begins a retry; the failure before it says when it is made.
            again["kbd.retry"] = data.retry_attempt
            begun_us = time_us + data.wait_ms * 1000
            self._begin("model", seq, begun_us, span.name, again, is_client=True)

    def _apply_tool(
        self, seq: Seq, time_us: int, data: ToolCalled | ToolReturned | ToolRefused
    ) -> None:
        match data:
            case ToolCalled():
                key, call = f"tool {data.entry_id}", self._asked.get(data.call_id)
                span = self._begin_tool(key, seq, time_us, data.tool, data.call_id)
                if data.plugin:
                    span.attributes["kbd.plugin"] = data.plugin
                self._say(span, "gen_ai.tool.call.arguments", call.arguments if call else "")
            case ToolReturned():
                key = f"tool {data.entry_id}"
                if key in self._open:
                    result = data.result or data.shown
                    self._say(self._open[key], "gen_ai.tool.call.result", result)
                    self._end(key, time_us, "" if data.ok else data.error_code or "failed")
            case ToolRefused():
                # Its name is what a model wrote: content, unless there is such a tool.
                name = data.tool if self._has_content else "unknown"
                self._begin_tool("refused", seq, time_us, name, data.call_id)
                self._end("refused", time_us, data.code)

    def _begin_tool(
        self, key: str, seq: Seq, time_us: int, tool: str, call_id: CallId
    ) -> TraceSpan:
        facts: dict[str, Value] = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": tool,
            "gen_ai.tool.type": "function",
            "gen_ai.tool.call.id": call_id,
        }
        return self._begin(key, seq, time_us, f"execute_tool {tool}", facts)

    def _begin(
        self,
        key: str,
        seq: Seq,
        time_us: int,
        name: str,
        attributes: dict[str, Value],
        *,
        is_client: bool = False,
    ) -> TraceSpan:
        # What a crash cut off has no end in the log.
        self._end(key, time_us, "interrupted")
        parent = self._open.get("phase") if key != "phase" else None
        parent = parent or self._open.get("run")
        if self._item and key not in ("run", "phase"):
            attributes["kbd.plan.item"] = self._item
        span = TraceSpan(
            _digest("span", self._workbench_id, seq, size=8),
            "" if parent is None else parent.span_id,
            name,
            is_client,
            time_us,
            time_us,
            attributes,
        )
        self._spans.append(span)
        self._open[key] = span
        return span

    def _end(self, key: str, time_us: int, error: str = "") -> None:
        span = self._open.pop(key, None)
        if span is not None:
            # The clock of the machine may have been set back.
            span.end_us = max(span.start_us, span.end_us, time_us)
            span.error = span.error or error

    def _say(self, span: TraceSpan, attribute: str, text: str) -> None:
        """Add content to a span, if it is wanted."""
        if self._has_content and text:
            is_long = len(text) > CONTENT_CHARACTERS
            span.attributes[attribute] = text[:CONTENT_CHARACTERS] + "…" * is_long


_OF_ONE_ATTEMPT = frozenset(
    {"gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens", "kbd.cost.usd", "kbd.plan.item"}
)


def _model_facts(model_id: str) -> dict[str, Value]:
    provider, _, model = model_id.partition(":")
    return {"gen_ai.provider.name": provider, "gen_ai.request.model": model or provider}


def _message(role: Literal["user", "assistant"], text: str) -> str:
    if not text:
        return ""
    said = [{"role": role, "parts": [{"type": "text", "content": text}]}]
    return msgspec.json.encode(said).decode()


def _reply(data: ModelReplied) -> str:
    parts: list[dict[str, str]] = []
    if data.text:
        parts.append({"type": "text", "content": data.text})
    parts += [
        {"type": "tool_call", "id": call.id, "name": call.name, "arguments": call.arguments}
        for call in data.calls
    ]
    said = [{"role": "assistant", "parts": parts, "finish_reason": data.finish_reason}]
    return msgspec.json.encode(said).decode()


def _digest(what: str, workbench_id: WorkbenchId, number: int, *, size: int) -> str:
    """Return an id that is the same each time, and no other thing's."""
    named = f"kbd {what} {workbench_id} {number}".encode()
    return hashlib.sha256(named).hexdigest()[: 2 * size]


def encode_trace(workbench_id: WorkbenchId, run: int, spans: Iterable[TraceSpan]) -> bytes:
    """Return the spans of a run as a request of OTLP, in JSON.

    Args:
        workbench_id: Whose run it is.
        run: Its number.
        spans: Its spans.
    """
    trace_id = _digest("trace", workbench_id, run, size=16)
    resource = {"service.name": "kbd", "service.version": __version__}
    scope = {"name": "kbd", "version": __version__}
    encoded = [_encoded(trace_id, span) for span in spans]
    return msgspec.json.encode(
        {
            "resourceSpans": [
                {
                    "resource": {"attributes": _attributes(resource)},
                    "scopeSpans": [{"scope": scope, "spans": encoded}],
                }
            ]
        }
    )


_INTERNAL, _CLIENT = 1, 3
"""Kinds of spans."""

_UNSET, _ERROR = 0, 2
"""Codes of a status. OK is for people who want to say so against what spans tell."""


def _encoded(trace_id: str, span: TraceSpan) -> dict[str, Any]:
    attributes = dict(span.attributes)
    if span.error:
        attributes["error.type"] = span.error
    encoded: dict[str, Any] = {
        "traceId": trace_id,
        "spanId": span.span_id,
        "name": span.name,
        "kind": _CLIENT if span.is_client else _INTERNAL,
        # Integers of 64 bits are texts in this encoding.
        "startTimeUnixNano": str(span.start_us * 1000),
        "endTimeUnixNano": str(span.end_us * 1000),
        "attributes": _attributes(attributes),
        "events": [
            {"name": each.name, "timeUnixNano": str(each.time_us * 1000)} for each in span.events
        ],
        "status": {"code": _ERROR if span.error else _UNSET},
    }
    if span.parent_id:
        encoded["parentSpanId"] = span.parent_id
    return encoded


def _attributes(facts: dict[str, Value] | dict[str, str]) -> list[dict[str, Any]]:
    return [{"key": key, "value": _any_value(value)} for key, value in facts.items()]


def _any_value(value: Value) -> dict[str, Any]:
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case str():
            return {"stringValue": value}
        case _:
            return {"arrayValue": {"values": [_any_value(each) for each in value]}}
