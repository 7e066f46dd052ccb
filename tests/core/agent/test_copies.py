"""Readable copies."""

from pathlib import Path

import msgspec
import pytest

from agent_rig import Opened, two_items
from kbd.core.agent import write_copies
from kbd.core.decisions import SendMessage
from kbd.core.state import WorkbenchState
from kbd.core.state.workbench import Said

pytestmark = pytest.mark.anyio


async def test_copies_follow_the_newest_message(opened: Opened) -> None:
    """A new message sets the old plan aside; deleting all copies loses nothing."""
    async with opened(two_items) as rig:
        await rig.go("first")
        folder = rig.folder / "meta"
        names = sorted(path.name for path in folder.rglob("*") if path.is_file())
        assert names == ["conversation.jsonl", "plan.md", "research.md", "tool_log.jsonl"]
        lines = (folder / "conversation.jsonl").read_text().splitlines()
        said = [msgspec.json.decode(line) for line in lines]
        assert [(m["type"], m["text"]) for m in said] == [
            ("user_message", "first"),
            ("assistant_message", "All done."),
        ]
        calls = [
            msgspec.json.decode(line)
            for line in (folder / "tool_log.jsonl").read_text().splitlines()
        ]
        assert [(c["id"], c["tool"], c["success"]) for c in calls][:2] == [
            (1, "rows", True),
            (2, "write_note", True),
        ]

        await rig.keeper.submit(SendMessage("u-2", "second"))
        await write_copies(folder, rig.state)

        assert list((folder / "_rpi").iterdir()) == []
        assert len((folder / "conversation.jsonl").read_text().splitlines()) == 3


@pytest.mark.parametrize(
    "found",
    [
        None,
        b"",
        b"no message\n",
        b'{"message_id":"somebody\'s"}\n',
        b'{"message_id":"u1"}\n{"message_id":"u2","te',
        b'{"message_id":"u1","text":"%b"}\n' % (b"x" * 100_000),
    ],
    ids=["none", "empty", "no JSON", "unknown", "torn", "long"],
)
async def test_a_copy_that_cannot_be_carried_on_is_written_anew(
    tmp_path: Path, found: bytes | None
) -> None:
    """Whatever lies where the conversation's copy should be, the copy ends up whole."""
    state = _conversation(3)
    copy = tmp_path / "conversation.jsonl"
    if found is not None:
        copy.write_bytes(found)
    await write_copies(tmp_path, state)

    assert _ids(copy) == ["u0", "u1", "u2"]


async def test_only_what_is_new_is_written(tmp_path: Path) -> None:
    """A copy is carried on where it ends: a long conversation costs no more than a short one."""
    copy = tmp_path / "conversation.jsonl"
    await write_copies(tmp_path, _conversation(2))
    kept = copy.stat().st_ino
    # Somebody wrote over what was there; it is not looked at again.
    copy.write_bytes(copy.read_bytes().replace(b"u0", b"U0"))
    await write_copies(tmp_path, _conversation(2))
    await write_copies(tmp_path, _conversation(5))

    assert _ids(copy) == ["U0", "u1", "u2", "u3", "u4"]
    assert copy.stat().st_ino == kept

    await write_copies(tmp_path, _conversation(5), anew=True)
    assert _ids(copy) == ["u0", "u1", "u2", "u3", "u4"]


def _conversation(length: int) -> WorkbenchState:
    state = WorkbenchState()
    state.said += [Said(f"u{n}", "user", "grüße", 1_763_750_000_000_000) for n in range(length)]
    return state


def _ids(copy: Path) -> list[str]:
    return [msgspec.json.decode(line)["message_id"] for line in copy.read_bytes().splitlines()]


async def test_a_copy_that_cannot_be_written_stops_nothing(opened: Opened) -> None:
    """The log is the authority; a copy is a courtesy."""
    async with opened(two_items) as rig:
        (rig.folder / "meta").write_text("in the way")

        assert (await rig.go()).summary == "All done."
