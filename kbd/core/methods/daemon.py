"""Methods about the daemon, its plugins, its workers and its models."""

import os

import msgspec

from kbd import __version__
from kbd.core.decisions.daemon import RecordDaemon
from kbd.core.methods.shop import Shop
from kbd.core.server.dispatch import Handler, Session
from kbd.events.workbenches import ModelChosen
from kbd.requests import API_VERSION
from kbd.requests import daemon as wire
from kbd.requests import providers as wire_providers
from kbd.requests.base import Request

__all__ = ["DaemonMethods"]


class DaemonMethods:
    """Answers about the daemon itself."""

    def __init__(self, shop: Shop) -> None:
        self._shop, self._parts = shop, shop.parts

    def table(self) -> dict[type[Request], Handler]:
        """Return what answers which request."""
        return {
            wire.EngineGetInfo: self.info,
            wire.ToolWorkerGetStatus: self.workers,
            wire.DaemonShutdown: self.shutdown,
            wire.PluginsList: self.plugins,
            wire_providers.ProvidersGetStatus: self.providers,
            wire_providers.ModelsListSupported: self.models,
            wire_providers.UserGetDefaultModel: self.get_default_model,
            wire_providers.UserSetDefaultModel: self.set_default_model,
        }

    def info(self, request: wire.EngineGetInfo, session: Session) -> wire.EngineInfo:
        """Say what is running."""
        del request, session
        parts = self._parts
        return wire.EngineInfo(
            engine_version=__version__,
            api_version=API_VERSION,
            backend=parts.backend,
            home=str(parts.home.folder),
            pid=os.getpid(),
            plugins=tuple(each.name for each in parts.plugins.statuses if each.status == "loaded"),
            workbenches=len(self._shop.benches.ids()),
            uptime_s=round(parts.clock.monotonic_s() - parts.started_s, 3),
        )

    def workers(self, request: wire.ToolWorkerGetStatus, session: Session) -> wire.ToolWorkerStatus:
        """Say whether files can be worked on."""
        del request, session
        status = self._parts.workers.status()
        return wire.ToolWorkerStatus(
            available=status.available,
            workers=status.workers,
            sandbox=wire.SandboxInfo(level=status.sandbox.level, reason=status.sandbox.reason),
            error=status.error if status.error is not None else msgspec.UNSET,
        )

    def shutdown(self, request: wire.DaemonShutdown, session: Session) -> wire.DaemonStopping:
        """Stop the daemon; this answer is still sent."""
        del request, session
        self._parts.stop()
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
            for each in self._parts.plugins.statuses
        )
        return wire.PluginsFound(plugins=rows)

    def providers(
        self, request: wire_providers.ProvidersGetStatus, session: Session
    ) -> wire_providers.ProvidersFound:
        """Say how the providers are set up."""
        del request, session
        rows: list[wire_providers.ProviderRow] = []
        for owned in self._parts.catalog.providers():
            status = owned.item.status()
            rows.append(
                wire_providers.ProviderRow(
                    provider_id=owned.item.name,
                    enabled=True,
                    configured=status.configured,
                    leaves_machine=status.leaves_machine,
                    auth_mode=status.auth_mode,
                    endpoint=status.endpoint,
                    reason=status.reason if status.reason is not None else msgspec.UNSET,
                )
            )
        return wire_providers.ProvidersFound(providers=tuple(rows))

    def models(
        self, request: wire_providers.ModelsListSupported, session: Session
    ) -> wire_providers.ModelsFound:
        """List the models that the providers know of."""
        del request, session
        owned = [each.item for each in self._parts.catalog.providers()]
        rows = tuple(
            wire_providers.ModelRow(
                model_id=info.id,
                provider_id=provider.name,
                context_tokens=info.context_tokens,
                input_price=info.input_price,
                output_price=info.output_price,
                available=provider.status().configured,
            )
            for provider in owned
            for info in provider.models()
        )
        open_providers = tuple(provider.name for provider in owned if provider.takes_any_model)
        return wire_providers.ModelsFound(models=rows, open_providers=open_providers)

    def get_default_model(
        self, request: wire_providers.UserGetDefaultModel, session: Session
    ) -> wire_providers.DefaultModel:
        """Say which model is used where none is chosen."""
        del request, session
        return wire_providers.DefaultModel(model_id=self._shop.default_model())

    async def set_default_model(
        self, request: wire_providers.UserSetDefaultModel, session: Session
    ) -> wire_providers.DefaultModel:
        """Choose the model that is used where none is chosen."""
        del session
        self._parts.egress.models.provider(request.model_id)
        chosen = RecordDaemon((ModelChosen(request.model_id),))
        await self._shop.benches.daemon.submit(chosen)
        return wire_providers.DefaultModel(model_id=request.model_id)
