"""Vectors of an answer with embeddings. Pure; imported on the first call only: it takes numpy.

What real servers send and what is made of it:

    numbers, or base64 of float32      either
    vectors out of order               sorted by `index`
    no index                           the order in which they came
    vectors of any length              brought to length 1
    too few, too many, of two sizes    refused: what belongs to which text is not known
    not a number, or all zeros         refused: it points nowhere
    no usage, or one that cannot be    estimated
    an error in the place of data      raised as such
"""

import binascii
from base64 import b64decode
from collections.abc import Iterator, Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from kbd.messages import Usage
from kbd.providers import Embeddings, MalformedReply
from kbd_openai.assembly import CHARACTERS_PER_TOKEN
from kbd_openai.event_stream import NO_EVENT, decoded_event, is_told, read_usage, small_value
from kbd_openai.faults import fault_of_stream

__all__ = ["read_embeddings"]

Vectors = npt.NDArray[np.float32]


class _Row(msgspec.Struct):
    embedding: str | list[float]
    index: int | None = None


_ABSENT = msgspec.Raw()

MAX_DIMENSIONS = 16_384
"""Four times those of the longest vectors there are (2026)."""


class _Answer(msgspec.Struct):
    data: list[_Row] | None = None
    usage: msgspec.Raw = _ABSENT
    error: msgspec.Raw = _ABSENT


def read_embeddings(bodies: Sequence[tuple[bytes, int]], texts: Sequence[str]) -> Embeddings:
    """Return the vectors of texts from the answers of a server.

    Args:
        bodies: The answers in order, each with the number of texts that it is for.
        texts: All texts, for an estimate where nobody counted.

    Raises:
        MalformedReply: They make no sense.
        KbdError: One of them tells of an error.
    """
    answers = [(_answer(body, count), count) for body, count in bodies]
    rows = [_decoded_vector(row) for answer, count in answers for row in _ordered(answer, count)]
    sizes = {len(row) for row in rows}
    if len(sizes) != 1 or 0 in sizes:
        raise MalformedReply("the answer holds vectors of different sizes, or empty ones")
    block = np.stack(rows)
    # In float64, in which the squares of large float32 numbers do not overflow.
    lengths = np.linalg.norm(block.astype(np.float64), axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or not lengths.all():
        raise MalformedReply("the answer holds a vector that points nowhere: zeros, or no numbers")
    data = (block / lengths).astype("<f4").tobytes()
    counted = [_tokens(answer.usage) for answer, _ in answers]
    estimate = sum(map(len, texts)) // CHARACTERS_PER_TOKEN + 1
    tokens = sum(counted) if all(counted) else estimate
    return Embeddings(data, sizes.pop(), Usage(tokens, 0))


def _answer(body: bytes, count: int) -> _Answer:
    # Before it is decoded: a number takes thirty bytes of memory, and one of JSON.
    if body.count(b",") > (count + 1) * MAX_DIMENSIONS:
        raise MalformedReply("the answer holds far more numbers than were asked for")
    try:
        answer = decoded_event(body, _Answer)
    except NO_EVENT:
        raise MalformedReply("the answer was not JSON") from None
    if is_told(answer.error):
        raise fault_of_stream(small_value(answer.error), "the provider failed", None)
    return answer


def _ordered(answer: _Answer, count: int) -> Iterator[_Row]:
    """Yield the vectors of an answer in the order of their texts."""
    rows = answer.data or []
    places = [place if row.index is None else row.index for place, row in enumerate(rows)]
    if sorted(places) != list(range(count)):
        msg = f"the answer holds {len(rows)} vectors, or misplaces them; {count} were asked for"
        raise MalformedReply(msg)
    by_place = dict(zip(places, rows, strict=True))
    yield from (by_place[place] for place in range(count))


def _decoded_vector(row: _Row) -> Vectors:
    if isinstance(row.embedding, list):
        with np.errstate(over="ignore"):  # What float32 cannot hold is found out as infinite.
            return np.array(row.embedding, np.float64).astype(np.float32)
    try:
        # Without `validate` what is no base64 is passed over, and other numbers come out.
        data = b64decode(row.embedding, validate=True)
        return np.frombuffer(data, "<f4")
    except (binascii.Error, ValueError):
        raise MalformedReply("the answer holds a vector that is no base64 of numbers") from None


def _tokens(told: msgspec.Raw) -> int:
    """Return how many tokens were counted, 0 if nobody says, or nobody can have."""
    usage = read_usage(told, "prompt_tokens", "") or read_usage(told, "total_tokens", "")
    return usage.input_tokens if usage else 0
