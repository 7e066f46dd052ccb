"""Methods of context items: what every run of a workbench is given."""

import msgspec

from kbd.core.agent.context_items import weigh_context
from kbd.core.api.files import read_client_file
from kbd.core.domain.commands import RemoveContext, SetContext
from kbd.core.domain.workbench_decisions import parse_category
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.core.server.dispatch import Handler, Session
from kbd.core.sessions.api_context import ApiContext
from kbd.core.sessions.workbenches import Workbenches
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.errors import KbdError, ValidationFailed
from kbd.events.codec import format_time
from kbd.requests import contexts as wire
from kbd.requests.base import Request
from kbd.types import ContextCategory

__all__ = ["ContextMethods"]


class ContextMethods:
    """Handlers of context items: list, get, set, delete."""

    def __init__(self, context: ApiContext, benches: Workbenches) -> None:
        self._context, self._benches = context, benches

    def table(self) -> dict[type[Request], Handler]:
        """Return what answers which request."""
        return {
            wire.ContextList: self.list,
            wire.ContextGet: self.get,
            wire.ContextSet: self.set,
            wire.ContextDelete: self.delete,
        }

    async def list(self, request: wire.ContextList, session: Session) -> wire.ContextsFound:
        """List all four categories."""
        del session
        state = (await self._benches.open(request.workbench_id)).state
        rows = tuple(_render_row(state, category) for category in ContextCategory)
        return wire.ContextsFound(items=rows, weight=self._weight(state))

    async def get(self, request: wire.ContextGet, session: Session) -> wire.ContextFound:
        """Return one category's text."""
        del session
        state = (await self._benches.open(request.workbench_id)).state
        category = parse_category(request.category)
        item = state.context.get(category)
        return wire.ContextFound(item=_render_row(state, category), text=item.text if item else "")

    async def set(self, request: wire.ContextSet, session: Session) -> wire.ContextKept:
        """Set one category, from a text or from a client's file."""
        del session
        bench = await self._benches.open(request.workbench_id)
        category = parse_category(request.category)
        text, name = await self._given(bench, request)
        limit = self._context.settings.limits.context_characters
        await bench.keeper.submit(SetContext(category, text, name, limit))
        return wire.ContextKept(
            item=_render_row(bench.state, category), weight=self._weight(bench.state)
        )

    async def delete(self, request: wire.ContextDelete, session: Session) -> wire.ContextDeleted:
        """Delete one category."""
        del session
        bench = await self._benches.open(request.workbench_id)
        outcome = await bench.keeper.submit(RemoveContext(request.category))
        row = _render_row(bench.state, parse_category(request.category))
        return wire.ContextDeleted(item=row, deleted=bool(outcome.events))

    async def _given(self, bench: OpenWorkbench, request: wire.ContextSet) -> tuple[str, str]:
        """Return the text that is given, with the name of the file that it is of, or ""."""
        text, path = request.text, request.source_path
        if isinstance(text, str) and isinstance(path, msgspec.UnsetType):
            return text, ""
        if isinstance(path, str) and isinstance(text, msgspec.UnsetType):
            return await read_client_file(self._context, bench, path)
        msg = "give either text or source_path"
        raise ValidationFailed(msg)

    def _weight(self, state: WorkbenchState) -> wire.ContextWeight:
        models = self._context.egress.models
        try:
            model = models.model(models.of_workbench(state))
        except KbdError:  # No model is named yet, or its provider is not installed any more.
            return wire.ContextWeight(estimated_tokens=weigh_context(state.context).tokens)
        weight = weigh_context(state.context, model)
        return wire.ContextWeight(
            estimated_tokens=weight.tokens,
            warning=weight.is_much,
            model_id=model.id,
            context_tokens=model.context_tokens,
            share=round(weight.share, 4),
        )


def _render_row(state: WorkbenchState, category: ContextCategory) -> wire.ContextRow:
    item = state.context.get(category)
    if item is None:
        return wire.ContextRow(category=category, status="empty")
    return wire.ContextRow(
        category=category,
        status="set",
        characters=len(item.text),
        source_name=item.source_name or msgspec.UNSET,
        updated_at=format_time(item.set_at_us),
    )
