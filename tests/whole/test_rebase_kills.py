"""kill -9 at every step of a rebase: the old draft whole, or the new one whole."""

from collections.abc import Sequence

import pytest

from backends import halved, on_trio
from whole.struck import ALL, PUBLISHED, SHOWN, Struck, struck
from wired import Wired

THEIRS = {"a.txt": "theirs\na\nend\n", "b.txt": "b\nmiddle\ntheirs\n", "c.txt": "c\n"}
OLD = {"a.txt": "a\nend, ours\n", "b.txt": "ours\nmiddle\nend\n", "n.txt": "n\n"}
NEW = {"a.txt": "theirs\na\nend, ours\n", "b.txt": "ours\nmiddle\ntheirs\n", "n.txt": "n\n"}


def _texts(bench: Wired, wb: str, folder: str) -> dict[str, str]:
    place = bench.published(wb).parent / folder
    return {path.name: path.read_text() for path in sorted(place.iterdir())}


def _rebase(daemon: Struck, step: int) -> bool:
    """Rebase a draft of two files that somebody changed, too, killed at a step; then publish."""
    bench = daemon.bench
    wb = bench.workbench(a__txt="a\nend\n", b__txt="b\nmiddle\nend\n", c__txt="c\n")
    bench.draft(wb, a__txt=OLD["a.txt"], b__txt=OLD["b.txt"], n__txt=OLD["n.txt"])
    for name, text in THEIRS.items():
        (bench.published(wb) / name).write_text(text)
    old_id = bench.ask("DraftGetState", workbench_id=wb)["draft_id"]
    is_killed = daemon.asked(step, "DraftRebase", workbench_id=wb)
    new_id = bench.ask("DraftGetState", workbench_id=wb)["draft_id"]
    # What somebody wrote is theirs at every moment, and draft/ says what the log says.
    assert _texts(bench, wb, "published") == THEIRS, step
    assert _texts(bench, wb, "draft") == (OLD if new_id == old_id else NEW), step
    kinds = [event["type"] for event in bench.daemon.events(wb)]
    assert kinds.count("FileAdopted") == (0 if new_id == old_id else 2), step
    assert kinds.count("DraftRebased") == (0 if new_id == old_id else 1), step
    if new_id == old_id:
        assert is_killed, step
        assert bench.ask("DraftRebase", workbench_id=wb)["conflicts"] == []
    bench.ask("DraftPublish", workbench_id=wb)
    assert _texts(bench, wb, "published") == {**THEIRS, **NEW}, step
    assert bench.ask("LogVerify", workbench_id=wb)["ok"]
    return is_killed


def _rebase_at_each(daemon: Struck, steps: Sequence[int]) -> int:
    """Return how many of the steps there were."""
    kills = 0
    for step in steps:
        if not _rebase(daemon, step):
            break
        kills += 1
    return kills


@on_trio
@halved
@pytest.mark.full
def test_a_rebase_survives_two_kills(anyio_backend: str) -> None:
    """Two kills: while what is published is copied in, and while its new versions are."""
    with struck(anyio_backend) as daemon:
        assert _rebase_at_each(daemon, (4, 20)) == 2


@pytest.mark.soak
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("steps", [PUBLISHED, SHOWN], ids=["disk", "shown"])
def test_a_rebase_survives_a_kill_at_each_step(anyio_backend: str, steps: str) -> None:
    """Before and after each write, sync and rename; and each file of draft/."""
    with struck(anyio_backend, steps) as daemon:
        kills = _rebase_at_each(daemon, ALL)
        print(f"{kills} kills")
        assert kills >= (20 if steps == PUBLISHED else 4)
