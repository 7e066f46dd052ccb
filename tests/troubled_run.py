"""A run in which much goes wrong, for tests of what is told of it."""

from pathlib import Path

from agent_rig import call, item_of, open_rig, said, say, two_items
from kbd.core.audit.steps import Numbered
from kbd.core.domain.commands import DiscardDraft, RecordFacts
from kbd.events.base import Recorded
from kbd.events.runs import ToolCalled
from kbd.events.workbenches import ConsentGranted, UserMessageAdded
from kbd.providers import ModelReply, ModelRequest
from kbd.types import Phase, Seq


def troubled(request: ModelRequest) -> ModelReply:
    """Two items, of which the first succeeds at its second attempt and the second never does.

    Before that a tool is asked for that does not exist, and a file that is not there. The first
    item adds a third, which is done.
    """
    turn = said(request)
    if request.phase is Phase.RESEARCH and turn < 2:
        return call("no_such_tool" if turn else "rows", rows=1)
    if request.phase is Phase.IMPLEMENT:
        item = item_of(request)
        if item in {(1, 1), (2, 1), (2, 2)} and turn == 1:
            return ModelReply()
        if item == (1, 2) and turn == 1:
            return call("read_file", path="nowhere.txt")
        if item == (1, 2) and turn == 2:
            return say("wrote 1\n- [ ] 3. Three")
    return two_items(request)


async def whole_log(folder: Path) -> list[Numbered]:
    """Return a log: a run that is cut off inside a call and resumed, discarded; then another."""
    async with open_rig(folder / "first", troubled) as rig:
        await rig.go("write two files")
        records = [record for _, record in rig.records()]
    calls = [place for place, one in enumerate(records) if isinstance(one.data, ToolCalled)]
    (folder / "cut").mkdir()
    (folder / "cut" / "blobs").symlink_to(folder / "first" / "blobs")
    async with open_rig(folder / "cut", troubled, events=records[: calls[1] + 1]) as rig:
        await rig.go()
        await rig.keeper.submit(DiscardDraft())
        await rig.keeper.submit(RecordFacts((UserMessageAdded("u-2", "once more"),)))
        await rig.go()
        return rig.records()


def with_clients(log: list[Numbered]) -> list[Numbered]:
    """Return the same log as if a client had done something between any two events."""
    fact = ConsentGranted("offline", "offline:planner", "0" * 64)
    mixed = [one for _, record in log for one in (record, Recorded(1, fact, record.ts_us))]
    return [(Seq(seq), record) for seq, record in enumerate(mixed, 1)]
