"""Loops, waits, tokens and money."""

import pytest

from kbd.core.agent.budget import (
    LoopVerdict,
    call_fingerprint,
    check_budget,
    cost_of,
    loop_verdict,
    retry_wait_s,
    worst_cost,
)
from kbd.core.runtime.settings import RunLimits
from kbd.errors import BudgetCapReached
from kbd.messages import Usage
from kbd.providers import ModelInfo


def test_equal_calls_have_equal_fingerprints() -> None:
    """The order of keys and blanks do not matter; tool and content do."""
    one = call_fingerprint("t", '{"a": 1, "b": {"d": 2, "c": 3}}')

    assert call_fingerprint("t", '{"b":{"c":3,"d":2},"a":1}') == one
    assert call_fingerprint("u", '{"a": 1, "b": {"d": 2, "c": 3}}') != one
    assert call_fingerprint("t", '{"a": 2, "b": {"d": 2, "c": 3}}') != one
    assert call_fingerprint("t", "not json") != call_fingerprint("t", "not jso")


def test_a_sweep_of_chunks_is_no_loop() -> None:
    """Successive ranges differ in content, however alike they look."""
    marks = [call_fingerprint("set_range", f'{{"sheet": "A", "start": "A{n}"}}') for n in range(10)]

    assert loop_verdict(marks) == (LoopVerdict.NONE, 1)


@pytest.mark.parametrize(
    ("recent", "verdict"),
    [
        ([], LoopVerdict.NONE),
        (["a", "a"], LoopVerdict.NONE),
        (["a", "b", "a", "a"], LoopVerdict.WARN),
        (["a", "a", "a", "b"], LoopVerdict.NONE),
        (["a"] * 4, LoopVerdict.WARN),
        (["a"] * 5, LoopVerdict.STOP),
    ],
)
def test_the_newest_call_is_judged(recent: list[str], verdict: LoopVerdict) -> None:
    """Three equal ones warn and five stop; only the newest call is looked at."""
    assert loop_verdict(recent)[0] is verdict


def test_waits_follow_the_schedule_or_the_provider() -> None:
    """Never earlier than scheduled; what the provider asks for counts, up to ten minutes."""
    assert retry_wait_s(10, None, 0.0) == 10
    assert retry_wait_s(10, None, 0.999) < 11
    assert retry_wait_s(10, 3.0, 0.5) == 3
    assert retry_wait_s(10, 100_000.0, 0.5) == 600


def test_the_token_cap_is_checked_before_a_turn() -> None:
    """What could pass the cap is not asked for; the message says by how much, and what to do."""
    limits = RunLimits(tokens=100)

    check_budget(Usage(50, 40), 0.0, 10, 0.0, limits)
    with pytest.raises(
        BudgetCapReached, match=r"90 tokens.* 11; .*100 .*run\.tokens.*resume"
    ) as cap:
        check_budget(Usage(50, 40), 0.0, 11, 0.0, limits)
    assert cap.value.retryable
    assert cap.value.detail == {"setting": "run.tokens", "used": 90, "asked": 11, "cap": 100}


def test_the_cost_cap_is_checked_before_a_turn() -> None:
    """What the run did cost counts, whatever models it had; 0 is no cap."""
    check_budget(Usage(), 4.0, 1, 1.0, RunLimits(cost=5.0))
    check_budget(Usage(), 4.0, 1, 100.0, RunLimits())
    with pytest.raises(BudgetCapReached, match=r"\$4\.00.*\$1\.20.*\$5\.00.*run\.cost"):
        check_budget(Usage(), 4.0, 1, 1.2, RunLimits(cost=5.0))


def test_a_turn_costs_what_its_tokens_cost() -> None:
    """Prices are for a million tokens; a billionth of a dollar is told from nothing."""
    model = ModelInfo("m:m", input_price=2.0, output_price=10.0)

    assert cost_of(Usage(1_000_000, 100_000), model) == 3.0
    assert cost_of(Usage(1, 0), model) == 0.000002
    assert cost_of(Usage(1_000_000, 100_000), ModelInfo("m:m")) == 0.0
    assert worst_cost(500_000, 8192, model) == 1.08192
