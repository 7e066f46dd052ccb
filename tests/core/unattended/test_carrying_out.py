"""Jobs: from what landed to an outcome, each once, whatever stops them on the way."""

from pathlib import Path

import pytest

from kbd.types import FileName
from supervised import files_in
from unattended_rig import BENCH, job, unattended, writes

pytestmark = pytest.mark.anyio


async def test_a_job_is_done_and_delivered(tmp_path: Path) -> None:
    """What landed is added, a run is made, published, and only its results are delivered."""
    out = tmp_path / "out"
    out.mkdir()
    wanted = job(tmp_path, publish="auto", deliver_to=str(out))
    async with unattended(tmp_path / "h", writes("made.txt")) as (running, labour):
        result = await labour.carry_out(wanted)

        assert result.outcome == "published", result
        bench = await running.benches.open(BENCH)
        assert (result.run_id, result.delivered) == (f"{BENCH}-1", (str(out / "made.txt"),))
        assert files_in(out) == {"made.txt": "made"}
        assert sorted(bench.state.files) == [FileName("in.txt"), FileName("made.txt")]
        assert bench.state.name == "reports: in.txt"
        assert await labour.carry_out(wanted) == result
        assert len(bench.state.runs) == 1
