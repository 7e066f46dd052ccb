"""What the model sees of results."""

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbd.core.agent.context_window import WHOLE_BYTES, truncate_result


def seen(value: Any, *, tool: str = "table_query", **more: Any) -> str:
    """What is shown of a value."""
    return truncate_result(tool, 7, msgspec.json.encode(value).decode(), value, **more)


def test_a_small_result_is_shown_whole() -> None:
    """Up to 2,048 bytes nothing changes."""
    value = {"text": "x" * (2048 - 11)}
    text = msgspec.json.encode(value).decode()

    assert len(text) == 2048
    assert seen(value) == text


@pytest.mark.parametrize("how", [{"is_action": True}, {"tool": "recall_tool_result"}])
def test_confirmations_and_recalled_pages_are_shown_whole(how: dict[str, Any]) -> None:
    """They are what was asked for."""
    value = {"text": "x" * 20_000}

    assert seen(value, **how) == msgspec.json.encode(value).decode()


def test_even_these_are_cut_at_512_kib() -> None:
    """A confirmation cannot flood the conversation."""
    assert len(seen({"text": "x" * 600_000}, is_action=True)) <= WHOLE_BYTES


def test_a_receipt_of_a_table_is_worth_reading() -> None:
    """It has counts, columns, the first rows, and how to get the rest."""
    rows = [[n, f"category {n}", n * 1.5] for n in range(100)]
    value = {"columns": ["id", "category", "amount"], "rows": rows, "row_count": 100,
             "total_row_count": 500, "has_more": True, "warnings": ["low confidence"]}  # fmt: skip

    text = seen(value)
    receipt = msgspec.json.decode(text)

    assert receipt["receipt"] is True
    assert receipt["tool"] == "table_query"
    assert receipt["entry_id"] == 7
    assert receipt["size_bytes"] > 2048
    assert receipt["total_row_count"] == 500
    assert receipt["has_more"] is True
    assert receipt["warnings"] == ["low confidence"]
    assert receipt["contents"] == "100 rows, 500 total, has_more=true"
    assert receipt["columns"] == ["id", "category", "amount"]
    assert receipt["rows"] == rows[: len(receipt["rows"])]
    assert len(receipt["rows"]) >= 10
    assert "recall_tool_result" in receipt["recall"]
    assert len(text) <= 2048


def test_a_receipt_of_a_text_keeps_its_first_lines_and_chunk() -> None:
    """A read is not hidden behind its size."""
    content = "\n".join(f"line {n} with some words" for n in range(1000))
    chunk = {"chunk_index": 0, "total_chunks": 5, "has_more": True, "range": "1-200"}

    receipt = msgspec.json.decode(seen({"text": content, "chunk_info": chunk}, tool="read_file"))

    assert receipt["chunk_info"] == chunk
    assert content.startswith(receipt["text"] + "\n")
    assert len(receipt["text"]) > 800
    assert f"of {len(content)} characters" in receipt["cut"]["text"]


def test_a_receipt_of_a_list_keeps_its_count_and_first_entries() -> None:
    """A long listing still says how long it is."""
    value = [{"path": f"file {n}", "size_bytes": n} for n in range(200)]

    receipt = msgspec.json.decode(seen(value, tool="list_files"))

    assert receipt["count"] == 200
    assert receipt["first"] == value[: len(receipt["first"])]


def test_a_tool_may_say_what_its_receipt_shows() -> None:
    """The summary stands in for the head."""
    chunk = {"chunk_index": 0, "total_chunks": 3, "has_more": True, "range": "1-5"}
    value = {"text": "x" * 5000, "chunk_info": chunk, "has_more": True}
    receipt = msgspec.json.decode(seen(value, summary={"pages": 12}))

    assert receipt["pages"] == 12
    assert "text" not in receipt
    assert (receipt["has_more"], receipt["chunk_info"]) == (True, chunk)


def test_a_receipt_says_how_much_more_there_is_whatever_stands_before_it() -> None:
    """Many small fields do not crowd out what says where the result stands in its whole."""
    many = {f"field {n}": "x" * 200 for n in range(30)}

    receipt = msgspec.json.decode(seen({**many, "has_more": True, "total_rows": 9}))

    assert (receipt["has_more"], receipt["total_rows"]) == (True, 9)


plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=400),
    lambda inner: st.lists(inner, max_size=40) | st.dictionaries(st.text(max_size=60), inner),
    max_leaves=60,
)


@settings(max_examples=50)
@given(plain)
def test_a_receipt_keeps_to_its_size(value: Any) -> None:
    """Whatever a tool returns, the model sees at most 2,048 bytes of valid JSON."""
    text = seen(value)

    msgspec.json.decode(text)
    assert len(text.encode()) <= 2048
