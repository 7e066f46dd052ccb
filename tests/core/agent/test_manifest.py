"""The files as a prompt shows them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest

from kbd.core.agent.manifest import MAP_BYTES, manifest, maps_budget
from kbd.errors import FileReadFailed
from kbd.formats import FormatHandler, Mappable, Source
from kbd.testing.tools import Workbench

pytestmark = pytest.mark.anyio


class Lined(FormatHandler, Mappable):
    """A format whose map is as long as its file."""

    name: ClassVar[str] = "lined"
    wire_name: ClassVar[str] = "Lined"
    kind: ClassVar[str] = "text"
    suffixes: ClassVar[Mapping[str, str]] = {".lined": "text/x-lined"}

    def map(self, source: Source) -> dict[str, Any]:
        """Return the lines, or fail on an empty file."""
        text = source.path.read_text()
        if not text:
            raise FileReadFailed("it is empty")
        return {"lines": text.split("\n")}


@pytest.fixture
def workbench(tmp_path: Path) -> Workbench:
    """Files that can be mapped, cannot, and are too large to be."""
    made = Workbench(tmp_path, [Lined()])
    made.add("a.lined", "one\ntwo")
    made.add("b.lined", "")
    made.add("c.lined", "x" * MAP_BYTES)
    made.add("d.unknown", "")
    return made


async def test_every_file_is_listed_with_its_map_or_the_reason(workbench: Workbench) -> None:
    """A map that fails or is too large leaves the file in the listing."""
    a, b, c, d = await manifest(workbench.files, workbench.formats, maps_budget(128_000))

    assert a["map"] == {"lines": ["one", "two"]}
    assert b["reason"] == "it is empty"
    assert "get_file_map" in c["map_note"]
    assert "map" not in c
    assert d["is_opaque"] is True
    assert [entry["path"] for entry in (a, b, c, d)] == list(workbench.files.names())


async def test_a_light_listing_has_no_maps(workbench: Workbench) -> None:
    """The plan's manifest opens no file."""
    entries = await manifest(workbench.files, workbench.formats, 0)

    assert all("map" not in entry and "map_note" not in entry for entry in entries)
    assert len(entries) == 4


async def test_all_maps_together_are_bounded(tmp_path: Path) -> None:
    """When the room is used up, the rest is asked for by tool."""
    workbench = Workbench(tmp_path, [Lined()])
    for n in range(30):
        workbench.add(f"{n:02}.lined", "y" * 4000)

    entries = await manifest(workbench.files, workbench.formats, maps_budget(40_000))

    mapped = [entry for entry in entries if "map" in entry]
    assert 5 <= len(mapped) <= 8
    assert entries[0] in mapped
    assert entries[-1]["map_note"] == "call get_file_map for its structure"
