"""What a run may use: loops, waits, the model's window, tokens. Pure: numbers in, verdicts out."""

import hashlib
from collections.abc import Mapping, Sequence
from enum import Enum

import msgspec

from kbd.core.settings import RunLimits
from kbd.errors import BudgetCapReached, ContextExhausted
from kbd.messages import Message, ToolCall, Usage
from kbd.providers import ModelInfo, ToolSchema
from kbd.types import CallId

__all__ = [
    "LOOP_NOTE",
    "Loop",
    "check_budget",
    "cost_of",
    "estimated_tokens",
    "fingerprint",
    "fitted",
    "loop_verdict",
    "reply_room",
    "retry_wait_s",
    "worst_cost",
]

BYTES_A_TOKEN = 3.5
"""A cautious mean over English prose (about 4) and JSON with figures (about 3)."""

MAX_WAIT_S = 600.0
"""The longest wait that a provider can ask for; after it the attempt is made anyway."""

JITTER = 0.1
"""A wait is stretched by up to a tenth, so that runs stopped together do not return together."""

LARGE_ARGUMENT_BYTES = 2048
"""Arguments of old calls above this are left out when the window is full."""

LOOP_NOTE = (
    "Note: this same call was made {count} times. Its answer does not change; use what it returned,"
    " or do something else. The attempt ends if it is repeated further."
)


class Loop(Enum):
    """What the last calls look like."""

    NONE = "none"
    WARN = "warn"
    STOP = "stop"


def fingerprint(tool: str, arguments: str) -> str:
    """Identify a call by its tool and its canonical arguments, content included.

    Args:
        tool: The tool's name.
        arguments: JSON text; text that is no JSON is taken as it is.
    """
    try:
        plain = msgspec.json.decode(arguments)
        canonical = msgspec.json.encode(plain, order="deterministic")
    except (msgspec.DecodeError, RecursionError):
        canonical = arguments.encode("utf-8", "surrogatepass")
    return hashlib.sha256(tool.encode("utf-8", "surrogatepass") + b"\0" + canonical).hexdigest()


def loop_verdict(recent: Sequence[str], warning: int = 3, failure: int = 5) -> tuple[Loop, int]:
    """Judge the newest of the last calls by how often it occurs among them.

    Only the newest is looked at, so that the verdict names the call that was just made.

    Args:
        recent: The fingerprints of the last calls, oldest first.
        warning: As many equal ones warn.
        failure: As many end the attempt.
    """
    count = recent.count(recent[-1]) if recent else 0
    if count >= failure:
        return Loop.STOP, count
    return (Loop.WARN if count >= warning else Loop.NONE), count


def retry_wait_s(wait_s: float, retry_after_s: float | None, chance: float) -> float:
    """Return how long to wait before the next attempt, in seconds.

    Args:
        wait_s: The wait of the schedule.
        retry_after_s: What the provider asked for; it counts instead, up to 600 s.
        chance: A random number in [0, 1).
    """
    if retry_after_s is not None and retry_after_s >= 0:
        return min(retry_after_s, MAX_WAIT_S)
    return wait_s * (1 + JITTER * chance)


def cost_of(usage: Usage, model: ModelInfo) -> float:
    """Return what a turn cost at a model's prices, in US dollars; 0 if they are unknown.

    It is rounded to a billionth, so that sums of many turns are the same wherever they are made.
    """
    return worst_cost(usage.input_tokens, usage.output_tokens, model)


def worst_cost(input_tokens: int, output_tokens: int, model: ModelInfo) -> float:
    """Return what a turn of at most so many tokens costs at a model's prices, in US dollars."""
    cost = input_tokens * model.input_price + output_tokens * model.output_price
    return round(cost / 1_000_000, 9)


def check_budget(used: Usage, next_input: int, model: ModelInfo, limits: RunLimits) -> None:
    """Refuse a turn whose input alone would pass a cap of the run, in tokens or in money.

    Args:
        used: What the run has consumed, all at this model's price.
        next_input: What the turn would send, in tokens.
        model: Whose prices count; without prices the cap in money is not checked.
        limits: The caps.

    Raises:
        BudgetCapReached: It would.
    """
    spent = used.input_tokens + used.output_tokens
    if spent + next_input > limits.tokens:
        msg = (
            f"the run has used {spent:,} tokens and the next turn needs about {next_input:,};"
            f" its cap is {limits.tokens:,} (setting run.tokens). Raise it and resume."
        )
        raise BudgetCapReached(msg, detail={"used": spent, "cap": limits.tokens})
    price = (used.input_tokens + next_input) * model.input_price
    cost = (price + used.output_tokens * model.output_price) / 1_000_000
    if 0 < limits.cost < cost:
        msg = (
            f"with the next turn the run would cost about ${cost:.2f}; its cap is"
            f" ${limits.cost:.2f} (setting run.cost). Raise it and resume."
        )
        raise BudgetCapReached(msg, detail={"cost": cost, "cap": limits.cost})


def estimated_tokens(messages: Sequence[Message], tools: Sequence[ToolSchema] = ()) -> int:
    """Estimate what a request costs, in tokens."""
    size = sum(_size(message) for message in messages)
    size += len(msgspec.json.encode(tools)) if tools else 0
    return int(size / BYTES_A_TOKEN) + 1


def fitted(
    opening: Sequence[Message],
    chain: Sequence[Message],
    tools: Sequence[ToolSchema],
    model: ModelInfo,
    entries: Mapping[CallId, int],
) -> tuple[Message, ...]:
    """Return the messages of a request, with old results shrunk as far as the window asks for it.

    The oldest results become one line each, then the oldest large arguments; what the model saw
    last is kept whole. The same chain and window always give the same messages.

    Args:
        opening: The chain's opening messages, never shrunk.
        chain: What followed.
        tools: What is offered.
        model: Whose window it must fit into.
        entries: The tool log's number of each call, for recalling it.

    Raises:
        ContextExhausted: It does not fit even so.
    """
    room = model.context_tokens - reply_room(model)
    messages = list(chain)
    used = estimated_tokens([*opening, *messages], tools)
    newest = max((i for i, m in enumerate(messages) if m.role == "assistant"), default=0)
    for shrink in (_shrunk_result, _shrunk_arguments):
        for place in range(newest):
            if used <= room:
                return (*opening, *messages)
            smaller = shrink(messages[place], entries)
            used -= int((_size(messages[place]) - _size(smaller)) / BYTES_A_TOKEN)
            messages[place] = smaller
    if estimated_tokens([*opening, *messages], tools) > room:
        msg = (
            f"the conversation needs about {used:,} tokens and the model's window has"
            f" {model.context_tokens:,}: use a model with a larger one, or ask for less at once"
        )
        raise ContextExhausted(msg, detail={"tokens": used, "window": model.context_tokens})
    return (*opening, *messages)


def reply_room(model: ModelInfo) -> int:
    """Leave room for the reply: an eighth of the window, at most 8,192 tokens."""
    return min(8192, model.context_tokens // 8)


def _size(message: Message) -> int:
    size = len(message.text.encode("utf-8", "replace")) + 16
    return size + sum(len(call.arguments) + len(call.name) + 32 for call in message.tool_calls)


def _shrunk_result(message: Message, entries: Mapping[CallId, int]) -> Message:
    if message.role != "tool" or message.tool_call_id is None:
        return message
    entry = entries.get(message.tool_call_id)
    stub = "This earlier result was left out to save room."
    if entry is not None:
        stub += f" recall_tool_result with entry_id {entry} returns it."
    if len(stub) >= len(message.text):
        return message
    return msgspec.structs.replace(message, text=stub)


def _shrunk_arguments(message: Message, entries: Mapping[CallId, int]) -> Message:
    del entries
    calls = tuple(_without_arguments(call) for call in message.tool_calls)
    return msgspec.structs.replace(message, tool_calls=calls) if calls else message


def _without_arguments(call: ToolCall) -> ToolCall:
    if len(call.arguments) <= LARGE_ARGUMENT_BYTES:
        return call
    left_out = msgspec.json.encode({"left_out_bytes": len(call.arguments)}).decode()
    return msgspec.structs.replace(call, arguments=left_out)
