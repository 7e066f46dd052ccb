"""Metrics of the daemon: what its meters counted, and how state, index and system stand.

They are a request's answer, and where the settings want it they are answered on a socket and
written to a file. Nothing listens on a network.
"""

import os
import platform
import secrets
from collections import Counter as Count
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

import anyio
from anyio.abc import TaskStatus
from anyio.to_thread import run_sync

from kbd import __version__
from kbd.core.api.traces import TraceSender
from kbd.core.home_index.database import HomeCensus
from kbd.core.metrics.exposition import MetricFamily, Sample, gauge, render
from kbd.core.metrics.process_figures import process_families
from kbd.core.runtime.diagnostics import get_logger
from kbd.core.runtime.restarts import restart_on_failure
from kbd.core.server.dispatch import Handler, Session
from kbd.core.server.metrics_socket import serve_metrics
from kbd.core.sessions.api_context import ApiContext
from kbd.core.sessions.workbenches import Workbenches
from kbd.errors import KbdError
from kbd.requests import daemon as wire
from kbd.requests.base import Request

__all__ = ["MetricsMethods", "export_telemetry"]

LAG_TIMER_S = 0.005
"""The timer by which the lag of the event loop is measured when somebody asks."""

_log = get_logger(__name__)


class MetricsMethods:
    """Handler of the metrics."""

    def __init__(self, context: ApiContext, workbenches: Workbenches) -> None:
        self._context, self._workbenches = context, workbenches

    def table(self) -> dict[type[Request], Handler]:
        """Return what answers which request."""
        return {wire.DaemonGetMetrics: self.metrics}

    async def metrics(self, request: wire.DaemonGetMetrics, session: Session) -> wire.DaemonMetrics:
        """Return the metrics."""
        del request, session
        return wire.DaemonMetrics(text=await self.text())

    async def text(self) -> str:
        """Return the metrics in the text format of Prometheus.

        Raises:
            KbdError: The index cannot be read.
        """
        return await run_sync(render, await self.families())

    async def families(self) -> list[MetricFamily]:
        """Return the metrics.

        Raises:
            KbdError: As for `text`.
        """
        context, begun_s = self._context, anyio.current_time()
        await anyio.sleep(LAG_TIMER_S)
        lag_s = max(0.0, anyio.current_time() - begun_s - LAG_TIMER_S)
        census = await context.index.census()
        system = await run_sync(lambda: list(process_families(context.home.folder)))
        return [
            *self._daemon_families(lag_s),
            *self._home_families(census),
            *self._watch_families(),
            *self._scrub_families(),
            *context.meters.events.families(),
            *context.meters.requests.families(),
            *context.meters.scrub.families(),
            *system,
        ]

    def _daemon_families(self, lag_s: float) -> Iterator[MetricFamily]:
        context = self._context
        build = (
            ("version", __version__), ("python", platform.python_version()),
            ("backend", context.backend),
        )  # fmt: skip
        yield gauge("kbd_build_info", "What runs; always 1.", Sample(1, build))
        uptime_s = context.clock.monotonic_s() - context.started_s
        yield gauge("kbd_uptime_seconds", "Time since the daemon started.", uptime_s)
        lag = "How late a timer of the event loop was, just now."
        yield gauge("kbd_event_loop_lag_seconds", lag, lag_s)
        workers = context.workers.status()
        yield gauge("kbd_worker_processes", "Worker processes that are alive.", workers.workers)
        told = "Whether files can be worked on."
        yield gauge("kbd_workers_available", told, int(workers.available))
        statuses = Count(str(each.status) for each in context.plugins.statuses)
        yield _by_status("kbd_plugins", "Plugins that were found, by status.", statuses)

    def _home_families(self, census: HomeCensus) -> Iterator[MetricFamily]:
        context, daemon = self._context, self._workbenches.daemon
        yield _by_status("kbd_workbenches", "Workbenches, by status.", census.workbenches)
        yield gauge(
            "kbd_workbenches_open", "Workbenches held open.", len(self._workbenches.running())
        )
        yield _by_status("kbd_runs", "Runs in the logs, by status.", census.runs)
        yield gauge("kbd_approvals_pending", "Decisions that wait for a person.", census.approvals)
        yield gauge("kbd_log_events", "Events in all logs.", census.events + daemon.state.seq)
        yield gauge(
            "kbd_workbenches_size_bytes", "Size of all workbenches on disk.", census.disk_bytes
        )
        settings = context.settings.retention
        # A home with a quota is measured again and again; without one nobody pays for it.
        if settings.quota_bytes:
            used = context.usage.sizes.total
            yield gauge("kbd_home_size_bytes", "Size of the home on disk.", used)
            quota = "What the home may take on disk."
            yield gauge("kbd_home_quota_bytes", quota, settings.quota_bytes)
        packed = daemon.state.archives()
        yield gauge("kbd_archives", "Workbenches that are packed in archives.", len(packed))
        size_bytes = sum(each.size_bytes for each in packed)
        yield gauge("kbd_archives_size_bytes", "Size of all archives.", size_bytes)
        is_damaged = daemon.journal.log.damage is not None or bool(daemon.state.damage)
        damaged = census.workbenches.get("damaged", 0) + is_damaged
        told = "Logs that are damaged, or whose blobs are, the daemon's among them."
        yield gauge("kbd_logs_damaged", told, damaged)

    def _scrub_families(self) -> Iterator[MetricFamily]:
        state, summary = self._workbenches.daemon.state, self._context.verifications.summary
        known = sum(len(each.damage) for each in state.workbenches.values()) + len(state.damage)
        told = "Faults that verifications found and that are not mended."
        yield gauge("kbd_scrub_faults", told, known)
        told = "Logs that were neither verified nor created within the days of the setting."
        yield gauge("kbd_scrub_logs_overdue", told, summary.overdue)
        # Before it is known there is no such time.
        oldest = (summary.oldest_at_us / 1e6,) if summary.logs else ()
        told = "When the log was verified, or else created, for which that is longest ago."
        yield gauge("kbd_scrub_oldest_timestamp_seconds", told, *oldest)

    def _watch_families(self) -> Iterator[MetricFamily]:
        watches = tuple(self._workbenches.daemon.state.watching.watches.values())
        statuses = Count(each.status.value for each in watches)
        yield _by_status("kbd_watches", "Watched folders, by status.", statuses)
        stages = Count(file.stage.value for each in watches for file in each.landings.values())
        yield gauge(
            "kbd_watch_files", "Landed files that are not done, by stage.",
            *(Sample(count, (("stage", stage),)) for stage, count in sorted(stages.items())),
        )  # fmt: skip
        landed = sum(each.landed for each in watches)
        yield gauge("kbd_watch_files_landed", "Files that landed in the watches there are.", landed)
        outcomes: Count[str] = Count()
        for each in watches:
            outcomes.update(each.ended)
        yield gauge(
            "kbd_watch_outcomes", "Outcomes in the watches there are, by name.",
            *(Sample(count, (("outcome", name),)) for name, count in sorted(outcomes.items())),
        )  # fmt: skip


def _by_status(name: str, told: str, counts: Mapping[str, int]) -> MetricFamily:
    samples = [Sample(count, (("status", each),)) for each, count in sorted(counts.items())]
    return gauge(name, told, *samples)


async def export_telemetry(
    context: ApiContext,
    workbenches: Workbenches,
    *,
    task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
) -> None:
    """Answer the metrics on their socket, write them to their file, and send traces of runs.

    Each as the settings want it.

    Works until it is canceled.

    Args:
        context: The daemon's.
        workbenches: Its workbenches.
        task_status: Told when the socket is there.

    Raises:
        ValidationFailed: The socket cannot be made.
    """
    settings, metrics = context.settings.metrics, MetricsMethods(context, workbenches)
    async with anyio.create_task_group() as tasks:
        if settings.socket:
            await tasks.start(serve_metrics, context.home.metrics_socket, metrics.text)
        task_status.started()
        if context.settings.otel.endpoint:
            traces = TraceSender(context, workbenches)
            tasks.start_soon(restart_on_failure, "traces", traces.run)
        if settings.file:
            write = partial(_write_again_and_again, Path(settings.file), metrics, settings.file_s)
            await restart_on_failure("metrics", write)


async def _write_again_and_again(path: Path, metrics: MetricsMethods, interval_s: float) -> None:
    failure = ""
    while True:
        try:
            await run_sync(_write_file, path, await metrics.text())
            failure = ""
        except (OSError, KbdError) as error:
            reason = error.strerror if isinstance(error, OSError) else error.message
            # Told once, and not each time.
            if reason != failure:
                failure = reason or ""
                _log.warning("metrics_not_written", reason=reason)
        await anyio.sleep(interval_s)


def _write_file(path: Path, text: str) -> None:
    """Replace the file by a new one: a collector reads a whole one at any time."""
    # Not a name that the collector reads, which takes all *.prom of the folder.
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    # A collector is another user; there is nothing in it that is private.
    held = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
    try:
        with os.fdopen(held, "w", encoding="utf-8") as file:
            os.fchmod(file.fileno(), 0o644)
            file.write(text)
        os.replace(fresh, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(fresh)
        raise
