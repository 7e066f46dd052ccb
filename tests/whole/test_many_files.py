"""A workbench of 500 real files: what a model is shown of them stays small, and is soon made."""

import itertools
import random
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from model_server import Reply, phase_of, text
from wired import Wired, wired

pytestmark = [pytest.mark.corpora, pytest.mark.soak]

FILES = 500
ITEMS = 40
ROOM = 128 * 1024


@pytest.fixture
def wire() -> Iterator[Wired]:
    """A daemon that takes as many files."""
    more = {"KBD_LIMITS_FILES": str(FILES), "KBD_LIMITS_FILE_BYTES": "100000000"}
    with wired("asyncio", more=more) as running:
        yield running


def files_of(body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    """The size of the files' block of a request, and what is in it."""
    told = body["messages"][1]["content"]
    found = re.search(r"<files>\n```json\n(.*)\n```\n</files>", told)
    assert found is not None
    listing: dict[str, Any] = msgspec.json.decode(found[1])
    return len(found[0].encode()), listing


def test_five_hundred_files_stay_within_their_room(wire: Wired, corpora: Path) -> None:
    """Each is in every listing; the first takes its time, those of the items next to none."""
    paths = sorted(path for path in corpora.rglob("*") if path.is_file() and path.suffix != ".py")
    chosen = random.Random(1).sample(paths, FILES)
    asked: list[tuple[float, str]] = []

    def play(body: dict[str, Any]) -> Reply:
        asked.append((time.monotonic(), phase_of(body)))
        if phase_of(body) == "plan":
            lines = "\n".join(f"- [ ] {n}. Do part {n}" for n in range(1, ITEMS + 1))
            return text(f"# Execution Plan\n\n## Task\nmany\n\n## Items\n{lines}\n\n## Notes\n")
        return text("Done.")

    wire.script.instead = play
    workbench_id = wire.daemon.workbench(*chosen)
    began = time.monotonic()
    run = wire.daemon.run_prompt(workbench_id, "look at everything")

    assert run["status"] == "finished", run
    names = {path.name for path in chosen}
    for body in wire.script.requests[:-1]:
        size, listing = files_of(body)
        assert size <= ROOM
        assert {each["path"] for each in listing["files"]} == names
        assert phase_of(body) == "plan" or "get_file_map" in listing["note"]
    items = [at for at, phase in asked if phase == "implement"]
    gaps = [after - before for before, after in itertools.pairwise(items)]
    shown = [files_of(body)[0] for body in wire.script.requests[:3]]
    print(
        f"\n{FILES} files: research {shown[0]:,} bytes after {asked[0][0] - began:.1f} s,"
        f" plan {shown[1]:,}, an item {shown[2]:,};"
        f" an item each {1000 * sum(gaps) / len(gaps):.0f} ms,"
        f" of the first ten {100 * sum(gaps[:10]):.0f}, of the last {100 * sum(gaps[-10:]):.0f}"
    )
