"""Decisions about context items: what every run shall know."""

from kbd.core.domain.commands import RemoveContext, SetContext
from kbd.core.domain.decision import Decision, refuse_while_running
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.errors import ValidationFailed
from kbd.events.workbenches import ContextRemoved, ContextSet
from kbd.types import ContextCategory

__all__ = ["parse_category", "remove_item", "set_item"]


def parse_category(name: str) -> ContextCategory:
    """Return a category by its name.

    Raises:
        ValidationFailed: There is none of that name.
    """
    try:
        return ContextCategory(name)
    except ValueError:
        msg = f"there is no category {name[:80]!r}; there are: {', '.join(ContextCategory)}"
        raise ValidationFailed(msg) from None


def set_item(state: WorkbenchState, command: SetContext) -> Decision:
    """Set an item; an open draft does not matter, for it changes no file.

    Raises:
        ValidationFailed: There is no such category, the text is blank or too long, or a run is
            under way, which would not see it.
    """
    category = parse_category(command.category)
    refuse_while_running(state)
    text = command.text.strip()
    if not text:
        msg = "the text is blank: ContextDelete takes an item out"
        raise ValidationFailed(msg)
    if len(text) > command.limit:
        msg = (
            f"the text has {len(text):,} characters; an item has at most {command.limit:,}"
            " (setting limits.context_characters)"
        )
        detail = {"characters": len(text), "most": command.limit}
        raise ValidationFailed(msg, detail=detail)
    return Decision((ContextSet(category.value, text, command.source_name),))


def remove_item(state: WorkbenchState, command: RemoveContext) -> Decision:
    """Remove an item; of one that is not set, nothing need be recorded.

    Raises:
        ValidationFailed: There is no such category, or a run is under way.
    """
    category = parse_category(command.category)
    refuse_while_running(state)
    if category.value not in state.context:
        return Decision()
    return Decision((ContextRemoved(category.value),))
