"""Loops, waits, the window, tokens."""

import pytest

from kbd.core.agent.budget import (
    Loop,
    check_budget,
    estimated_tokens,
    fingerprint,
    fitted,
    loop_verdict,
    retry_wait_s,
)
from kbd.core.settings import RunLimits
from kbd.errors import BudgetCapReached, ContextExhausted
from kbd.messages import Message, ToolCall, Usage
from kbd.providers import ModelInfo
from kbd.types import CallId


def test_equal_calls_have_equal_fingerprints() -> None:
    """The order of keys and blanks do not matter; tool and content do."""
    one = fingerprint("t", '{"a": 1, "b": {"d": 2, "c": 3}}')

    assert fingerprint("t", '{"b":{"c":3,"d":2},"a":1}') == one
    assert fingerprint("u", '{"a": 1, "b": {"d": 2, "c": 3}}') != one
    assert fingerprint("t", '{"a": 2, "b": {"d": 2, "c": 3}}') != one
    assert fingerprint("t", "not json") != fingerprint("t", "not jso")


def test_a_sweep_of_chunks_is_no_loop() -> None:
    """Successive ranges differ in content, however alike they look."""
    marks = [fingerprint("set_range", f'{{"sheet": "A", "start": "A{n}"}}') for n in range(10)]

    assert loop_verdict(marks) == (Loop.NONE, 1)


@pytest.mark.parametrize(
    ("recent", "verdict"),
    [
        ([], Loop.NONE),
        (["a", "a"], Loop.NONE),
        (["a", "b", "a", "a"], Loop.WARN),
        (["a", "a", "a", "b"], Loop.NONE),
        (["a"] * 4, Loop.WARN),
        (["a"] * 5, Loop.STOP),
    ],
)
def test_the_newest_call_is_judged(recent: list[str], verdict: Loop) -> None:
    """Three equal ones warn and five stop; only the newest call is looked at."""
    assert loop_verdict(recent)[0] is verdict


def test_waits_follow_the_schedule_or_the_provider() -> None:
    """Never earlier than scheduled; what the provider asks for counts, up to ten minutes."""
    assert retry_wait_s(10, None, 0.0) == 10
    assert retry_wait_s(10, None, 0.999) < 11
    assert retry_wait_s(10, 3.0, 0.5) == 3
    assert retry_wait_s(10, 100_000.0, 0.5) == 600


def test_the_token_cap_is_checked_before_a_turn() -> None:
    """What would pass the cap is not asked for."""
    limits = RunLimits(tokens=100)

    check_budget(Usage(50, 40), 10, ModelInfo("m:m"), limits)
    with pytest.raises(BudgetCapReached, match=r"run\.tokens"):
        check_budget(Usage(50, 40), 11, ModelInfo("m:m"), limits)


def test_the_cost_cap_is_checked_before_a_turn() -> None:
    """Input and output are charged at the model's prices; 0 is no cap."""
    model = ModelInfo("m:m", input_price=2.0, output_price=10.0)
    used = Usage(1_000_000, 100_000)

    check_budget(used, 1_000_000, model, RunLimits(cost=5.0))
    check_budget(used, 2_000_000, model, RunLimits())
    with pytest.raises(BudgetCapReached, match=r"\$5\.20.*run\.cost"):
        check_budget(used, 1_100_000, model, RunLimits(cost=5.0))


def chain(turns: int, size: int) -> list[Message]:
    """A chain of calls with results of a size."""
    messages: list[Message] = []
    for n in range(turns):
        messages.append(Message("assistant", "", (ToolCall(CallId(f"c{n}"), "t", "{}"),)))
        messages.append(Message("tool", "r" * size, tool_call_id=CallId(f"c{n}")))
    return messages


OPENING = (Message("system", "s"), Message("user", "u"))


def test_a_chain_that_fits_is_sent_as_it_is() -> None:
    """Nothing is shrunk without need."""
    messages = chain(3, 100)

    assert fitted(OPENING, messages, (), ModelInfo("m:m"), {}) == (*OPENING, *messages)


def test_the_oldest_results_shrink_first_and_can_be_recalled() -> None:
    """The newest result is kept whole; a shrunk one names its entry."""
    model = ModelInfo("m:m", context_tokens=4000)
    entries = {CallId(f"c{n}"): n + 1 for n in range(4)}

    sent = fitted(OPENING, chain(4, 4000), (), model, entries)

    assert "entry_id 1" in sent[3].text
    assert sent[-1].text == "r" * 4000
    assert estimated_tokens(sent) <= 3500


def test_large_arguments_shrink_next() -> None:
    """When results are not enough, what old calls wrote is left out."""
    messages = chain(2, 10)
    long = ToolCall(CallId("c0"), "write", '{"content": "' + "x" * 9000 + '"}')
    messages[0] = Message("assistant", "", (long,))

    sent = fitted(OPENING, messages, (), ModelInfo("m:m", context_tokens=2000), {})

    assert sent[2].tool_calls[0].arguments == '{"left_out_bytes":9015}'


def test_what_cannot_fit_is_refused() -> None:
    """Context never overflows silently."""
    with pytest.raises(ContextExhausted):
        fitted(OPENING, chain(1, 9000), (), ModelInfo("m:m", context_tokens=1000), {})
