"""The story of a run: every event is told once, and what is told is what happened."""

from pathlib import Path

import pytest

from agent_rig import open_rig, two_items
from kbd.core.replay.moments import state_at, state_hash
from kbd.core.replay.span import span_of
from kbd.core.replay.story import told_of

pytestmark = pytest.mark.anyio


async def test_every_event_of_a_run_is_told_once(tmp_path: Path) -> None:
    """The steps of a run, and of every beginning of it, hold each event of its span just once."""
    async with open_rig(tmp_path, two_items) as rig:
        await rig.go("write two files")
        records = rig.records()
        hashes = state_hash(rig.state), state_hash(state_at(tmp_path / "log", rig.state.seq))

    assert hashes[0] == hashes[1]
    told = []
    for cut in range(len(records) + 1):
        span = span_of(1, records[:cut])
        told = told_of(1, span)
        assert sorted(seq for one in told for seq in one.seqs) == [seq for seq, _ in span]
        assert len(span) == (cut if cut >= 2 else 0)
    assert [one.step.seq for one in told] == sorted(one.step.seq for one in told)
