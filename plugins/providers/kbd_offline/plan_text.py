"""The plan and summary phases: texts made from texts, without tools. Pure."""

from typing import Any, assert_never

from kbd_offline.conversation import PlannerConversation
from kbd_offline.intents import (
    Declined,
    Deduped,
    Grouped,
    Intent,
    Merged,
    Profiled,
    Replaced,
    RowsIntent,
    Sheets,
    Split,
    found_in,
    written,
)
from kbd_offline.interpretation import shortened
from kbd_offline.jobs import NOT_A_MODEL
from kbd_offline.steps import described, steps

__all__ = ["plan", "summary"]

MOST_TOLD = 3
"""How many items are told one by one; a hundred sheets are not."""

MOST_COUNTED = 20
"""The same where each item has a count of its own that the user asked for."""


def plan(conversation: PlannerConversation) -> str:
    """Return plan.md: one item a sheet or file, and the intent in the notes."""
    intent = found_in(conversation.block("research") or conversation.request)
    if intent is None:
        reason = "the research was not made by this provider."
        intent = Declined(shortened(conversation.request), reason)
    items = [f"- [ ] {place}. {step.line}" for place, step in enumerate(steps(intent), 1)]
    return "\n".join(
        [
            "# Execution Plan",
            "",
            "## Task",
            " ".join(described(intent).split()),
            "",
            "## Items",
            "",
            *items,
            "",
            "## Notes",
            *_notes(intent),
            "- For the offline provider, which reads no prose:",
            written(intent),
        ]
    )


def summary(conversation: PlannerConversation) -> str:
    """Return the message to the user: answers as they are, else what changed and what failed."""
    items = [dict(item) for item in conversation.json_block("results").get("items", [])]
    changes = [dict(change) for change in conversation.json_block("changes").get("changes", [])]
    intent = found_in(conversation.block("plan"))
    failed = [item for item in items if item.get("state") == "failed"]
    if not changes and not failed and items:
        said = "\n\n".join(str(item.get("text", "")) for item in items)
        return said if isinstance(intent, Declined) else f"{said}\n\n{NOT_A_MODEL}"
    lines = [f"{_change(change)}." for change in changes] or ["Nothing was changed."]
    if intent is not None and changes and not failed:
        lines.append(f"{described(intent)}.")
    done = [str(item.get("text", "")) for item in items if item not in failed]
    most = MOST_TOLD if isinstance(intent, Split) else MOST_COUNTED
    if len(done) > most:
        lines.append(f"{len(done)} of {len(items)} items are done, among them:")
    lines += [f"- {text}" for text in done[-most:]]
    if isinstance(intent, Merged | Replaced):
        lines += [f"- {note}." for note in intent.notes[:MOST_COUNTED]]
    lines += [f"- Failed: {item.get('label')} ({item.get('reason')})" for item in failed]
    if changes:
        lines += ["", "The changes wait in a draft until you have reviewed and published them."]
    return "\n".join([*lines, "", NOT_A_MODEL])


def _change(change: dict[str, Any]) -> str:
    kind = str(change.get("change_type", "modified"))
    return f"{kind.capitalize()}: {change.get('path')}"


def _notes(intent: Intent) -> list[str]:
    match intent:
        case Split():
            return [
                f"- Source: {intent.selection.source}",
                f"- Target: {intent.target} (new; the first item creates it, later ones add to it)",
                "- Empty fields stay empty and are left out of totals and averages.",
            ]
        case Grouped() | RowsIntent() | Deduped():
            target = intent.target or "none, the answer is a text"
            return [f"- Source: {intent.selection.table.label}", f"- Target: {target}"]
        case Sheets():
            return [
                f"- Source: {intent.source}",
                "- Each sheet goes over as it is, into a new file.",
            ]
        case Merged():
            return [
                f"- Target: {intent.target} (new; the first item creates it, later ones add to it)",
                "- Columns are matched by name, in the order of the first table.",
                *(f"- {note}" for note in intent.notes),
            ]
        case Profiled():
            return [f"- Target: {intent.target} (new)", "- The files themselves are not changed."]
        case Replaced():
            case = "as it is written" if intent.match_case else "in capitals or not"
            notes = (f"- {note}" for note in intent.notes)
            return [f"- The text is searched {case}; only where it stands is changed.", *notes]
        case Declined():
            return [f"- Not done: {intent.reason}"]
        case _:
            assert_never(intent)
