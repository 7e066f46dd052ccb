"""Text of the state for people: plan.md as Markdown, the conversation as lines of JSON."""

from collections.abc import Iterable, Sequence

import msgspec

from kbd.core.domain.run_state import Item, ItemState, Plan
from kbd.core.domain.workbench_state import CollectionNote, Said
from kbd.errors import BlobCollected
from kbd.events.codec import format_time, utc_day
from kbd.types import BlobHash

__all__ = [
    "PlanLine",
    "collection_error",
    "collection_text",
    "conversation_lines",
    "item_line",
    "one_line",
    "plan_markdown",
    "render_plan",
]

MAX_REASON_CHARS = 220

_MARKS = {ItemState.OPEN: " ", ItemState.DONE: "x", ItemState.FAILED: "!"}


class PlanLine(msgspec.Struct, frozen=True):
    """An item as plan.md shows it; `mark` is " ", "x" or "!", `reason` is why it failed."""

    text: str
    mark: str = " "
    reason: str = ""


class _Message(msgspec.Struct, frozen=True):
    """A line of conversation.jsonl."""

    type: str
    message_id: str
    role: str
    text: str
    created_at: str


def item_line(place: int, item: Item) -> str:
    """Render an item as plan.md shows it."""
    return _line(place, _plan_line(item))


def plan_markdown(plan: Plan) -> str:
    """Render plan.md of a plan and its progress."""
    lines = [_plan_line(item) for item in plan.items]
    return render_plan(plan.task, lines, plan.notes, plan.original_count)


def render_plan(task: str, lines: Sequence[PlanLine], notes: str, original_count: int) -> str:
    """Render plan.md from its parts."""
    body = [_line(place, line) for place, line in enumerate(lines, 1)]
    parts = [
        f"<!-- original_count: {original_count} -->",
        "# Execution Plan",
        "",
        "## Task",
        task,
        "",
        "## Items",
        "",
        *body,
        "",
        "## Notes",
        notes,
    ]
    return "\n".join(parts).rstrip() + "\n"


def one_line(reason: str, most: int = MAX_REASON_CHARS) -> str:
    """Truncate a reason to one line of at most `most` characters."""
    line = " ".join(reason.split())
    return line if len(line) <= most else line[: most - 1] + "…"


def conversation_lines(messages: Iterable[Said]) -> str:
    """Render conversation.jsonl: the messages of person and runs, one a line."""
    return "".join(msgspec.json.encode(_message(one)).decode() + "\n" for one in messages)


def _plan_line(item: Item) -> PlanLine:
    return PlanLine(item.text, _MARKS[item.state], item.reason)


def _line(place: int, line: PlanLine) -> str:
    suffix = f" [Failed: {one_line(line.reason)}]" if line.mark == "!" else ""
    return f"- [{line.mark}] {place}. {line.text}{suffix}"


def _message(messages: Said) -> _Message:
    kind = "user_message" if messages.role == "user" else "assistant_message"
    return _Message(
        kind, messages.message_id, messages.role, messages.text, format_time(messages.created_at_us)
    )


def collection_text(note: CollectionNote) -> str:
    """Return when and why a blob was collected."""
    return f"collected on {utc_day(note.at_us)}: {note.reason}"


def collection_error(blob: BlobHash, note: CollectionNote) -> BlobCollected:
    """Return the error of who asks for the bytes of a blob that was collected."""
    return BlobCollected(
        f"the stored bytes {blob[:12]}… were {collection_text(note)}",
        actions=("bring them back from a backup that was made before",),
        detail={"blob": blob, "collected_on": utc_day(note.at_us), "reason": note.reason},
    )
