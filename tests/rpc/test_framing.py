"""A stream of bytes is cut into the same messages however it arrives, within its limit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbd.rpc import Framer, FramingError

_BODY = st.binary(max_size=40).map(lambda raw: b"{" + raw.replace(b"\n", b" ") + b"}")


def _fed(framer: Framer, stream: bytes, sizes: list[int]) -> list[bytes]:
    messages: list[bytes] = []
    start = 0
    for size in [*sizes, len(stream) + 1]:
        if chunk := stream[start : start + size]:
            messages += framer.feed(chunk)
        start += size
    return messages


@given(st.lists(_BODY, min_size=1, max_size=8), st.lists(st.integers(1, 30), max_size=30))
def test_lines_are_cut_alike_however_they_arrive(bodies: list[bytes], sizes: list[int]) -> None:
    """The same lines come out whatever the chunks they arrive in, and nothing is left over."""
    framer = Framer()
    assert _fed(framer, b"".join(body + b"\n" for body in bodies), sizes) == bodies
    assert not framer.is_midway


@given(st.lists(_BODY, min_size=1, max_size=8), st.lists(st.integers(1, 30), max_size=30))
def test_headed_messages_are_cut_alike_however_they_arrive(
    bodies: list[bytes], sizes: list[int]
) -> None:
    """Messages with Content-Length come out whole whatever the chunks, and nothing is left over."""
    framer = Framer()
    stream = b"".join(b"Content-Length: %d\r\n\r\n%b" % (len(body), body) for body in bodies)
    assert _fed(framer, stream, sizes) == bodies
    assert framer.uses_headers
    assert not framer.is_midway


def test_answers_are_framed_as_the_client_speaks() -> None:
    """Who sends headers, in any case, is answered with headers; who sends lines, with lines."""
    headed = Framer()
    headed.feed(b"content-length: 2\r\nContent-Type: x\r\n\r\n{}")
    assert headed.frame(b"[1]\n") == b"Content-Length: 4\r\n\r\n[1]\n"
    assert Framer().frame(b"[1]\n") == b"[1]\n"


def test_headers_come_in_any_order() -> None:
    """A client may name the type of what it sends first, and leave it out later."""
    framer = Framer()
    typed = (
        b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: 2\r\n\r\n{}"
    )
    assert framer.feed(typed + b"Content-Length: 2\r\n\r\n[]") == [b"{}", b"[]"]
    assert framer.uses_headers


def test_a_line_of_the_longest_length_passes_and_one_byte_more_does_not() -> None:
    """The limit is exact, whether its line feed comes at once, later or never."""
    line = b"x" * 100
    assert Framer(100).feed(line + b"\n") == [line]
    split = Framer(100)
    assert split.feed(line) == []
    assert split.feed(b"\n") == [line]
    for longer in (line + b"x", line + b"x\n", b"[]\n" + line + b"x\n[]\n"):
        with pytest.raises(FramingError, match="longer than 100"):
            Framer(100).feed(longer)
    assert Framer(100).feed(line + b"\n" + line + b"\n") == [line, line]


def test_an_endless_line_is_refused_before_it_is_held() -> None:
    """A line without an end is refused as soon as what is held of it passes the limit."""
    framer = Framer(1000)
    for _ in range(15):
        assert framer.feed(b"x" * 64) == []
    with pytest.raises(FramingError, match="longer than 1000"):
        framer.feed(b"x" * 64)


@pytest.mark.parametrize(
    "stream",
    [
        b"Content-Length: 11\r\n\r\n",
        b"Content-Length: -1\r\n\r\n",
        b"Content-Length: 1e1\r\n\r\n",
        b"Content-Length:\r\n\r\n",
        b"Content-Length: 99999999999999999999\r\n\r\n",
        b"Content-Length: 5\r\n" + b"x" * 5000,
        b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} ",
        b"Content-Length: +2\r\n\r\n{}",
        b"Content-Type: x\r\n\r\n{}",
    ],
)
def test_headers_that_make_no_sense_end_the_connection(stream: bytes) -> None:
    """A length that is too long, no number or absent, or headers without end, are refused."""
    with pytest.raises(FramingError):
        Framer(10).feed(stream)
