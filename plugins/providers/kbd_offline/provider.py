"""The provider `offline`: its one model, `planner`, and a turn of it."""

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from anyio import to_thread

from kbd.errors import ValidationFailed
from kbd.providers import (
    Access,
    Emit,
    ModelInfo,
    ModelReply,
    ModelRequest,
    Provider,
    ProviderStatus,
    ToolSchema,
)
from kbd.types import Phase
from kbd_offline.conversation import PendingError, PlannerConversation
from kbd_offline.phases import implement, plan, refusal_of, research, summary

__all__ = ["OfflineProvider"]

MODEL = "planner"
CONTEXT_TOKENS = 1_000_000
"""There is no window; the number keeps any conversation that fits into memory within it."""


class OfflineProvider(Provider):
    """Fixed rules in the place of a model: no network, no key, the same answer every time."""

    name: ClassVar[str] = "offline"
    writes_prose: ClassVar[bool] = False
    looks_into_files: ClassVar[bool] = False

    def models(self) -> Sequence[ModelInfo]:
        """Return the one model."""
        return (ModelInfo(id=f"{self.name}:{MODEL}", context_tokens=CONTEXT_TOKENS),)

    def status(self) -> ProviderStatus:
        """Return that it is always ready and that nothing leaves the machine."""
        return ProviderStatus(configured=True, leaves_machine=False)

    def told_bytes(self, tools: Sequence[ToolSchema]) -> int:
        """Return how many bytes its rules read of tools: their names."""
        return sum(len(tool.name) for tool in tools)

    async def complete(self, request: ModelRequest, access: Access, emit: Emit) -> ModelReply:
        """Make one turn from the messages alone; `access` is not used.

        Raises:
            ValidationFailed: There is no such model, or the turn cannot be made; the text says why.
        """
        del access
        if request.model != MODEL:
            raise ValidationFailed(f"the offline provider has one model, {MODEL}")
        try:
            conversation = PlannerConversation(request)
            # Away from the event loop: reading tries all rules at each word, for each table.
            text = await to_thread.run_sync(_PHASES[request.phase], conversation)
        except PendingError as pending:
            return ModelReply(tool_calls=pending.calls, finish_reason="tool_calls")
        # Only when it is whole: until then the turn may still end in calls instead.
        for line in text.splitlines(keepends=True):
            emit(line)
        refusal = refusal_of(conversation) if request.phase is Phase.IMPLEMENT else None
        return ModelReply(
            text=text, finish_reason="stop" if refusal is None else "declined", refusal=refusal
        )


_PHASES: Mapping[Phase, Callable[[PlannerConversation], str]] = {
    Phase.RESEARCH: research, Phase.PLAN: plan, Phase.IMPLEMENT: implement, Phase.SUMMARY: summary,
}  # fmt: skip
