"""Methods of the daemon itself: its information, workers, plugins, clients and shutdown."""

import os
import platform

import msgspec
from anyio.to_thread import run_sync

from kbd import __version__
from kbd.core.domain.event_text import title_line
from kbd.core.domain.found_damage import damage_text
from kbd.core.plugins.catalog import Catalog
from kbd.core.plugins.programs import program_path
from kbd.core.plugins.worker_pool import SandboxLevel
from kbd.core.server.dispatch import Handler, Session
from kbd.core.sessions.api_context import ApiContext
from kbd.core.sessions.retention import Retention
from kbd.core.sessions.workbenches import Workbenches
from kbd.errors import ToolWorkerUnavailable
from kbd.requests import API_VERSION
from kbd.requests import daemon as wire
from kbd.requests.base import Request

__all__ = ["MAX_NAME_CHARACTERS", "DaemonMethods"]

MAX_NAME_CHARACTERS = 80
"""Of what a client calls itself; it is in every event that the client causes."""


class DaemonMethods:
    """Handlers of the daemon itself."""

    def __init__(self, context: ApiContext, workbenches: Workbenches, retention: Retention) -> None:
        self._context, self._workbenches, self._retention = context, workbenches, retention

    def table(self) -> dict[type[Request], Handler]:
        """Return what answers which request."""
        return {
            wire.EngineGetInfo: self.info,
            wire.ToolWorkerGetStatus: self.workers,
            wire.WorkerGetInfo: self.worker_info,
            wire.DaemonShutdown: self.shutdown,
            wire.PluginsList: self.plugins,
            wire.ClientIdentify: self.identify,
        }

    def info(self, request: wire.EngineGetInfo, session: Session) -> wire.EngineInfo:
        """Describe the running daemon."""
        del request, session
        context, chosen = self._context, self._context.egress.embedder()
        daemon = self._workbenches.daemon
        damage = daemon.journal.log.damage
        told = damage.message if damage is not None else damage_text(daemon.state.damage)
        return wire.EngineInfo(
            engine_version=__version__,
            api_version=API_VERSION,
            backend=context.backend,
            home=str(context.home.folder),
            pid=os.getpid(),
            plugins=tuple(
                each.name for each in context.plugins.statuses if each.status == "loaded"
            ),
            workbenches=len(daemon.state.workbenches),
            uptime_s=round(context.clock.monotonic_s() - context.started_s, 3),
            search=wire.SearchInfo(embedder=chosen.model_id, reason=chosen.reason or msgspec.UNSET),
            home_warning=context.home_warning or msgspec.UNSET,
            damage=told or msgspec.UNSET,
            scrub=self._scrub_info(),
            storage_notices=self._storage_notices() or msgspec.UNSET,
        )

    def _scrub_info(self) -> wire.ScrubInfo | msgspec.UnsetType:
        context, summary = self._context, self._context.verifications.summary
        if not summary.logs:
            return msgspec.UNSET
        return wire.ScrubInfo(
            days=context.settings.scrub.days,
            logs=summary.logs,
            overdue=summary.overdue,
            oldest_s=round(max(0, context.clock.now_us() - summary.oldest_at_us) / 1e6, 3),
        )

    def _storage_notices(self) -> tuple[str, ...]:
        warning = self._context.usage.warning
        return (*((warning,) if warning else ()), *self._retention.notices())

    async def workers(
        self, request: wire.ToolWorkerGetStatus, session: Session
    ) -> wire.ToolWorkerStatus:
        """Return the status of the worker pool, and what prints documents."""
        del request, session
        status = self._context.workers.status()
        try:
            program = await run_sync(self._context.renderer.find)
            renderer = wire.RendererInfo(program=str(program.path))
        except ToolWorkerUnavailable as error:
            renderer = wire.RendererInfo(program="", reason=error.message)
        return wire.ToolWorkerStatus(
            available=status.available,
            workers=status.workers,
            sandbox=_sandbox_info(status.sandbox),
            renderer=renderer,
            programs=await run_sync(_tool_programs, self._context.catalog),
            error=status.error if status.error is not None else msgspec.UNSET,
            set_aside=tuple(
                wire.SetAsideFile(
                    path=each.path, plugin=each.plugin, deaths=each.deaths, reason=each.reason
                )
                for each in self._context.workers.set_aside.files()
            )
            or msgspec.UNSET,
        )

    def worker_info(self, request: wire.WorkerGetInfo, session: Session) -> wire.WorkerInfo:
        """Return the formats that workers read, each with its methods."""
        del request, session
        catalog, status = self._context.catalog, self._context.workers.status()
        methods: dict[str, list[str]] = {}
        for each in catalog.methods():
            methods.setdefault(each.item.handler.name, []).append(each.item.kind.method)
        owned = [catalog.format(handler.name) for handler in catalog.handlers()]
        return wire.WorkerInfo(
            python=platform.python_version(),
            available=status.available,
            sandbox=_sandbox_info(status.sandbox),
            formats=tuple(
                wire.WorkedFormat(
                    name=each.item.name,
                    kind=each.item.kind,
                    suffixes=tuple(sorted(each.item.suffixes)),
                    plugin=each.plugin.name,
                    version=each.plugin.version,
                    methods=tuple(sorted(methods.get(each.item.name, ()))),
                )
                for each in owned
            ),
            tool_methods=tuple(each.method.method for each in catalog.tools() if each.method),
        )

    def shutdown(self, request: wire.DaemonShutdown, session: Session) -> wire.DaemonStopping:
        """Stop the daemon; this answer is still sent."""
        del request
        self._context.stop(session.actor)
        return wire.DaemonStopping()

    def plugins(self, request: wire.PluginsList, session: Session) -> wire.PluginsFound:
        """List the plugins."""
        del request, session
        rows = tuple(
            wire.PluginRow(
                name=each.name,
                version=each.version,
                source=each.source,
                kind=each.kind,
                status=each.status,
                reason=each.reason if each.reason is not None else msgspec.UNSET,
            )
            for each in self._context.plugins.statuses
        )
        return wire.PluginsFound(plugins=rows)

    def identify(self, request: wire.ClientIdentify, session: Session) -> wire.ClientIdentified:
        """Note what the client calls itself, cleaned; it is told what was noted."""
        client, version, host = map(self._clean, (request.client, request.version, request.host))
        session.identify(client or session.actor.client, version, host)
        actor = session.actor
        return wire.ClientIdentified(
            client=actor.client,
            connection=actor.connection,
            version=actor.version or msgspec.UNSET,
            host=actor.host or msgspec.UNSET,
        )

    def _clean(self, name: str | msgspec.UnsetType) -> str:
        """Return a name that cannot redraw a terminal, fill a log, or take a key into it."""
        if isinstance(name, msgspec.UnsetType):
            return ""
        # Before it is cut: a part of a key is not known as one.
        return title_line(self._context.egress.redaction.text(name), MAX_NAME_CHARACTERS)


def _tool_programs(catalog: Catalog) -> tuple[wire.ToolProgram, ...]:
    """Return what tools need of the machine beside what prints. Looks at the disk."""
    return tuple(
        wire.ToolProgram(
            tool=entry.tool.name,
            name=entry.tool.program,
            program=str(program_path(entry.tool) or ""),
        )
        for entry in catalog.tools()
        if entry.tool.program
    )


def _sandbox_info(sandbox: SandboxLevel) -> wire.SandboxInfo:
    return wire.SandboxInfo(
        level=sandbox.level,
        reason=msgspec.UNSET if sandbox.reason is None else sandbox.reason,
        layers=tuple(
            wire.SandboxLayerInfo(name=layer.name, holds=layer.holds, reason=layer.reason)
            for layer in sandbox.layers
        ),
    )
