"""Methods of egress: consent to what may leave the machine, and the list of what left."""

import msgspec

from kbd.core.domain.commands import GrantConsent
from kbd.core.domain.daemon_decisions import RecordDaemon
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.core.gateway.gateway import scope_hash
from kbd.core.server.dispatch import Handler, Session
from kbd.core.sessions.api_context import ApiContext
from kbd.core.sessions.workbenches import Workbenches
from kbd.core.workbench.event_rows import sent_requests
from kbd.errors import ValidationFailed
from kbd.events.workbenches import SettingChanged
from kbd.requests import egress as wire
from kbd.requests.base import UNSET, Request

__all__ = ["EgressMethods"]


class EgressMethods:
    """Handlers of egress: consent, its mode, and the requests that left."""

    def __init__(self, context: ApiContext, benches: Workbenches) -> None:
        self._context, self._benches = context, benches

    def table(self) -> dict[type[Request], Handler]:
        """Return what answers which request."""
        return {
            wire.EgressGetConsentStatus: self.status,
            wire.EgressGrantWorkshopConsent: self.grant,
            wire.EgressListEvents: self.list_events,
            wire.UserGetConsentMode: self.mode,
            wire.UserSetConsentMode: self.set_mode,
        }

    async def status(
        self, request: wire.EgressGetConsentStatus, session: Session
    ) -> wire.ConsentStatus:
        """Say whether the files may go to the provider of the workbench's model, or another's.

        A model that could not be called anyway is told first: nobody need agree to nothing.
        """
        del session
        state = (await self._benches.open(request.workbench_id)).state
        egress, named = self._context.egress, request.model_id
        model_id = egress.models.of_workbench(state) if named is UNSET else named
        embeds = self._embeds(state, model_id)
        if not embeds:
            egress.check_set_up(model_id)
            model_id = egress.models.wrapped_model(model_id)
        scope, endpoint = scope_hash(state, model_id), egress.endpoint(model_id, embeds=embeds)
        embedder = egress.embedder()
        persisted = any(
            each.persist and each.scope_hash == scope and each.endpoint in ("", endpoint)
            for each in state.consents
        )
        return wire.ConsentStatus(
            consented=egress.consented(state, model_id, embeds=embeds),
            provider_id=model_id.partition(":")[0],
            model_id=model_id,
            scope_hash=scope,
            persisted=persisted,
            mode=self._mode(),
            endpoint=endpoint,
            embedder=embedder.model_id if named is UNSET and embedder.leaves_machine else UNSET,
        )

    async def grant(
        self, request: wire.EgressGrantWorkshopConsent, session: Session
    ) -> wire.ConsentGiven:
        """Record that a person agreed."""
        del session
        bench = await self._benches.open(request.workbench_id)
        if request.provider_id != request.model_id.partition(":")[0]:
            msg = f"{request.model_id} is not a model of the provider {request.provider_id}"
            raise ValidationFailed(msg)
        current = self._context.egress.consent_to(
            bench.state,
            request.model_id,
            persist=request.persist,
            embeds=self._embeds(bench.state, request.model_id),
        )
        consent = msgspec.structs.replace(current, scope_hash=request.scope_hash)
        await bench.keeper.submit(GrantConsent(consent, current.scope_hash))
        return wire.ConsentGiven()

    async def list_events(
        self, request: wire.EgressListEvents, session: Session
    ) -> wire.EgressEvents:
        """List the requests that left."""
        del session
        log_id = request.workbench_id
        if log_id == "daemon":
            journal = self._benches.daemon.journal
        else:
            journal = (await self._benches.open(log_id)).keeper.journal
        return await sent_requests(log_id, journal, request.after, request.limit)

    def mode(self, request: wire.UserGetConsentMode, session: Session) -> wire.ConsentMode:
        """Say whether people are asked."""
        del request, session
        return wire.ConsentMode(mode=self._mode())

    async def set_mode(
        self, request: wire.UserSetConsentMode, session: Session
    ) -> wire.ConsentMode:
        """Choose whether people are asked.

        Raises:
            ValidationFailed: Everything is to be allowed, and that is not approved.
        """
        del session
        if request.mode == "allow_all" and not request.approved:
            msg = (
                "with allow_all the files of every workbench may leave this machine unasked: "
                "repeat it with approved true"
            )
            raise ValidationFailed(msg, actions=("repeat with approved true",))
        if request.mode != self._mode():
            changed = RecordDaemon((SettingChanged("consent_mode", request.mode),))
            await self._benches.daemon.submit(changed)
        return wire.ConsentMode(mode=self._mode())

    def _embeds(self, state: WorkbenchState, model_id: str) -> bool:
        """Tell whether a model is meant as an embedder's; its name may be a provider's, too."""
        is_used = model_id == self._context.egress.embedder().model_id
        return is_used and model_id != self._context.egress.models.chosen_or_default(state.model_id)

    def _mode(self) -> wire.Mode:
        return "allow_all" if self._context.egress.mode == "allow_all" else "ask"
