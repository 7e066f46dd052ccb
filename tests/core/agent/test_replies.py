"""What is recorded of a reply."""

from pathlib import Path

import pytest

from kbd.core.agent.model_calls import recorded_calls, recorded_text
from kbd.core.workbench.file_store import Blobs
from kbd.events.blobs import BlobStore
from kbd.messages import ToolCall
from kbd.types import CallId

pytestmark = pytest.mark.anyio


async def test_ids_are_made_unique(tmp_path: Path) -> None:
    """Ids that repeat, are taken in the run, or are empty get a number; others stay."""
    calls = [ToolCall(CallId(name), "t", "{}") for name in ("a", "b", "b", "", "b-2")]

    kept = await recorded_calls(calls, {CallId("a")}, Blobs(BlobStore(tmp_path)))

    assert [call.id for call in kept] == ["a-2", "b", "b-4", "call", "b-2"]


async def test_no_arguments_are_an_empty_object(tmp_path: Path) -> None:
    """Some servers send nothing for a call without arguments."""
    kept = await recorded_calls([ToolCall(CallId("a"), "t", "")], set(), Blobs(BlobStore(tmp_path)))

    assert (kept[0].arguments, kept[0].fault) == ("{}", None)


async def test_a_reply_is_no_giant_record(tmp_path: Path) -> None:
    """Arguments of many calls are kept beside the event once a quarter of a megabyte is in it."""
    calls = [
        ToolCall(CallId(f"c{number}"), "t", f'{{"x": "{"a" * 60_000}"}}') for number in range(50)
    ] + [ToolCall(CallId("last"), "t", "{}")]

    kept = await recorded_calls(calls, set(), Blobs(BlobStore(tmp_path)))

    assert sum(len(call.arguments) for call in kept) <= 256 * 1024 + 2
    assert [call.blob is None for call in kept] == [True] * 4 + [False] * 46 + [True]


async def test_what_no_file_can_hold_is_replaced(tmp_path: Path) -> None:
    """A lone surrogate does not reach the log."""
    call = ToolCall(CallId("a\ud800"), "t\ud800", '{"x": "\ud800"}')

    kept = await recorded_calls([call], set(), Blobs(BlobStore(tmp_path)))

    assert recorded_text("a\ud800b") == "a?b"
    assert (kept[0].id, kept[0].name, kept[0].arguments) == ("a?", "t?", '{"x": "?"}')
