"""Mutated streams through the frame and RPC parsers: whatever they are, typed answers come out.

`make test` tries some thousands, from a seed; `make soak` an hour of them, from a seed of its own.
"""

import random
import time

import msgspec
import pytest

from benchmarks._crowd import ASKS, PIECES, mutated
from kbd.requests import METHODS
from kbd.rpc import (
    Framer,
    FramingError,
    encode_batch,
    encode_refusal,
)
from kbd.rpc.parsing import Batch, Cancel, Code, Parsed, Parser, Refusal, RpcCall

PARSER = Parser(METHODS)
LIMIT = 4096
"""A short longest message, so that its limit is met often."""

SEEDS = 15_000


def test_mutated_streams_are_framed_and_answered() -> None:
    """Nothing is raised but `FramingError`; every refusal has a code of the protocol."""
    seen = set[str]()
    for seed in range(SEEDS):
        seen |= _try(seed)
    # The mutations reach all that a message can be; else they would show little.
    assert {"RpcCall", "Refusal", "Batch", "Cancel", "FramingError", "headers"} <= seen


@pytest.mark.soak
@pytest.mark.timeout(4000)
def test_mutated_streams_for_an_hour() -> None:
    """The same for an hour, from another seed each time; a failure names the seed."""
    until, seed = time.monotonic() + 3600, random.SystemRandom().randrange(2**40)
    while time.monotonic() < until:
        _try(seed)
        seed += 1


def _try(seed: int) -> set[str]:
    """Frame and parse one stream; return which kinds of results there were."""
    chance = random.Random(seed)
    stream = _stream(chance)
    framer, whole = Framer(LIMIT), Framer(LIMIT)
    seen, messages = set[str](), list[bytes]()
    try:
        place = 0
        while place < len(stream):
            size = chance.choice((1, 7, 100, 5000))
            messages += framer.feed(stream[place : place + size])
            assert framer.held <= LIMIT + size, seed
            place += size
    except FramingError:
        seen.add("FramingError")
    else:
        # However it arrives, it is cut alike, unless a line is too long by a few bytes.
        assert whole.feed(stream) == messages, seed
    if framer.uses_headers:
        seen.add("headers")
    for message in messages:
        parsed = PARSER.parse(message)
        seen.add(type(parsed).__name__)
        _check(parsed, seed)
    return seen


def _stream(chance: random.Random) -> bytes:
    """Return a mutated stream; now and then headers, random bytes, or random pieces of JSON."""
    match chance.randrange(8):
        case 0:
            return chance.randbytes(chance.randint(1, 300))
        case 1:
            return b"".join(chance.choices((*PIECES, b":", b'"id"', b'"method"'), k=40)) + b"\n"
        case 2:
            body = chance.choice(ASKS[:6])
            length = chance.choice((len(body), len(body) - 1, -1, 10**9, 0))
            return b"Content-Length: %d\r\n\r\n%b" % (length, body) * chance.randint(1, 3)
        case 3:
            return b"".join(chance.choices(ASKS[:6], k=5))
    return mutated(chance)


def _check(parsed: Parsed, seed: int) -> None:
    match parsed:
        case Refusal():
            assert parsed.code in set(Code), seed
            assert parsed.message.isprintable(), seed
            line = encode_refusal(parsed.id, parsed.code, parsed.message, parsed.data)
            assert msgspec.json.decode(encode_batch([line]))[0]["error"]["code"] == parsed.code
        case Batch(parts=parts):
            assert len(parts) <= 100, seed
            for part in parts:
                _check(part, seed)
        case RpcCall() | Cancel() | None:
            pass
