"""One chain: ask the model, run the calls it asks for, until it answers with text.

Everything is read from the state that the log gives, so a chain that a crash cut off goes on where
it was: results that are recorded are used, open calls run, an open request is asked again.
"""

from collections.abc import Awaitable, Callable

import msgspec
import structlog

from kbd.core.agent.budget import (
    Loop,
    check_budget,
    estimated_tokens,
    fitted,
    loop_verdict,
    retry_wait_s,
)
from kbd.core.agent.conversation import chain_messages, entries_of
from kbd.core.agent.desk import Desk
from kbd.core.agent.notices import RateLimited, TextDelta
from kbd.core.agent.phases import PHASES
from kbd.core.agent.replies import recorded_calls, recorded_text
from kbd.core.agent.toolbox import answer, refuse_surplus
from kbd.core.decisions import RecordRun
from kbd.core.state import Chain, Turn
from kbd.errors import (
    AgentLoopDetected,
    KbdError,
    NetworkUnavailable,
    ProviderRateLimited,
    ProviderUnavailable,
    TurnLimit,
    UserCanceled,
    ValidationFailed,
)
from kbd.events.runs import ModelFailed, ModelReplied, ModelRequested
from kbd.events.vocabulary import Event
from kbd.messages import Message
from kbd.providers import ModelReply, ModelRequest
from kbd.types import BlobHash, Phase

__all__ = ["EmptyReply", "Objection", "Opening", "Talk", "converse", "takes_any"]

_log = structlog.get_logger(__name__)


Opening = Callable[[], Awaitable[tuple[Message, ...]]]
"""Builds the opening messages of a chain; called once a chain."""

Objection = Callable[[str], str | None]
"""Says why a final text cannot be used, or None."""


class EmptyReply(ProviderUnavailable):
    """The model answered with neither text nor a call: the attempt fails, not the run."""


class Talk(msgspec.Struct, frozen=True):
    """What a chain is for.

    Args:
        phase: Its phase.
        limit: Its turns.
        opening: Builds its opening messages.
        objection: Judges its final text; one that cannot be used is asked for once more.
    """

    phase: Phase
    limit: int
    opening: Opening
    objection: Objection


def takes_any(text: str) -> str | None:
    """Object to no text."""
    del text
    return None


async def converse(desk: Desk, talk: Talk) -> str:
    """Go on with the open chain until it ends in a usable text, and return that.

    Raises:
        TurnLimit: The turns are used up without a text.
        AgentLoopDetected: The model repeats one call.
        ContextExhausted: The chain does not fit into the model's window.
        EmptyReply: The model said nothing.
        ValidationFailed: The text cannot be used, twice; or the provider refused the request.
        KbdError: What ends the run: see `kbd.core.agent.run`.
    """
    while True:
        chain = desk.current.chain
        _check_loop(desk, chain)
        if not chain.turns:
            await _ask(desk, talk)
            continue
        newest = chain.turns[-1]
        if newest.calls and len(chain.turns) < talk.limit:
            if newest.open_calls():
                await _answer_next(desk, talk.phase, newest)
                continue
        else:
            text = _conclusion(talk, chain)
            if text is not None:
                return text
        await _ask(desk, talk)


async def _answer_next(desk: Desk, phase: Phase, turn: Turn) -> None:
    """Run the first call that is open; those beyond the limit of a turn are refused together."""
    call, *_ = remaining = turn.open_calls()
    if turn.calls.index(call) < desk.limits.calls_a_turn:
        await answer(desk, phase, call)
    else:
        await refuse_surplus(desk, remaining)


def _check_loop(desk: Desk, chain: Chain) -> None:
    limits = desk.limits
    recent = chain.fingerprints[-limits.loop_window :]
    verdict, count = loop_verdict(recent, limits.loop_warning, limits.loop_failure)
    if verdict is Loop.STOP:
        msg = f"the model made the same call {count} times in its last {len(recent)}"
        raise AgentLoopDetected(msg)


def _conclusion(talk: Talk, chain: Chain) -> str | None:
    """Return the text that a chain ended in, or None if it is asked for once more."""
    text = chain.turns[-1].text.strip()
    if not text:
        if len(chain.turns) >= talk.limit:
            msg = f"the {talk.phase.value} phase used up its {talk.limit} turns without an answer"
            raise TurnLimit(msg)
        msg = "the model's reply was empty"
        raise EmptyReply(msg)
    reason = talk.objection(text)
    if reason is None:
        return text
    earlier = enumerate(chain.turns[:-1], 1)
    if any(not turn.calls or place >= talk.limit for place, turn in earlier):
        raise ValidationFailed(reason)
    return None


async def _ask(desk: Desk, talk: Talk) -> None:
    """Ask for the next turn and record the reply."""
    chain = desk.current.chain
    number = len(chain.turns) + 1
    opening_blob, opening = await _opening(desk, talk, chain.opening)
    rules = PHASES[talk.phase]
    offered = desk.catalog.tools_for(talk.phase) if number < talk.limit else ()
    schemas = tuple(entry.schema for entry in offered)
    choice = "none" if not schemas else rules.first_choice if number == 1 else "auto"
    run = desk.current
    after = chain_messages(run.chain, talk.objection)
    model = desk.model(run.model_id)
    messages = fitted(opening, after, schemas, model, entries_of(run.chain))
    check_budget(run.usage, estimated_tokens(messages, schemas), model, desk.limits)
    names = tuple(schema.name for schema in schemas)
    await _record(desk, ModelRequested(run.model_id, number, opening_blob, choice, names))
    request = ModelRequest(
        model=run.model_id.partition(":")[2] or run.model_id,
        messages=messages,
        tools=schemas,
        tool_choice=choice,
        phase=talk.phase,
    )
    reply = await _attempted(desk, run.model_id, request)
    calls = await recorded_calls(reply.tool_calls, desk.current.call_ids, desk.blobs)
    text = recorded_text(reply.text)
    finish, estimate = reply.finish_reason, reply.usage_is_estimate
    await _record(desk, ModelReplied(text, calls, finish, reply.usage, estimate))


async def _opening(
    desk: Desk, talk: Talk, known: BlobHash | None
) -> tuple[BlobHash, tuple[Message, ...]]:
    """Return the chain's opening messages as they were first sent, or build and keep them."""
    if known is not None:
        kept = await desk.blobs.read(known)
        return known, msgspec.json.decode(kept, type=tuple[Message, ...])
    built = await talk.opening()
    return await desk.blobs.put(msgspec.json.encode(built)), built


async def _attempted(desk: Desk, model_id: str, request: ModelRequest) -> ModelReply:
    """Make a turn, with kbd's own retries, each of which is an event.

    Raises:
        ProviderRateLimited: The last attempt was refused with 429.
        ProviderUnavailable: The last attempt failed otherwise.
        KbdError: What no retry helps against.
    """
    message_id, waits = desk.answer_id, desk.limits.retry_s

    def emit(piece: str) -> None:
        desk.announce(TextDelta(desk.run, request.phase, message_id, piece))

    for retry, wait_s in enumerate((*waits, None), 1):
        try:
            return await desk.complete(model_id, request, emit)
        except (ProviderRateLimited, ProviderUnavailable, NetworkUnavailable) as error:
            if wait_s is None:
                await _record(desk, ModelFailed(error.code, error.message))
                raise _exhausted(error, retry) from None
            asked = None if isinstance(error, NetworkUnavailable) else error.retry_after_s
            await _wait(desk, model_id, request.phase, error, retry, wait_s, asked)
        except UserCanceled:
            raise
        except KbdError as error:
            await _record(desk, ModelFailed(error.code, error.message))
            raise
        except Exception as fault:  # noqa: BLE001 - a plugin's fault is told, not passed on
            _log.warning("provider_failed", model=model_id, exc_info=fault)
            broken = ProviderUnavailable(f"the provider failed inside ({type(fault).__name__})")
            await _record(desk, ModelFailed(broken.code, broken.message))
            raise broken from None
    raise AssertionError  # The last round returns or raises.


async def _wait(
    desk: Desk, model_id: str, phase: Phase, error: KbdError, retry: int,
    wait_s: float, asked_s: float | None,
) -> None:  # fmt: skip
    """Record a failed attempt, tell of it, and wait for the next one."""
    pause_s = retry_wait_s(wait_s, asked_s, desk.chance())
    wait_ms = int(pause_s * 1000)
    await _record(desk, ModelFailed(error.code, error.message, retry, wait_ms))
    most = len(desk.limits.retry_s)
    desk.announce(RateLimited(desk.run, phase, model_id, retry, most, wait_ms, error.message))
    await desk.sleep(pause_s)


def _exhausted(error: KbdError, attempts: int) -> KbdError:
    """Say that retrying did not help; a refused connection is then the provider's absence."""
    text = f"{error.message} (tried {attempts} times)"
    if isinstance(error, ProviderRateLimited):
        return ProviderRateLimited(text)
    return ProviderUnavailable(text)


async def _record(desk: Desk, fact: Event) -> None:
    await desk.keeper.submit(RecordRun(desk.run, (fact,)))
