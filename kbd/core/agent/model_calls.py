"""Model calls with a retry policy: attempts, waits, a deadline; each attempt is an event.

Usage and cost of a turn are summed over all its attempts, at its model's prices.

A reply is recorded with unique call ids, and its arguments are valid or set aside: providers refuse
a conversation that holds a call with broken JSON, so ill-formed arguments are kept as a blob, named
with their fault, and sent back as "{}".
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

import anyio
import msgspec

from kbd.core.agent.budget import cost_of, retry_wait_s, worst_cost
from kbd.core.agent.context_window import reply_tokens
from kbd.core.agent.deltas import MAX_TEXT_CHARS, TextDeltas
from kbd.core.agent.run_context import RateLimited, RunContext, TextDelta
from kbd.core.domain.commands import RecordRun
from kbd.core.plugins.guards import ProviderBroken
from kbd.core.runtime.diagnostics import get_logger
from kbd.core.workbench.file_store import Blobs
from kbd.errors import (
    KbdError,
    NetworkUnavailable,
    ProviderRateLimited,
    ProviderUnavailable,
    UserCanceled,
)
from kbd.events.base import ReplyCall
from kbd.events.runs import ModelFailed
from kbd.messages import ToolCall, Usage
from kbd.providers import MalformedReply, ModelInfo, ModelReply, ModelRequest, OptionRefused
from kbd.types import CallId, Phase

__all__ = [
    "MAX_ARGUMENT_BYTES",
    "TurnUsage",
    "call_model",
    "recorded_calls",
    "recorded_text",
]


class TurnUsage:
    """Usage and cost of a turn, summed over its attempts.

    Args:
        model: Whose prices count.
        input_tokens: What the turn sends, as estimated.

    Attributes:
        tokens: What was consumed so far, input and reply together.
        cost: The same in US dollars.
    """

    def __init__(self, model: ModelInfo, input_tokens: int) -> None:
        self._model, self._input_tokens = model, input_tokens
        self.tokens, self.cost = 0, 0.0

    @property
    def max_tokens(self) -> int:
        """Tokens that the turn is likely to consume at most."""
        return self._input_tokens + reply_tokens(self._model)

    @property
    def max_cost(self) -> float:
        """The same in US dollars."""
        return worst_cost(self._input_tokens, reply_tokens(self._model), self._model)

    def add(self, usage: Usage) -> float:
        """Add the usage of an attempt, and return its cost in US dollars."""
        cost = cost_of(usage, self._model)
        self.tokens += usage.input_tokens + usage.output_tokens
        self.cost += cost
        return cost

    def estimate_partial(self, size_bytes: int) -> Usage:
        """Estimate the usage of an answer that broke off after so many bytes."""
        return Usage(self._input_tokens, int(size_bytes / self._model.bytes_per_token) + 1)


MAX_ARGUMENT_BYTES = 8 * 1024 * 1024
"""Arguments beyond this are not even kept: no file of office work is written in one call of it."""

MAX_INLINE_BYTES = 64 * 1024

MAX_INLINE_REPLY_BYTES = 256 * 1024
"""Of all arguments of one reply; those of further calls are kept beside its event, not in it."""

MAX_NAME_CHARS = 120
MAX_ID_CHARS = 120
MAX_FAULT_CHARS = 1000


NO_ARGUMENTS = "{}"


def recorded_text(text: str) -> str:
    """Return a reply's text as it is recorded: no lone surrogates, at most a million characters."""
    return _replace_surrogates(text)[:MAX_TEXT_CHARS]


async def recorded_calls(
    calls: Sequence[ToolCall], used_ids: AbstractSet[CallId], blobs: Blobs
) -> tuple[ReplyCall, ...]:
    """Return a reply's calls as they are recorded.

    Args:
        calls: What the model wrote.
        used_ids: The ids that calls of this run have already.
        blobs: Where arguments are kept that are long or ill-formed.
    """
    new_ids: set[CallId] = set()
    recorded: list[ReplyCall] = []
    inline_bytes = 0
    for call in calls:
        call_id = _unique_id(call.id, used_ids, new_ids)
        new_ids.add(call_id)
        name = _replace_surrogates(call.name)[:MAX_NAME_CHARS]
        fault = _replace_surrogates(call.fault)[:MAX_FAULT_CHARS]
        # Some servers send an empty text for a call without arguments.
        room = min(MAX_INLINE_BYTES, MAX_INLINE_REPLY_BYTES - inline_bytes)
        kept = await _recorded_call(
            call_id, name, call.arguments or NO_ARGUMENTS, fault, blobs, room
        )
        inline_bytes += len(kept.arguments)
        recorded.append(kept)
    return tuple(recorded)


async def _recorded_call(
    call_id: CallId, name: str, arguments: str, provider_fault: str, blobs: Blobs, room: int
) -> ReplyCall:
    """Return one call as it is recorded.

    Args:
        call_id: Its id.
        name: Its tool.
        arguments: What the model wrote.
        provider_fault: The fault that its provider found, if any.
        blobs: Where arguments are kept that are long or ill-formed.
        room: Longer ones are kept there; those of most calls without arguments are not.
    """
    data = arguments.encode("utf-8", "replace")
    if len(data) > MAX_ARGUMENT_BYTES:
        large = f"the arguments have {len(data):,} bytes; at most {MAX_ARGUMENT_BYTES:,} are taken"
        return ReplyCall(call_id, name, "{}", fault=large)
    fault = provider_fault or _argument_fault(data)
    if fault is not None:
        # Not sent back: some servers answer 500 for ever to a history with broken arguments.
        return ReplyCall(call_id, name, "{}", blob=await blobs.put(data), fault=fault)
    if len(data) > max(room, len(NO_ARGUMENTS)):
        return ReplyCall(call_id, name, "", blob=await blobs.put(data))
    return ReplyCall(call_id, name, data.decode())


def _argument_fault(data: bytes) -> str | None:
    """Return the fault of ill-formed arguments, or None."""
    try:
        value = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError) as fault:
        return f"the arguments are not valid JSON: {fault}"
    return None if isinstance(value, dict) else "the arguments are not a JSON object"


def _unique_id(
    requested: str, used_ids: AbstractSet[CallId], new_ids: AbstractSet[CallId]
) -> CallId:
    """Return an id that no call has yet: the one wanted, or that with a number.

    The number begins with how many calls there were: some servers call every call the same, and
    the thousandth must not look through all before it.
    """
    base = _replace_surrogates(requested)[:MAX_ID_CHARS] or "call"
    found, number = CallId(base), len(used_ids) + len(new_ids)
    while found in used_ids or found in new_ids:
        number += 1
        found = CallId(f"{base}-{number}")
    return found


def _replace_surrogates(text: str) -> str:
    """Replace lone surrogates, which no file can hold."""
    return text.encode("utf-8", "replace").decode()


PARTIAL_CHARACTERS = 2000
"""How much of an interrupted answer is recorded: enough to see what it was about."""

_log = get_logger(__name__)


async def call_model(
    context: RunContext, model_id: str, request: ModelRequest, usage: TurnUsage
) -> ModelReply | None:
    """Request a turn from a model, with kbd's own retries.

    Args:
        context: The run's.
        model_id: The model.
        request: The turn; its ModelRequested is recorded.
        usage: Takes what each attempt consumed.

    Returns:
        The reply; None if the server refused an option that it had not refused before, which is
        recorded: the turn is to be asked for without it.

    Raises:
        ProviderRateLimited: The last attempt was refused with 429.
        MalformedReply: The last attempt made no sense.
        ProviderUnavailable: The last attempt failed otherwise.
        KbdError: What no retry helps against.
    """
    # No retry library: each failed attempt is an event with its wait, durable before the wait
    # begins, and what is tried again depends on kbd's own errors.
    for retry, wait_s in enumerate((*context.limits.retry_s, None), 1):
        partial = _PartialReply(usage)
        try:
            return await _attempt(context, model_id, request, partial)
        except ProviderBroken as error:
            await _record_attempt(context, error, partial)
            raise
        # MalformedReply is a ProviderUnavailable: a reply that makes no sense is asked for again.
        except (ProviderRateLimited, ProviderUnavailable, NetworkUnavailable) as error:
            if wait_s is None:
                await _record_attempt(context, error, partial)
                raise _retries_exhausted(error, retry) from None
            await _wait_to_retry(context, model_id, request.phase, error, partial, retry, wait_s)
        except OptionRefused as refused:
            # What was left out already is not what the server minds: to ask again would never end.
            is_known = refused.option in request.without
            await _record_attempt(
                context, refused, partial, option="" if is_known else refused.option
            )
            if is_known:
                raise
            return None
        # A run that was asked to stop records nothing more of its own.
        except UserCanceled:
            raise
        except KbdError as error:
            await _record_attempt(context, error, partial)
            raise
        except Exception as fault:  # noqa: BLE001 - a plugin's fault is told, not passed on
            _log.warning("provider_failed", model=model_id, exc_info=fault)
            broken = ProviderUnavailable(f"the provider failed inside ({type(fault).__name__})")
            await _record_attempt(context, broken, partial)
            raise broken from None
    raise AssertionError  # The last round returns or raises.


async def _attempt(
    context: RunContext, model_id: str, request: ModelRequest, partial: "_PartialReply"
) -> ModelReply:
    """Make one attempt; a server that trickles for ever ends with the turn's time.

    Raises:
        ProviderUnavailable: The time is up.
        EgressConsentRequired: A person declined, or did not agree in time.
        KbdError: As the provider raises.
    """
    message_id = context.answer_id

    def announce(piece: str) -> None:
        context.announce(TextDelta(context.run, request.phase, message_id, piece))

    deltas = TextDeltas(announce, context.clock)

    def emit(piece: str) -> None:
        partial.append(piece)
        deltas.append(piece)

    # Before the turn's time begins: how long a person thinks is no fault of the server's.
    await context.permit(model_id)
    try:
        # The client's own limit is one for each read: an endless trickle never reaches it.
        reply: ModelReply | None = None
        with anyio.move_on_after(context.limits.turn_s):
            reply = await context.complete(model_id, request, emit)
            partial.turn_usage.add(reply.usage)
    except BaseException:
        partial.interrupt()  # Also when the run is canceled: what came was paid for.
        raise
    if reply is not None:
        # Outside of the turn's time, which is the server's.
        await deltas.finish()
        return reply
    partial.interrupt()
    msg = f"the answer was not complete after {context.limits.turn_s:g} s (setting run.turn_s)"
    raise ProviderUnavailable(msg)


class _PartialReply:
    """The part of a reply that has come so far, for the record if it is cut short."""

    def __init__(self, turn_usage: TurnUsage) -> None:
        self.turn_usage = turn_usage
        self.text, self.size_bytes = "", 0
        self.usage, self.cost = Usage(), 0.0

    def append(self, piece: str) -> None:
        # Pieces come as a server cut them, and one may be half a surrogate pair.
        self.size_bytes += len(piece.encode(errors="surrogatepass"))
        if len(self.text) < PARTIAL_CHARACTERS:
            self.text += piece[: PARTIAL_CHARACTERS - len(self.text)]

    def interrupt(self) -> None:
        """Add the likely cost of an interrupted reply to the turn's usage."""
        if self.size_bytes:
            self.usage = self.turn_usage.estimate_partial(self.size_bytes)
            self.cost = self.turn_usage.add(self.usage)


async def _wait_to_retry(
    context: RunContext, model_id: str, phase: Phase, error: KbdError, partial: _PartialReply,
    retry: int, wait_s: float,
) -> None:  # fmt: skip
    """Record a failed attempt, announce the wait, and wait for the next one."""
    retry_after_s = error.retry_after_s if isinstance(error, _WITH_RETRY_AFTER) else None
    pause_s = retry_wait_s(wait_s, retry_after_s, context.chance())
    wait_ms = int(pause_s * 1000)
    await _record_attempt(context, error, partial, retry=retry, wait_ms=wait_ms)
    max_retries = len(context.limits.retry_s)
    context.announce(
        RateLimited(context.run, phase, model_id, retry, max_retries, wait_ms, error.message)
    )
    await context.sleep(pause_s)


_WITH_RETRY_AFTER = (ProviderRateLimited, ProviderUnavailable)


def _retries_exhausted(error: KbdError, attempts: int) -> KbdError:
    """Return the error after the last retry; a refused connection is then `ProviderUnavailable`."""
    text = f"{error.message} (tried {attempts} times)"
    match error:
        case ProviderRateLimited():
            return ProviderRateLimited(text)
        case MalformedReply():
            return MalformedReply(text)
        case _:
            return ProviderUnavailable(text)


async def _record_attempt(
    context: RunContext,
    error: KbdError,
    partial: _PartialReply,
    *,
    retry: int = 0,
    wait_ms: int = 0,
    option: str = "",
) -> None:
    text = recorded_text(partial.text)
    fact = ModelFailed(
        error.code, error.message, retry, wait_ms, option, text, partial.usage, partial.cost
    )
    await context.commands.submit(RecordRun(context.run, (fact,)))
