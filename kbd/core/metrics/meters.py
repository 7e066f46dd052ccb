"""Meters: what is counted while the daemon works, in memory, from its start on.

What a log tells is not counted twice: the meters see events as they are recorded, not as they are
read again.
"""

import time
from collections import Counter as Count
from collections.abc import Callable, Iterator
from typing import Literal

from kbd.core.metrics.exposition import (
    Counter,
    Distribution,
    Histogram,
    MetricFamily,
    Sample,
    gauge,
)
from kbd.core.runtime.activity import Activity
from kbd.errors import KbdError
from kbd.events.base import Recorded
from kbd.events.runs import (
    ModelFailed,
    ModelReplied,
    ModelRequested,
    RunCancelled,
    RunFailed,
    RunFinished,
    RunInterrupted,
    RunStarted,
    ToolCalled,
    ToolRefused,
    ToolReturned,
)
from kbd.types import Seq

__all__ = ["EventMeter", "Meters", "RequestMeter", "ScrubMeter"]

REQUEST_BOUNDS_S = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 30.0)
TOOL_BOUNDS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
MODEL_BOUNDS_S = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 900.0)


class RequestMeter:
    """Meter of the socket: requests by method, clients, and who was dropped.

    Attributes:
        clients: How many are connected.
        followers: How many subscriptions to events they have.
        activity: Told of each request.

    Args:
        activity: The daemon's; one of its own if None.
    """

    def __init__(self, activity: Activity | None = None) -> None:
        self.clients = self.followers = 0
        self.activity = activity or Activity()
        self._timed: dict[str, Distribution] = {}
        self._failures = Count[str]()
        self._failed = Counter(
            "kbd_rpc_requests_total", "Requests answered, by method and error.", "method", "code"
        )
        self._refused = Counter(
            "kbd_rpc_refused_total", "Messages that were no request of a method.", "code"
        )
        self._seconds = Histogram(
            "kbd_rpc_request_duration_seconds",
            "Time from the beginning of a request's work to its answer.",
            REQUEST_BOUNDS_S,
            "method",
        )
        self._dropped = Counter(
            "kbd_rpc_clients_dropped_total", "Clients dropped, by reason.", "reason"
        )

    def answered(self, method: str, begun_s: float, error: BaseException | None = None) -> None:
        """Count a request that has ended.

        Args:
            method: Its method.
            begun_s: When its work began, by `time.perf_counter`.
            error: What it ended with, in the place of an answer.
        """
        # In the way of every request: one that is answered is counted by its time alone (0.3 us).
        # Methods are few, so each has a series of its own.
        timed = self._timed.get(method)
        if timed is None:
            timed = self._timed[method] = self._seconds.under(method)
        timed.observe(time.perf_counter() - begun_s)
        self.activity.note()
        if error is not None:
            self._failed.add(method, _error_code(error))
            self._failures[method] += 1

    def refused(self, code: int) -> None:
        """Count a message that could not be read, or names no method."""
        self._refused.add(str(code))

    def dropped(self, reason: str) -> None:
        """Count a client that was dropped."""
        self._dropped.add(reason)

    def families(self) -> Iterator[MetricFamily]:
        """Return what was counted."""
        yield gauge("kbd_rpc_clients", "Clients that are connected.", self.clients)
        yield gauge("kbd_rpc_followers", "Subscriptions to events.", self.followers)
        yield self._requests()
        for each in (self._refused, self._seconds, self._dropped):
            yield each.family()

    def _requests(self) -> MetricFamily:
        """Return the requests by method and outcome: all that did not fail were answered."""
        failed = self._failed.family()
        answered = (
            Sample(sum(timed.counts) - self._failures[method], (("method", method), ("code", "ok")))
            for method, timed in self._timed.items()
        )
        samples = [*(each for each in answered if each.value), *failed.samples]
        return failed._replace(samples=samples)


def _error_code(error: BaseException) -> str:
    if isinstance(error, KbdError):
        return error.code
    return "INTERNAL" if isinstance(error, Exception) else "CANCELLED"


class EventMeter:
    """Meter of the logs: events, runs, model requests and tool calls as they are recorded.

    Args:
        activity: Told of each event; one of its own if None.
    """

    def __init__(self, activity: Activity | None = None) -> None:
        self._activity = activity or Activity()
        self._events = Counter(
            "kbd_events_appended_total", "Events appended to the logs, by type.", "type"
        )
        self._runs = Counter(
            "kbd_run_transitions_total", "Runs that started or stopped, by how.", "status"
        )
        self._models = Counter(
            "kbd_model_requests_total", "Requests to models, by outcome.", "model", "code"
        )
        self._model_seconds = Histogram(
            "kbd_model_request_duration_seconds",
            "Time from a request to a model to its answer or failure.",
            MODEL_BOUNDS_S,
            "model",
        )
        self._tokens = Counter(
            "kbd_model_tokens_total",
            "Tokens of model requests, counted or estimated.",
            "model",
            "direction",
        )
        self._cost = Counter(
            "kbd_model_cost_dollars_total", "Cost of model requests, where known.", "model"
        )
        self._tools = Counter("kbd_tool_calls_total", "Calls of tools, by outcome.", "tool", "code")
        self._tool_seconds = Histogram(
            "kbd_tool_call_duration_seconds",
            "Time that calls of tools took.",
            TOOL_BOUNDS_S,
            "tool",
        )
        self._refused = Counter(
            "kbd_tool_calls_refused_total", "Calls refused before a tool started.", "code"
        )

    def observer(self) -> Callable[[Seq, Recorded], None]:
        """Return what observes the events of one log."""
        log = _LogMeter(self)
        return log.observe

    def families(self) -> Iterator[MetricFamily]:
        """Return what was counted."""
        for each in (
            self._events, self._runs, self._models, self._model_seconds, self._tokens, self._cost,
            self._tools, self._tool_seconds, self._refused,
        ):  # fmt: skip
            yield each.family()

    def count(self, record: Recorded) -> None:
        """Count an event for itself."""
        data = record.data
        self._activity.note()
        self._events.add(type(data).__name__)
        match data:
            case RunStarted():
                self._runs.add("started")
            case RunFinished(refusal=refusal):
                self._runs.add("finished" if refusal is None else "declined")
            case RunFailed():
                self._runs.add("failed")
            case RunCancelled():
                self._runs.add("cancelled")
            case RunInterrupted():
                self._runs.add("interrupted")
            case ToolRefused(code=code):
                self._refused.add(code)
            case _:
                pass

    def model_ended(self, model: str, seconds: float, ended: ModelReplied | ModelFailed) -> None:
        """Count a request to a model."""
        self._models.add(model, ended.code if isinstance(ended, ModelFailed) else "ok")
        self._model_seconds.under(model).observe(seconds)
        for direction, count in (
            ("input", ended.usage.input_tokens), ("output", ended.usage.output_tokens)
        ):  # fmt: skip
            # A failure without a beginning of an answer consumed nothing.
            if count > 0:
                self._tokens.add(model, direction, amount=count)
        if ended.cost > 0:
            self._cost.add(model, amount=ended.cost)

    def tool_ended(self, tool: str, returned: ToolReturned) -> None:
        """Count a call of a tool."""
        self._tools.add(tool, "ok" if returned.ok else returned.error_code or "failed")
        self._tool_seconds.under(tool).observe(returned.duration_ms / 1000)


class _LogMeter:
    """Observer of one log: what an event means by the ones before it.

    Args:
        meter: What counts.
    """

    def __init__(self, meter: EventMeter) -> None:
        self._meter = meter
        # Of a log that was opened with a run under way the request may be older: it is asked again.
        self._model, self._asked_us = "unknown", 0
        self._tools: dict[int, str] = {}

    def observe(self, seq: Seq, record: Recorded) -> None:
        """Count an event."""
        del seq
        self._meter.count(record)
        match record.data:
            case ModelRequested(model_id=model_id):
                self._model, self._asked_us = model_id, record.ts_us
            case ModelReplied() | ModelFailed() as ended:
                # The wall clock may have been set back meanwhile.
                seconds = max(0, record.ts_us - (self._asked_us or record.ts_us)) / 1e6
                self._meter.model_ended(self._model, seconds, ended)
                # A retry of a turn follows no request of its own.
                self._asked_us = record.ts_us + 1000 * _wait_ms(ended)
            case ToolCalled(entry_id=entry_id, tool=tool):
                self._tools[entry_id] = tool
            case ToolReturned(entry_id=entry_id) as returned:
                self._meter.tool_ended(self._tools.pop(entry_id, "unknown"), returned)
            case RunStarted():
                # Calls that a stop cut off never return.
                self._tools.clear()
            case _:
                pass


def _wait_ms(ended: ModelReplied | ModelFailed) -> int:
    return ended.wait_ms if isinstance(ended, ModelFailed) else 0


class ScrubMeter:
    """Meter of the verification of what is on disk: what was read, and what was found."""

    def __init__(self) -> None:
        self._bytes = Counter(
            "kbd_scrub_read_bytes_total", "Bytes of logs and blobs read to verify them."
        )
        self._logs = Counter(
            "kbd_scrub_logs_total", "Logs verified with their blobs, by what was found.", "result"
        )

    def read(self, size_bytes: int) -> None:
        """Count bytes that were verified."""
        self._bytes.add(amount=size_bytes)

    def verified(self, result: Literal["whole", "damaged", "unread"]) -> None:
        """Count a log that was verified, or could not be read just now."""
        self._logs.add(result)

    def families(self) -> Iterator[MetricFamily]:
        """Return what was counted."""
        yield self._bytes.family()
        yield self._logs.family()


class Meters:
    """The meters of a daemon.

    Attributes:
        activity: When the daemon did something for somebody.
        requests: Of the socket.
        events: Of the logs.
        scrub: Of the verification of what is on disk.
    """

    def __init__(self) -> None:
        self.activity = Activity()
        self.requests, self.events = RequestMeter(self.activity), EventMeter(self.activity)
        self.scrub = ScrubMeter()
