"""The context of handlers and sessions: what the daemon is assembled from, in one record."""

from collections.abc import Callable
from typing import Protocol

import msgspec

from kbd.core.gateway.daily_budget import DailyBudget
from kbd.core.gateway.gateway import Egress
from kbd.core.metrics.meters import Meters
from kbd.core.plugins.catalog import Catalog
from kbd.core.plugins.host import Plugins
from kbd.core.plugins.renderer import Renderer
from kbd.core.plugins.worker_pool import WorkerPool
from kbd.core.runtime.clock import Clock
from kbd.core.runtime.paths import Home
from kbd.core.runtime.settings import Settings
from kbd.core.search.engine_pool import EnginePool
from kbd.core.sessions.home_usage import HomeUsage
from kbd.core.sessions.indexer import HomeIndexer
from kbd.core.sessions.verifications import Verifications
from kbd.events.base import Actor
from kbd.requests.base import Notification

__all__ = ["ApiContext", "Notify"]

Notify = Callable[[Notification], None]
"""Tells every client that named a workbench; returns at once."""


class Stopping(Protocol):
    """Asks the daemon to stop."""

    def __call__(self, actor: Actor | None = None) -> None:
        """Ask, for a client or for nobody, and return at once."""


class ApiContext(msgspec.Struct, frozen=True):
    """The parts that live as long as the daemon.

    Args:
        home: Where everything lies.
        settings: As read at start.
        clock: Time and fresh ids.
        plugins: What was found.
        catalog: What they bring.
        workers: Their processes.
        renderer: The program that prints documents for previews.
        index: What there is: a row a workbench and a run.
        verifications: When which log was verified, and what was found.
        engines: The searches of workbenches.
        usage: What the home takes on disk, and its quota.
        egress: The one door out.
        daily_budget: The day's money.
        notify: Tells clients.
        stop: Asks the daemon to stop.
        backend: "asyncio" or "trio".
        started_s: When the daemon started, on the monotonic clock.
        home_warning: What a person should know of where the home lies; "" for nothing.
        meters: What is counted while the daemon works.
    """

    home: Home
    settings: Settings
    clock: Clock
    plugins: Plugins
    catalog: Catalog
    workers: WorkerPool
    renderer: Renderer
    index: HomeIndexer
    verifications: Verifications
    engines: EnginePool
    usage: HomeUsage
    egress: Egress
    daily_budget: DailyBudget
    notify: Notify
    stop: Stopping
    backend: str
    started_s: float
    home_warning: str = ""
    meters: Meters = msgspec.field(default_factory=Meters)
