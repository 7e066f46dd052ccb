"""One turn asked of a provider: attempts, waits between them, a deadline; each attempt an event."""

import anyio
import structlog

from kbd.core.agent.bill import Bill
from kbd.core.agent.budget import retry_wait_s
from kbd.core.agent.desk import Desk
from kbd.core.agent.notices import RateLimited, TextDelta
from kbd.core.agent.replies import recorded_text
from kbd.core.domain.commands import RecordRun
from kbd.errors import (
    KbdError,
    NetworkUnavailable,
    ProviderRateLimited,
    ProviderUnavailable,
    UserCanceled,
)
from kbd.events.runs import ModelFailed
from kbd.messages import Usage
from kbd.providers import MalformedReply, ModelReply, ModelRequest, OptionRefused
from kbd.types import Phase

__all__ = ["asked"]

PARTIAL_CHARACTERS = 2000
"""How much of an answer that was cut short is recorded: enough to see what became of it."""

_log = structlog.get_logger(__name__)


async def asked(desk: Desk, model_id: str, request: ModelRequest, bill: Bill) -> ModelReply | None:
    """Make a turn, with kbd's own retries.

    Args:
        desk: The run's.
        model_id: The model.
        request: The turn; its ModelRequested is recorded.
        bill: Takes what each attempt consumed.

    Returns:
        The reply; None if the server refused an option that it had not refused before, which is
        recorded: the turn is to be asked for without it.

    Raises:
        ProviderRateLimited: The last attempt was refused with 429.
        MalformedReply: The last attempt made no sense.
        ProviderUnavailable: The last attempt failed otherwise.
        KbdError: What no retry helps against.
    """
    for retry, wait_s in enumerate((*desk.limits.retry_s, None), 1):
        heard = _Heard(bill)
        try:
            return await _attempt(desk, model_id, request, heard)
        except (ProviderRateLimited, ProviderUnavailable, NetworkUnavailable) as error:
            if wait_s is None:
                await _record(desk, error, heard)
                raise _exhausted(error, retry) from None
            await _wait(desk, model_id, request.phase, error, heard, retry, wait_s)
        except OptionRefused as refused:
            is_known = refused.option in request.without
            await _record(desk, refused, heard, option="" if is_known else refused.option)
            if is_known:
                raise
            return None
        except UserCanceled:
            raise
        except KbdError as error:
            await _record(desk, error, heard)
            raise
        except Exception as fault:  # noqa: BLE001 - a plugin's fault is told, not passed on
            _log.warning("provider_failed", model=model_id, exc_info=fault)
            broken = ProviderUnavailable(f"the provider failed inside ({type(fault).__name__})")
            await _record(desk, broken, heard)
            raise broken from None
    raise AssertionError  # The last round returns or raises.


async def _attempt(desk: Desk, model_id: str, request: ModelRequest, heard: "_Heard") -> ModelReply:
    """Make one attempt; a server that trickles for ever ends with the turn's time.

    Raises:
        ProviderUnavailable: The time is up.
        KbdError: As the provider raises.
    """
    message_id = desk.answer_id

    def emit(piece: str) -> None:
        heard.take(piece)
        desk.announce(TextDelta(desk.run, request.phase, message_id, piece))

    try:
        with anyio.move_on_after(desk.limits.turn_s):
            reply = await desk.complete(model_id, request, emit)
            heard.bill.add(reply.usage)
            return reply
    except BaseException:
        heard.break_off()  # Also when the run is cancelled: what came was paid for.
        raise
    heard.break_off()
    msg = f"the answer was not complete after {desk.limits.turn_s:g} s (setting run.turn_s)"
    raise ProviderUnavailable(msg)


class _Heard:
    """The beginning of what came of an answer, for the record if it is cut short."""

    def __init__(self, bill: Bill) -> None:
        self.bill = bill
        self.text, self.characters = "", 0
        self.usage, self.cost = Usage(), 0.0

    def take(self, piece: str) -> None:
        self.characters += len(piece)
        if len(self.text) < PARTIAL_CHARACTERS:
            self.text += piece[: PARTIAL_CHARACTERS - len(self.text)]

    def break_off(self) -> None:
        """Note that no more will come: what an answer that had begun is likely to cost."""
        if self.characters:
            self.usage = self.bill.of_broken_off(self.characters)
            self.cost = self.bill.add(self.usage)


async def _wait(
    desk: Desk, model_id: str, phase: Phase, error: KbdError, heard: _Heard,
    retry: int, wait_s: float,
) -> None:  # fmt: skip
    """Record a failed attempt, tell of it, and wait for the next one."""
    asked_s = error.retry_after_s if isinstance(error, _NAMES_A_WAIT) else None
    pause_s = retry_wait_s(wait_s, asked_s, desk.chance())
    wait_ms = int(pause_s * 1000)
    await _record(desk, error, heard, retry=retry, wait_ms=wait_ms)
    most = len(desk.limits.retry_s)
    desk.announce(RateLimited(desk.run, phase, model_id, retry, most, wait_ms, error.message))
    await desk.sleep(pause_s)


_NAMES_A_WAIT = (ProviderRateLimited, ProviderUnavailable)


def _exhausted(error: KbdError, attempts: int) -> KbdError:
    """Say that retrying did not help; a refused connection is then the provider's absence."""
    text = f"{error.message} (tried {attempts} times)"
    match error:
        case ProviderRateLimited():
            return ProviderRateLimited(text)
        case MalformedReply():
            return MalformedReply(text)
        case _:
            return ProviderUnavailable(text)


async def _record(
    desk: Desk,
    error: KbdError,
    heard: _Heard,
    *,
    retry: int = 0,
    wait_ms: int = 0,
    option: str = "",
) -> None:
    partial = recorded_text(heard.text)
    fact = ModelFailed(
        error.code, error.message, retry, wait_ms, option, partial, heard.usage, heard.cost
    )
    await desk.keeper.submit(RecordRun(desk.run, (fact,)))
