"""What a worker answers is bounded before it is built, however its bytes are arranged."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbd.core.plugins.answer_shape import answer_fault
from kbd.core.plugins.call_outcomes import WorkerFault, call_result
from kbd.core.plugins.worker_messages import Returned, encode
from kbd.core.plugins.worker_process import FinishedCall
from kbd.errors import FileReadFailed, ToolWorkerUnavailable
from kbd.tools import CallLimits

LIMITS = CallLimits(
    wall_s=30, cpu_s=30, memory_bytes=1 << 30, file_bytes=1 << 30, result_bytes=1 << 26
)
HEAD = b"\x92\xa8Returned"

_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False)
    | st.text(max_size=40)
    | st.binary(max_size=300)
    | st.just(msgspec.msgpack.Ext(5, b"\x90" * 20)),
    lambda inner: (
        st.lists(inner, max_size=20) | st.dictionaries(st.text(max_size=5), inner, max_size=20)
    ),
    max_leaves=40,
)


def _containers(value: object) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return isinstance(value, dict | list) + sum(map(_containers, inner))


def _count(value: object) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    keys = len(value) if isinstance(value, dict) else 0
    return 1 + keys + sum(map(_count, inner))


@given(_VALUES, st.integers(0, 12), st.integers(1, 40))
def test_containers_and_values_are_counted_exactly(
    value: object, containers: int, values: int
) -> None:
    """Text and bytes that look like arrays count for nothing; what is one counts."""
    raw = msgspec.msgpack.encode(value)
    fault = answer_fault(raw, containers=containers, values=values)
    has_too_many = _containers(value) > containers or _count(value) > values
    # Not looked at where there cannot be more containers than bytes.
    assert (fault is not None) == (has_too_many and len(raw) > containers)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"\xdd\x00\x80\x00\x00" + b"\x90" * 0x800000, id="8 MiB of empty arrays"),
        pytest.param(b"\xdd\x00\x80\x00\x00" + b"\x80" * 0x800000, id="8 MiB of empty maps"),
        pytest.param(b"\xdd\x00\x80\x00\x00" + b"\x07" * 0x800000, id="8 MiB of numbers"),
        pytest.param(b"\x91" * 0x800000, id="8 MiB of brackets"),
        pytest.param(b"\xdd\xff\xff\xff\xff", id="4 billion announced"),
        pytest.param(b"\xdf\xff\xff\xff\xff\x01\x01", id="a map of 4 billion announced"),
        pytest.param(b"\xdb\xff\xff\xff\xffabc", id="4 GiB of text announced"),
        pytest.param(b"\xdd\x00\x80\x00\x00" * 900, id="arrays announced in arrays"),
        pytest.param(b"\xa2\xff\xff", id="text that is no UTF-8"),
        pytest.param(b"\x91" * 2000 + b"\xc0", id="2,000 levels"),
        pytest.param(b"\xc1", id="a byte that means nothing"),
        pytest.param(b"\xc0\xc0", id="more than one value"),
    ],
)
def test_a_hostile_answer_is_no_answer(body: bytes) -> None:
    """It is told as the worker's fault, and nothing of it is built."""
    with pytest.raises(WorkerFault, match="answered something that is no answer") as raised:
        call_result(FinishedCall(HEAD + body, 0), LIMITS, what="a: b", failure=FileReadFailed)

    assert isinstance(raised.value.error, ToolWorkerUnavailable)


def _alike_keys(count: int) -> bytes:
    """Return a map whose keys are arrays of two numbers, all of one hash as tuples of Python."""
    # The rounds of xxHash by which tuples are hashed, undone: for each first number a second one.
    first, second, start = 11400714785074694791, 14029467366897019727, 2870177450012600261
    mask = (1 << 64) - 1
    undo = pow(second, -1, 1 << 64)
    keys: list[tuple[int, int]] = []
    number = 0
    while len(keys) < count:
        number += 1
        turned = (start + number * second) & mask
        turned = ((turned << 31) | (turned >> 33)) & mask
        other = (4711 - turned * first) * undo & mask
        if other < (1 << 61) - 1:
            keys.append((number, other))
    assert len(set(map(hash, keys))) == 1
    pairs = b"".join(msgspec.msgpack.encode(list(key)) + b"\xc0" for key in keys)
    return b"\xdf" + count.to_bytes(4) + pairs


@pytest.mark.parametrize("wrapped", [b"", b"\x93\xa1a\x81\x01\x90"], ids=["alone", "behind others"])
def test_keys_that_are_arrays_are_refused(wrapped: bytes) -> None:
    """Built, 19,000 of them would hold all threads for seconds: their hashes can be made alike."""
    assert answer_fault(HEAD + wrapped + _alike_keys(1_500)) == "a key that is no plain value"


def test_maps_of_arrays_and_of_numbers_are_answers() -> None:
    """An array is refused as a key alone: not as a value, and not behind the values of others."""
    value = [{"a": [1, [2]], 3: {"b": []}, "c": [{}]} for _ in range(2_000)]

    assert answer_fault(msgspec.msgpack.encode(value)) is None


def test_a_large_honest_answer_passes() -> None:
    """A picture of 10 MB whose bytes look like arrays, and 200,000 rows."""
    rows = [[number, "x"] for number in range(200_000)]
    for value in (b"\x90" * 10_000_000, rows):
        raw = encode(Returned(value))
        found = call_result(FinishedCall(raw, 0), LIMITS, what="a: b", failure=FileReadFailed)
        assert found == value
