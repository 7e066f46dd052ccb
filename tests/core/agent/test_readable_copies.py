"""Readable copies."""

import msgspec
import pytest

from agent_rig import Opened, two_items
from kbd.core.agent.readable_copies import copy_texts, write_copies
from kbd.core.domain.commands import SendMessage

pytestmark = pytest.mark.anyio


async def test_copies_follow_the_newest_message(opened: Opened) -> None:
    """A new message sets the old plan aside; deleting all copies loses nothing."""
    async with opened(two_items) as rig:
        await rig.go("first")
        folder = rig.folder / "meta"
        names = sorted(path.name for path in folder.rglob("*") if path.is_file())
        assert names == ["plan.md", "research.md", "tool_log.jsonl"]
        calls = [
            msgspec.json.decode(line)
            for line in (folder / "tool_log.jsonl").read_text().splitlines()
        ]
        assert [(c["id"], c["tool"], c["success"]) for c in calls][:2] == [
            (1, "rows", True),
            (2, "write_note", True),
        ]

        await rig.keeper.submit(SendMessage("u-2", "second"))
        assert await write_copies(folder, copy_texts(rig.state))

        assert list((folder / "_rpi").iterdir()) == []


async def test_a_copy_that_cannot_be_written_stops_nothing(opened: Opened) -> None:
    """The log is the authority; a copy is a courtesy."""
    async with opened(two_items) as rig:
        (rig.folder / "meta").write_text("in the way")

        assert (await rig.go()).summary == "All done."
        assert not await write_copies(rig.folder / "meta", copy_texts(rig.state))
