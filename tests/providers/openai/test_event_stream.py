"""Server-sent events of an answer: taken from the bytes, each looked at once, none without end."""

import json
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from kbd.messages import MAX_TOKENS, Usage
from kbd.providers import MalformedReply
from kbd_openai.assembly import MAX_CALLS, MAX_REPLY_BYTES, Assembly
from kbd_openai.chat import ChatReader
from kbd_openai.event_stream import (
    MAX_OBJECTS,
    NO_EVENT,
    EventDecoder,
    decoded_event,
    read_usage,
)
from kbd_openai.faults import ServerFault
from kbd_openai.identification import check_listing
from kbd_openai.responses import ResponsesReader
from kbd_openai.vectors import read_embeddings
from providers.openai.lent import asking

STREAM = (
    b": a comment\r\n\r\ndata: one\n\ndata:two\rdata: 2\r\revent: x\r\nid: 7\r\ndata: three\r\n\r\n"
    b"\n\ndata\n\nretry: 5\ndata: four\n\ndata: not ended\n"
)
EVENTS = [b"one", b"two\n2", b"three", b"", b"four"]


class Text(msgspec.Struct):
    """A record with a text."""

    text: str | None = None


def delta(**fields: Any) -> bytes:
    """Return a chunk of a turn."""
    return json.dumps({"choices": [{"delta": fields}]}).encode()


def reader() -> tuple[Assembly, ChatReader]:
    """Return a reader with what it writes to."""
    assembly = Assembly(asking("m"), lambda _: None)
    return assembly, ChatReader(assembly)


def feed_all(
    to: EventDecoder | ChatReader | ResponsesReader, pieces: Sequence[bytes]
) -> list[bytes]:
    """Feed pieces, and return what events came of them."""
    return [data for piece in pieces for data in to.feed(piece) or ()]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_events_do_not_depend_on_how_they_come(size: int) -> None:
    """Whatever the pieces are, and however lines end, the events are the same."""
    decoder = EventDecoder()
    pieces = [STREAM[at : at + size] for at in range(0, len(STREAM), size)]

    assert [data for piece in pieces for data in decoder.feed(piece)] == EVENTS


def test_no_event_is_without_end() -> None:
    """Neither a line that does not end, nor ever more lines of one event, fill memory."""
    for piece in (b"data: " + b"a" * 60, b": " + b"a" * 60, b"data: aa\n", b"data:\n"):
        decoder = EventDecoder(max_bytes=1000)
        with pytest.raises(MalformedReply, match="longer than 1,000 bytes"):
            feed_all(decoder, [piece] * 2000)
    decoder = EventDecoder(max_bytes=1000)
    for _ in range(2000):
        assert list(decoder.feed(b": comment\n\nevent: x\n\n")) == []


def test_what_nobody_reads_is_not_made_values() -> None:
    """A field of a million objects is refused by their number, one of lists is passed over."""
    with pytest.raises(MalformedReply, match="objects"):
        decoded_event(b'{"other": [' + b"{}," * MAX_OBJECTS + b"{}]}", Text)
    assert decoded_event(b'{"other": [' + b"[]," * 300_000 + b"[]]}", Text) == Text()


@pytest.mark.parametrize(
    "data", [b"{", b"[" * 100_000, b'{"a":' * 50_000, b'{"text": NaN}', b'{"text": "\xff"}', b""]
)
def test_what_is_no_event_is_told_as_such(data: bytes) -> None:
    """Broken JSON, endless depth and what is no UTF-8 are one kind of error each time."""
    with pytest.raises((*NO_EVENT, MalformedReply)):
        decoded_event(data, Text)


def test_half_a_character_is_replaced() -> None:
    """A server that cuts a text within a surrogate pair does not end the turn."""
    assert decoded_event(b'{"text": "a\\ud83d"}', Text).text == "a\ufffd"
    assert decoded_event(b'{"text": "\\ude00 \\ud83d\\ude00 \\\\ud83d"}', Text).text == (
        "\ufffd \U0001f600 \\ud83d"
    )


@pytest.mark.parametrize(
    "told",
    [
        {"sent": -1, "got": 5},
        {"sent": 5, "got": -1},
        {"sent": MAX_TOKENS + 1, "got": 0},
        {"sent": 10**30, "got": 0},
        {"sent": "10", "got": "5"},
        {"sent": 1.5, "got": 2},
        {"sent": True, "got": 2},
        {"sent": [1], "got": 2},
        {"sent": None, "got": None},
        {},
        None,
        "usage",
        [1, 2],
        {"sent": 1, "got": 1, "more": "x" * 100_000},
    ],
)
def test_usage_that_cannot_be_is_none(told: object) -> None:
    """Below zero, no whole number, absurd or of another shape: nobody said what it was."""
    assert read_usage(msgspec.Raw(json.dumps(told).encode()), "sent", "got") is None


def test_usage_that_can_be_is_taken() -> None:
    """Whole numbers up to the most; one that is missing is none."""
    told = json.dumps({"sent": MAX_TOKENS, "got": None}).encode()
    assert read_usage(msgspec.Raw(told), "sent", "got") == Usage(MAX_TOKENS, 0)


def test_usage_that_cannot_be_takes_nothing_back() -> None:
    """The turn is read to its end, and what was told before stands."""
    assembly, chat = reader()
    chat.feed(b'{"usage": {"prompt_tokens": 3, "completion_tokens": 4}}')
    for told in ('{"prompt_tokens": -3}', '{"prompt_tokens": "x"}', "1" + "0" * 9000):
        chat.feed(b'{"usage": %b}' % told.encode())
    chat.feed(b'{"choices": [{"delta": {"content": "ok"}, "finish_reason": "stop"}]}')

    assert (assembly.reply().usage, assembly.reply().usage_is_estimate) == (Usage(3, 4), False)


def test_a_reply_is_not_without_end() -> None:
    """Texts, arguments, names and ids count together, in bytes."""
    big = "ä" * (MAX_REPLY_BYTES // 4 + 1)
    for pieces in (
        [delta(content=big), delta(content=big)],
        [delta(tool_calls=[{"index": 0, "function": {"arguments": big}}])] * 2,
        [delta(tool_calls=[{"index": n, "id": big}]) for n in range(2)],
        [delta(tool_calls=[{"index": n, "function": {"name": big}}]) for n in range(2)],
    ):
        _, chat = reader()
        with pytest.raises(MalformedReply, match="does not end"):
            feed_all(chat, pieces)


def test_calls_and_texts_are_counted() -> None:
    """Ever more calls, or ever more places of texts, are refused."""
    _, chat = reader()
    begun = [
        delta(tool_calls=[{"index": number, "function": {"name": "look"}}])
        for number in range(MAX_CALLS + 1)
    ]
    with pytest.raises(MalformedReply, match="ever more calls"):
        feed_all(chat, begun)
    responses = ResponsesReader(Assembly(asking("m"), lambda _: None))
    texts = [
        {"type": "response.output_text.delta", "item_id": f"i{number}", "delta": "a"}
        for number in range(MAX_CALLS + 1)
    ]
    with pytest.raises(MalformedReply, match="ever more texts"):
        feed_all(responses, [json.dumps(event).encode() for event in texts])


def test_an_error_of_any_size_is_told() -> None:
    """An error in the stream is one, whatever it holds; a large one is not made values."""
    for error, body in (({"message": "busy"}, {"message": "busy"}), (["x" * 99] * 9000, None)):
        _, chat = reader()
        with pytest.raises(ServerFault) as raised:
            chat.feed(json.dumps({"error": error}).encode())
        assert raised.value.body == body


def test_the_reason_of_an_end_is_a_word() -> None:
    """It is recorded, so a server cannot make it megabytes."""
    assembly, chat = reader()
    chat.feed(json.dumps({"choices": [{"finish_reason": "s" * 1_000_000}]}).encode())

    assert len(assembly.reply().finish_reason) == 100


def test_vectors_are_not_without_end() -> None:
    """Far more numbers than were asked for are refused before they are numbers."""
    body = b'{"data": [{"embedding": [' + b"0," * 40_000 + b"1]}]}"
    with pytest.raises(MalformedReply, match="far more numbers"):
        read_embeddings([(body, 1)], ["a"])
    told = b'{"data": [{"embedding": [3, 4]}], "usage": {"prompt_tokens": -7}}'
    assert read_embeddings([(told, 1)], ["abcdefgh"]).usage == Usage(3, 0)


def test_a_list_of_models_is_not_without_end() -> None:
    """One of far more values than any list has is refused before it is made values."""
    with pytest.raises(MalformedReply, match="far too much"):
        check_listing(b'{"object": "list", "data": [' + b'{"id": "m"},' * 60_000 + b"{}]}", None)
    check_listing(b'{"object": "list", "data": [' + b'{"id": "m"},' * 9000 + b'{"id": "m"}]}', None)
