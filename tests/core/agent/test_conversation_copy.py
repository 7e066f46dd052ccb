"""The readable copy of a conversation: whole after whatever happened to it, and cheap to keep."""

import msgspec
import pytest

from agent_rig import Opened, Rig, two_items
from backends import on_asyncio
from kbd.core.domain.commands import RecordFacts, SendMessage
from kbd.core.sessions.projection import ConversationCopy
from kbd.events.base import Recorded
from kbd.events.workbenches import ConversationRewound, UserMessageAdded
from kbd.types import Seq

pytestmark = [pytest.mark.anyio, on_asyncio]


async def _say(rig: Rig, *texts: str) -> None:
    for text in texts:
        await rig.keeper.submit(SendMessage(f"u-{text}", text))


def _note(copy: ConversationCopy, seq: Seq, record: Recorded) -> None:
    copy.note(seq, record)


def _copy_of(rig: Rig) -> ConversationCopy:
    copy = ConversationCopy(rig.folder, rig.keeper.journal)
    rig.keeper.observe(lambda seq, record: _note(copy, seq, record))
    return copy


def _ids(rig: Rig) -> list[str]:
    lines = (rig.folder / "conversation.jsonl").read_bytes().splitlines()
    return [msgspec.json.decode(line)["message_id"] for line in lines]


@pytest.mark.parametrize(
    "found",
    [
        None,
        b"",
        b"no message\n",
        b'{"message_id":"somebody\'s"}\n',
        b'{"message_id":"u-0","seq":1}\n{"message_id":"u-1","se',
        b'{"message_id":"u-0","seq":99}\n',
    ],
    ids=["none", "empty", "no JSON", "no event", "torn", "of the future"],
)
async def test_a_copy_that_cannot_be_gone_on_with_is_written_anew(
    opened: Opened, found: bytes | None
) -> None:
    """Whatever lies where the conversation's copy should be, the copy ends up whole."""
    async with opened(two_items) as rig:
        await _say(rig, "0", "1", "2")
        if found is not None:
            (rig.folder / "conversation.jsonl").write_bytes(found)
        await _copy_of(rig).catch_up()

        assert _ids(rig) == ["u-0", "u-1", "u-2"]


async def test_only_what_is_new_is_written(opened: Opened) -> None:
    """A copy is gone on with at its end, at a start, too: a message costs no more after many."""
    async with opened(two_items) as rig:
        await _say(rig, "0", "1")
        await _copy_of(rig).catch_up()
        path = rig.folder / "conversation.jsonl"
        # Somebody wrote over what was there; it is not looked at again.
        path.write_bytes(path.read_bytes().replace(b"u-0", b"U-0"))
        await _say(rig, "2")
        started = _copy_of(rig)
        await started.catch_up()
        await _say(rig, "3")
        await started.write()

        assert _ids(rig) == ["U-0", "u-1", "u-2", "u-3"]
        path.unlink()
        await _say(rig, "4")
        await started.write()
        assert _ids(rig) == ["u-0", "u-1", "u-2", "u-3", "u-4"]


async def test_what_was_undone_is_not_in_the_copy(opened: Opened) -> None:
    """After an undo it is written anew: while the daemon runs, and by a start after a crash."""
    async with opened(two_items) as rig:
        await rig.go("first")
        copy = _copy_of(rig)
        await copy.catch_up()
        assert [line for line in _ids(rig) if not line.startswith("m")] == [
            "u-1", rig.state.said[-1].message_id,
        ]  # fmt: skip
        assert len(_ids(rig)) > 6  # with the tool traffic of the run
        asked = rig.state.said[0]
        await rig.keeper.submit(RecordFacts((ConversationRewound("u-1", asked.seq),)))
        await rig.keeper.submit(RecordFacts((UserMessageAdded("u-2", "second"),)))
        undone = rig.state.seq - 1
        crashed = ConversationCopy(rig.folder, rig.keeper.journal)
        await crashed.catch_up()

        assert _ids(rig) == ["u-1", f"m{undone}", "u-2"]
        await copy.write()
        assert _ids(rig) == ["u-1", f"m{undone}", "u-2"]


async def test_a_copy_that_cannot_be_written_is_written_later(opened: Opened) -> None:
    """The log is the authority; what failed is written whole with the next entry."""
    async with opened(two_items) as rig:
        path = rig.folder / "conversation.jsonl"
        copy = _copy_of(rig)
        path.mkdir()
        await _say(rig, "0")
        await copy.write()
        assert not copy.is_behind  # nothing is tried again until there is something new
        path.rmdir()
        await _say(rig, "1")
        await copy.write()

        assert _ids(rig) == ["u-0", "u-1"]
