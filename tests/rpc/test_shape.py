"""A message's shape is judged from its raw bytes, exactly as its structure is."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbd.rpc.parsing import shape_fault

_TEXT = st.text(st.sampled_from('[]{}"\\ ab,:é\n'), max_size=12)
_JSON = st.recursive(
    st.none() | st.integers() | _TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=30,
)


def _depth(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max(map(_depth, value.values()), default=0)
    if isinstance(value, list):
        return 1 + max(map(_depth, value), default=0)
    return 0


def _count(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + sum(map(_count, value.values()))
    if isinstance(value, list):
        return 1 + sum(map(_count, value))
    return 0


def _commas(value: Any) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return max(len(inner) - 1, 0) + sum(map(_commas, inner))


@given(_JSON, st.integers(1, 6), st.integers(1, 12), st.integers(1, 9))
def test_depth_and_number_are_those_of_the_value(
    value: Any, nesting: int, parts: int, values: int
) -> None:
    """The raw bytes are faulted exactly where the value is too deep or has too many parts."""
    raw = json.dumps(value, ensure_ascii=False).encode()
    fault = shape_fault(raw, nesting=nesting, parts=max(parts, nesting), values=values)
    expected = _depth(value) > nesting or _count(value) > max(parts, nesting)
    assert (fault is not None) == (expected or _commas(value) > values)


@pytest.mark.parametrize(
    ("raw", "fault"),
    [
        (b"[" * 100_000, "nested deeper"),
        (b"[],", None),
        (b"[" + b"[]," * 349_000 + b"[]]", "more than 200000 values"),
        (b"[" + b"[]," * 149_000 + b"[]]", "more than 100000 arrays"),
        (b'["' + b"[" * 200_000 + b'"]', None),
        (b'["' + b"," * 900_000 + b'"]', None),
        (b"[" + b'"[",' * 200_000 + b"1]", None),
        (b"[" + b'"[",' * 900_000 + b"1]", "more than 200000 values"),
        (b"[" + b'["["],' * 900_000 + b"1]", "more than 200000 values"),
        (b"[" + b"300," * 200_001 + b"1]", "more than 200000 values"),
        (b'{"a":1' + b',"a":1' * 200_001 + b"}", "more than 200000 values"),
        (b'{"a":"\xff"}', "UTF-8 at byte 6"),
        (b'{"a":"\xc0\x80"}', "UTF-8"),
        (b'{"a":"\xed\xa0\x80"}', "UTF-8"),
        ("{}".encode("utf-16"), "UTF-8"),
    ],
)
def test_bombs_are_seen_before_they_are_parsed(raw: bytes, fault: str | None) -> None:
    """Bombs and bad UTF-8 are named as such, and brackets inside text are not counted."""
    found = shape_fault(raw)
    assert (found is None) if fault is None else (found is not None and fault in found)
