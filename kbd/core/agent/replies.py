"""A model's reply as it is recorded: ids made unique, arguments valid or set aside.

What goes back to a model must be well-formed: providers refuse a conversation that holds a call
with broken JSON. So ill-formed arguments are kept as a blob, named with their fault, and sent back
as "{}".
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

import msgspec

from kbd.core.workbench.blobs import Blobs
from kbd.events.base import ReplyCall
from kbd.messages import ToolCall
from kbd.types import CallId

__all__ = ["MAX_ARGUMENT_BYTES", "MAX_TEXT_CHARS", "recorded_calls", "recorded_text"]

MAX_ARGUMENT_BYTES = 8 * 1024 * 1024
"""Arguments beyond this are not even kept: no file of office work is written in one call of it."""

MAX_INLINE_BYTES = 64 * 1024
MAX_TEXT_CHARS = 1_000_000
MAX_NAME_CHARS = 120
MAX_ID_CHARS = 120
MAX_FAULT_CHARS = 1000


def recorded_text(text: str) -> str:
    """Return a reply's text as it is recorded: no lone surrogates, at most a million characters."""
    return _clean(text)[:MAX_TEXT_CHARS]


async def recorded_calls(
    calls: Sequence[ToolCall], taken: AbstractSet[CallId], blobs: Blobs
) -> tuple[ReplyCall, ...]:
    """Return a reply's calls as they are recorded.

    Args:
        calls: What the model wrote.
        taken: The ids that calls of this run have already.
        blobs: Where arguments are kept that are long or ill-formed.
    """
    fresh: set[CallId] = set()
    kept: list[ReplyCall] = []
    for call in calls:
        call_id = _unique(call.id, taken, fresh)
        fresh.add(call_id)
        name = _clean(call.name)[:MAX_NAME_CHARS]
        told = _clean(call.fault)[:MAX_FAULT_CHARS]
        kept.append(await _kept(call_id, name, call.arguments or "{}", told, blobs))
    return tuple(kept)


async def _kept(call_id: CallId, name: str, arguments: str, told: str, blobs: Blobs) -> ReplyCall:
    """Keep one call; `told` is what its provider found wrong with it."""
    data = arguments.encode("utf-8", "replace")
    if len(data) > MAX_ARGUMENT_BYTES:
        large = f"the arguments have {len(data):,} bytes; at most {MAX_ARGUMENT_BYTES:,} are taken"
        return ReplyCall(call_id, name, "{}", fault=large)
    fault = told or _fault(data)
    if fault is not None:
        return ReplyCall(call_id, name, "{}", blob=await blobs.put(data), fault=fault)
    if len(data) > MAX_INLINE_BYTES:
        return ReplyCall(call_id, name, "", blob=await blobs.put(data))
    return ReplyCall(call_id, name, data.decode())


def _fault(data: bytes) -> str | None:
    """Say what is wrong with arguments, or None."""
    try:
        value = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError) as fault:
        return f"the arguments are not valid JSON: {fault}"
    return None if isinstance(value, dict) else "the arguments are not a JSON object"


def _unique(wanted: str, taken: AbstractSet[CallId], fresh: AbstractSet[CallId]) -> CallId:
    """Return an id that no call has yet: the one wanted, or that with a number.

    The number begins with how many calls there were: some servers call every call the same, and
    the thousandth must not look through all before it.
    """
    base = _clean(wanted)[:MAX_ID_CHARS] or "call"
    found, number = CallId(base), len(taken) + len(fresh)
    while found in taken or found in fresh:
        number += 1
        found = CallId(f"{base}-{number}")
    return found


def _clean(text: str) -> str:
    """Replace lone surrogates, which no file can hold."""
    return text.encode("utf-8", "replace").decode()
