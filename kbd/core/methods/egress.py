"""Methods about what may leave the machine."""

from kbd.core.decisions import GrantConsent
from kbd.core.egress import scope_hash
from kbd.core.methods.shop import Shop
from kbd.core.server.dispatch import Handler, Session
from kbd.errors import ValidationFailed
from kbd.events.workbenches import ConsentGranted
from kbd.requests import egress as wire
from kbd.requests.base import Request

__all__ = ["EgressMethods"]


class EgressMethods:
    """Asks for consent and records it."""

    def __init__(self, shop: Shop) -> None:
        self._shop, self._parts = shop, shop.parts

    def table(self) -> dict[type[Request], Handler]:
        """Return what answers which request."""
        return {
            wire.EgressGetConsentStatus: self.status,
            wire.EgressGrantWorkshopConsent: self.grant,
        }

    async def status(
        self, request: wire.EgressGetConsentStatus, session: Session
    ) -> wire.ConsentStatus:
        """Say whether the files may go to the provider of the workbench's model.

        A model that could not be called anyway is told first: nobody need agree to nothing.
        """
        del session
        state = (await self._shop.bench(request.workbench_id)).state
        model_id = self._shop.model_of(state)
        self._parts.egress.check_set_up(model_id)
        scope = scope_hash(state, model_id)
        persisted = any(
            consent.persist and consent.scope_hash == scope for consent in state.consents
        )
        return wire.ConsentStatus(
            consented=self._parts.egress.consented(state, model_id),
            provider_id=model_id.partition(":")[0],
            model_id=model_id,
            scope_hash=scope,
            persisted=persisted,
            mode="ask",
        )

    async def grant(
        self, request: wire.EgressGrantWorkshopConsent, session: Session
    ) -> wire.ConsentGiven:
        """Record that a person agreed."""
        del session
        bench = await self._shop.bench(request.workbench_id)
        if request.provider_id != request.model_id.partition(":")[0]:
            msg = f"{request.model_id} is not a model of the provider {request.provider_id}"
            raise ValidationFailed(msg)
        consent = ConsentGranted(
            request.provider_id, request.model_id, request.scope_hash, request.persist
        )
        current = scope_hash(bench.state, request.model_id)
        await bench.keeper.submit(GrantConsent(consent, current))
        return wire.ConsentGiven()
