"""Turns: retries, faults, limits, budget."""

import msgspec
import pytest

from agent_rig import Opened, call, said, say, two_items
from kbd.core.agent import RateLimited
from kbd.core.domain.run_state import RunStatus
from kbd.core.runtime.settings import RunLimits
from kbd.errors import (
    EgressConsentRequired,
    KbdError,
    NetworkUnavailable,
    ProviderAuthFailed,
    ProviderRateLimited,
    ProviderUnavailable,
    ValidationFailed,
)
from kbd.events.runs import ItemFailed, ModelFailed
from kbd.messages import Usage
from kbd.providers import ModelReply, ModelRequest
from kbd.types import Phase

pytestmark = pytest.mark.anyio

SCHEDULE = [10.0, 20.0, 40.0, 80.0, 160.0]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ProviderRateLimited("slow down"), "PROVIDER_RATE_LIMITED"),
        (ProviderUnavailable("down"), "PROVIDER_UNAVAILABLE"),
        (NetworkUnavailable("no route"), "PROVIDER_UNAVAILABLE"),
    ],
)
async def test_transient_failures_are_retried_on_the_schedule(
    opened: Opened, error: KbdError, code: str
) -> None:
    """Five waits, each recorded and announced; then the run ends, items open, resumable."""

    def play(request: ModelRequest) -> ModelReply:
        if request.phase is Phase.IMPLEMENT:
            raise error
        return two_items(request)

    async with opened(play) as rig:
        run = await rig.go()

        assert rig.slept == SCHEDULE
        assert run.error is not None
        assert (run.error.code, run.error.subphase) == (code, "rpi_implement")
        assert run.error.retryable
        failed = [e for e in rig.events() if isinstance(e, ModelFailed)]
        assert [e.retry_attempt for e in failed] == [1, 2, 3, 4, 5, 0]
        told = [(n.retry_attempt, n.wait_ms) for n in rig.notices if isinstance(n, RateLimited)]
        assert told == list(zip(range(1, 6), [10000, 20000, 40000, 80000, 160000], strict=True))
        assert run.plan is not None
        assert {item.state for item in run.plan.items} == {"open"}
        assert run.summary is None
        rig.play = two_items
        assert (await rig.go()).status is RunStatus.FINISHED


async def test_what_the_provider_asks_for_is_honoured(opened: Opened) -> None:
    """Retry-After counts instead of the schedule, and the turn then succeeds."""
    errors: list[KbdError] = [ProviderRateLimited("wait", retry_after_s=3.0)]

    def play(request: ModelRequest) -> ModelReply:
        if errors:
            raise errors.pop()
        return two_items(request)

    async with opened(play) as rig:
        assert (await rig.go()).status is RunStatus.FINISHED
        assert rig.slept == [3.0]


@pytest.mark.parametrize(
    "error",
    [ProviderAuthFailed("bad key"), EgressConsentRequired("ask first"), KeyError("a bug")],
    ids=["key", "consent", "bug"],
)
async def test_what_no_retry_helps_against_ends_the_run(opened: Opened, error: Exception) -> None:
    """It ends at once, in words without the inside, and resumes when the cause is gone."""

    def play(request: ModelRequest) -> ModelReply:
        if request.phase is Phase.RESEARCH:
            raise error
        return two_items(request)

    async with opened(play) as rig:
        run = await rig.go()

        assert rig.slept == []
        assert run.error is not None
        expected = error.code if isinstance(error, KbdError) else "PROVIDER_UNAVAILABLE"
        assert (run.error.code, run.error.subphase) == (expected, "rpi_research")
        assert "a bug" not in run.error.message
        rig.play = two_items
        assert (await rig.go()).status is RunStatus.FINISHED


async def test_a_refused_request_fails_the_item_only(opened: Opened) -> None:
    """A 4xx is about one conversation: the item fails, the run goes on."""

    def play(request: ModelRequest) -> ModelReply:
        if request.phase is Phase.IMPLEMENT and 'number="1"' in request.messages[1].text:
            raise ValidationFailed("400: that is no request")
        return two_items(request)

    async with opened(play) as rig:
        run = await rig.go()

        assert run.status is RunStatus.FINISHED
        failed = [e for e in rig.events() if isinstance(e, ItemFailed)]
        assert [(e.item, e.code) for e in failed] == [(1, "VALIDATION_FAILED")]


async def test_the_token_cap_ends_the_run_before_it_is_passed(opened: Opened) -> None:
    """Nothing is asked beyond the cap; with a higher one the run goes on where it was."""

    def play(request: ModelRequest) -> ModelReply:
        return msgspec.structs.replace(two_items(request), usage=Usage(90_000, 10_000))

    async with opened(play, limits=RunLimits(tokens=250_000)) as rig:
        run = await rig.go()

        assert run.error is not None
        assert run.error.code == "BUDGET_CAP_REACHED"
        assert run.usage == Usage(270_000, 30_000)
        assert len(rig.requests) == 3
        rig.limits = RunLimits()
        assert (await rig.go()).status is RunStatus.FINISHED
        assert rig.made.count("write 1.txt") == 1


async def test_a_small_window_shrinks_old_results_first(opened: Opened) -> None:
    """Old receipts become stubs that name their entry; the chain goes on."""

    def play(request: ModelRequest) -> ModelReply:
        if request.phase is Phase.RESEARCH and said(request) < 12:
            return call("rows", rows=1000 + said(request))
        return two_items(request)

    async with opened(play, window=6_000) as rig:
        run = await rig.go()

        assert run.status is RunStatus.FINISHED
        last = next(r for r in reversed(rig.requests) if r.phase is Phase.RESEARCH)
        assert "recall_tool_result with entry_id 1 returns it" in last.messages[3].text
        assert "receipt" in last.messages[-1].text


async def test_a_window_that_is_too_small_says_so(opened: Opened) -> None:
    """It is an error with a name, not a cut conversation."""
    async with opened(two_items, window=500) as rig:
        run = await rig.go()

        assert run.error is not None
        assert run.error.code == "CONTEXT_EXHAUSTED"
        assert rig.requests == []


async def test_an_empty_summary_fails_and_is_made_on_resume(opened: Opened) -> None:
    """Only the summary is asked for again."""

    def play(request: ModelRequest) -> ModelReply:
        return say(" ") if request.phase is Phase.SUMMARY else two_items(request)

    async with opened(play) as rig:
        run = await rig.go()
        assert run.error is not None
        assert (run.error.code, run.error.subphase) == ("TURN_LIMIT", "rpi_summary")
        asked = len(rig.requests)

        rig.play = two_items
        assert (await rig.go()).status is RunStatus.FINISHED
        assert len(rig.requests) == asked + 1
