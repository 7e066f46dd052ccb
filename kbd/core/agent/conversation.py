"""What a model is sent: the opening messages of a phase, and the chain that follows them.

A chain begins with two messages: the phase's prompt, and one user message of delimited blocks.

    <request>
    …
    </request>

    <files>
    ```json
    {"files": [{"path": …}]}
    ```
    </files>

Only these blocks cross from one phase to the next (contract, section 6). Text inside a block cannot
close it: delimiters in it are broken, and in JSON `<` and the backtick are written as escapes.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from kbd.core.agent.prompts import load
from kbd.core.agent.verdicts import Objection, fault_of
from kbd.core.state import Chain, Item, ItemState, Plan, Said, item_label
from kbd.core.state.readable import plan_markdown
from kbd.messages import Message, ToolCall
from kbd.types import CallId, Phase

__all__ = [
    "EARLIER_CHARS",
    "OBJECTION",
    "chain_messages",
    "earlier",
    "entries_of",
    "implement_opening",
    "plan_opening",
    "research_opening",
    "summary_opening",
]

EARLIER_CHARS = 8000
"""How much of the earlier messages research and plan see; the oldest are cut first."""

ANSWERS_CHARS = 60_000
"""What all final texts of items share in the summary's context; each has its beginning."""

SHORTEST_ANSWER_CHARS = 400

OBJECTION = "This cannot be used: {reason}. Answer once more, in exactly the form asked for."
"""What a model is told when its final text is refused."""

_BLOCKS = (
    "request", "earlier_messages", "research", "plan", "item", "failure", "files", "results",
    "changes",
)  # fmt: skip


def research_opening(
    request: str, earlier_messages: str, files: Sequence[Mapping[str, Any]]
) -> tuple[Message, ...]:
    """Open research: the request, what was said before, all files with their maps."""
    blocks = [_block("request", request), _block("earlier_messages", earlier_messages)]
    return _opening(Phase.RESEARCH, [*blocks, _json_block("files", {"files": files})])


def plan_opening(
    request: str, earlier_messages: str, research: str, files: Sequence[Mapping[str, Any]]
) -> tuple[Message, ...]:
    """Open the plan: the request, what was said before, the research, the files without maps."""
    blocks = [
        _block("request", request),
        _block("earlier_messages", earlier_messages),
        _block("research", research),
        _json_block("files", {"files": files}),
    ]
    return _opening(Phase.PLAN, blocks)


def implement_opening(
    plan: Plan, place: int, attempt: int, files: Sequence[Mapping[str, Any]]
) -> tuple[Message, ...]:
    """Open one attempt at an item: the plan as it stands, the item, the draft's files as they are.

    The second attempt is told why the first failed.
    """
    item = plan.items[place - 1]
    blocks = [
        _block("plan", plan_markdown(plan)),
        _block("item", item.text, f' number="{place}" attempt="{attempt}"'),
        _block("failure", f"{item.code}: {item.reason}" if attempt > 1 else ""),
        _json_block("files", {"files": files}),
    ]
    return _opening(Phase.IMPLEMENT, blocks)


def summary_opening(
    request: str, plan: Plan, changes: Sequence[Mapping[str, Any]]
) -> tuple[Message, ...]:
    """Open the summary: the request, the plan, each item's final text, the actual change set."""
    room = max(SHORTEST_ANSWER_CHARS, ANSWERS_CHARS // max(len(plan.items), 1))
    results: dict[str, Any] = {
        "items": [_result(place, item, room) for place, item in enumerate(plan.items, 1)]
    }
    if plan.refused:
        results["refused_additions"] = plan.refused
    blocks = [
        _block("request", request),
        _block("plan", plan_markdown(plan)),
        _json_block("results", results),
        _json_block("changes", {"changes": changes}),
    ]
    return _opening(Phase.SUMMARY, blocks)


def earlier(said: Sequence[Said], message_id: str) -> str:
    """Return what was said before a message, at most 8,000 characters, the oldest cut first."""
    before: list[str] = []
    for message in said:
        if message.message_id == message_id:
            break
        before.append(f"[{message.role}] {message.text.strip()}")
    text = "\n\n".join(before)
    return text if len(text) <= EARLIER_CHARS else "…" + text[1 - EARLIER_CHARS :]


def chain_messages(chain: Chain, objection: Objection) -> tuple[Message, ...]:
    """Return what followed the opening: replies with their calls, and what the calls returned.

    Args:
        chain: The open chain.
        objection: Says why a final text is refused; the model is told so and answers again.
    """
    messages: list[Message] = []
    for turn in chain.turns:
        # A call without a result is one that came when none was asked for; it is left out, for
        # providers refuse a conversation in which a call stays unanswered.
        answered = [call for call in turn.calls if call.id in turn.results]
        calls = tuple(ToolCall(c.id, c.name, c.arguments or "{}") for c in answered)
        if calls or turn.text.strip():  # servers refuse a message that says nothing
            messages.append(Message("assistant", turn.text, calls))
        messages += [Message("tool", turn.results[c.id], tool_call_id=c.id) for c in calls]
        if not calls:
            reason = fault_of(turn, objection) or "it is not an answer"
            messages.append(Message("user", OBJECTION.format(reason=reason)))
    return tuple(messages)


def entries_of(chain: Chain) -> dict[CallId, int]:
    """Return the tool log's number of each call of a chain."""
    return {call: entry for turn in chain.turns for call, entry in turn.entries.items()}


def _result(place: int, item: Item, room: int) -> dict[str, Any]:
    answer = item.answer if len(item.answer) <= room else item.answer[:room] + "…"
    result: dict[str, Any] = {
        "item": place,
        "label": item_label(item.text),
        "state": item.state.value,
        "text": answer,
    }
    if item.state is ItemState.FAILED:
        result["reason"] = f"{item.code}: {item.reason}"
    if item.rolled_back:
        result["rolled_back"] = item.rolled_back
    return result


def _opening(phase: Phase, blocks: Iterable[str]) -> tuple[Message, ...]:
    text = "\n\n".join(block for block in blocks if block)
    return (Message("system", load(phase)), Message("user", text))


def _block(name: str, text: str, attributes: str = "") -> str:
    """Delimit a text; nothing for no text."""
    text = text.strip()
    for block in _BLOCKS:
        text = text.replace(f"</{block}", f"<\\/{block}").replace(f"<{block}", f"<\\{block}")
    return f"<{name}{attributes}>\n{text}\n</{name}>" if text else ""


def _json_block(name: str, value: Any) -> str:
    text = msgspec.json.encode(value).decode().replace("<", "\\u003c").replace("`", "\\u0060")
    return f"<{name}>\n```json\n{text}\n```\n</{name}>"
