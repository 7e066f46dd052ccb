"""What a model is sent of a long chain: measured, shrunk oldest first, never more than fits."""

from collections.abc import Sequence

import pytest

from kbd.core.agent.context_window import (
    MAX_BYTES_PER_TOKEN,
    MIN_BYTES_PER_TOKEN,
    calibrate_model,
    message_bytes,
    tools_bytes,
)
from kbd.core.agent.transcript import Transcript, accept_any
from kbd.core.domain.run_state import Chain, Turn
from kbd.core.domain.workbench_state import Measured
from kbd.errors import ContextExhausted
from kbd.events.base import ReplyCall
from kbd.messages import Message, ToolCall
from kbd.providers import ModelInfo, ToolSchema
from kbd.types import CallId

OPENING = (Message("system", "s"), Message("user", "<request>\nu\n</request>"))


def turn(number: int, result: str, arguments: str = "{}") -> Turn:
    """A turn of one call, which is entry `number` of the tool log."""
    call = CallId(f"c{number}")
    calls = (ReplyCall(call, "t", arguments),)
    return Turn("", calls, {call: number}, {call: result})


def transcript(turns: Sequence[Turn], opening: tuple[Message, ...] = OPENING) -> Transcript:
    """What a chain of these turns is sent as."""
    made = Transcript(accept_any)
    made.opening = opening
    made.add_turns(Chain(turns=list(turns)))
    return made


def model(tokens: int) -> ModelInfo:
    """A model with a window of so many tokens."""
    return ModelInfo("m:m", context_tokens=tokens)


def test_a_chain_that_fits_is_sent_as_it_is() -> None:
    """Nothing is shrunk without need; its size and tokens are told."""
    sent = transcript([turn(n, "r" * 100) for n in range(3)]).fit((), model(128_000))

    assert [message.text for message in sent.messages[3::2]] == ["r" * 100] * 3
    assert sent.size_bytes == sum(message_bytes(message) for message in sent.messages)
    assert sent.tokens == int(sent.size_bytes / 3.5) + 1


def test_the_oldest_results_shrink_first_and_can_be_recalled() -> None:
    """No more of them than it needs; the newest is kept whole; a shrunk one names its entry."""
    made = transcript([turn(n, "r" * 4000) for n in range(1, 5)])

    sent = made.fit((), model(4000))
    roomier = made.fit((), model(5000))

    shrunk = [message.text[:4] for message in sent.messages[3::2]]
    assert shrunk == ["This", "This", "rrrr", "rrrr"]
    assert sent.messages[3].text.endswith("recall_tool_result with entry_id 1 returns it.")
    assert sent.tokens <= 3500
    assert [message.text[:4] for message in roomier.messages[3::2]].count("This") == 1


def test_large_arguments_shrink_next() -> None:
    """When results are not enough, what old calls wrote is left out; of the newest it is not."""
    long = '{"content": "' + "x" * 4000 + '"}'
    made = transcript([turn(n, "r" * 400, long) for n in range(1, 4)])

    sent = made.fit((), model(2200))

    told = [message.tool_calls[0].arguments for message in sent.messages[2::2]]
    assert told == ['{"left_out_bytes":4015}'] * 2 + [long]
    assert [message.text[:4] for message in sent.messages[3::2]] == ["This", "This", "rrrr"]


def test_a_chain_taken_turn_by_turn_is_the_same_as_one_taken_whole() -> None:
    """A run that goes on and one that is resumed ask for the same, at each turn."""
    turns = [turn(n, "é" * (n % 7) * 300, "{" + " " * (n % 3) * 3000 + "}") for n in range(1, 40)]
    grown, chain = transcript([]), Chain()
    for each in turns:
        chain.turns.append(each)
        grown.add_turns(chain)
        for window in (9000, 16_000):
            assert grown.fit((), model(window)) == transcript(chain.turns).fit((), model(window))


def test_sizes_are_exact_after_shrinking() -> None:
    """What is told of a request is the size of what is sent, tools included."""
    tools = (ToolSchema("t", "does", {"type": "object"}),)
    made = transcript([turn(n, "ü" * 900, " " * 2100) for n in range(1, 9)])
    for window in range(3000, 14_000, 500):
        sent = made.fit(tools, model(window))

        size = sum(message_bytes(message) for message in sent.messages) + tools_bytes(tools)
        assert sent.size_bytes == size
        assert sent.tokens <= window - window // 8


@pytest.mark.parametrize(
    ("opening", "turns", "told"),
    [
        (
            (
                Message("system", "s" * 900),
                Message("user", "<files>\n" + "f" * 9000 + "\n</files>"),
            ),
            [turn(1, "x")],
            r" 2,8\d\d tokens.* of 1,000 has room for 875 .*<files> with about 2,5\d\d: use a",
        ),
        (OPENING, [turn(1, "r" * 9000)], "the newest results with .*: read in smaller pieces"),
        (OPENING, [turn(n, "r") for n in range(200)], "ask for less at once"),
    ],
    ids=["opening", "newest", "length"],
)
def test_what_cannot_fit_is_refused_with_figures(
    opening: tuple[Message, ...], turns: list[Turn], told: str
) -> None:
    """Context never overflows silently: it says what is too large, how large, and what to do."""
    with pytest.raises(ContextExhausted, match=told) as refused:
        transcript(turns, opening).fit((), model(1000))

    assert refused.value.detail["window"] == 1000
    assert refused.value.detail["tokens"] > refused.value.detail["room"] == 875


def test_tokens_follow_what_the_provider_counted() -> None:
    """A few bytes change little, many decide; no count makes a token absurdly long or short."""
    told = model(1000)

    def each(size_bytes: int, tokens: int) -> float:
        return calibrate_model(told, Measured(size_bytes, tokens)).bytes_per_token

    assert calibrate_model(told, None) is told
    assert each(0, 0) == 3.5
    assert 3.3 < each(4000, 2000) < 3.5
    assert 2.0 < each(4_000_000, 2_000_000) < 2.1
    assert each(10**9, 1) == MAX_BYTES_PER_TOKEN
    assert each(1, 10**9) == MIN_BYTES_PER_TOKEN


def test_tool_calls_count_in_bytes() -> None:
    """A character of other scripts is more than one byte."""
    asks = Message("assistant", "日本", (ToolCall(CallId("c"), "t", '{"a":"日"}'),))

    assert message_bytes(asks) == 6 + 16 + 11 + 1 + 32
