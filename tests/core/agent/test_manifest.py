"""The files as a prompt shows them."""

import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import anyio
import msgspec
import pytest

from backends import on_asyncio, on_trio
from kbd.core.agent.manifest import MAP_BYTES, TEXT_BYTES, Manifest, listing_bytes
from kbd.core.agent.prompt_blocks import json_block
from kbd.core.plugins.format_calls import FileOverview
from kbd.errors import ContextExhausted, FileReadFailed, ToolWorkerUnavailable
from kbd.formats import (
    FormatHandler,
    Mappable,
    Passage,
    Readable,
    Reading,
    Region,
    Source,
)
from kbd.providers import ModelInfo
from kbd.testing.tools import Workbench
from kbd.tools import FileRef
from kbd.types import FileName

pytestmark = pytest.mark.anyio

ROOM = 128 * 1024


class Lined(FormatHandler, Mappable, Readable):
    """A format whose map is as long as its file."""

    name: ClassVar[str] = "lined"
    wire_name: ClassVar[str] = "Lined"
    kind: ClassVar[str] = "text"
    suffixes: ClassVar[Mapping[str, str]] = {".lined": "text/x-lined"}
    coordinates: ClassVar[tuple[str, ...]] = ("line_start",)

    def map(self, source: Source) -> dict[str, Any]:
        """Return the lines, or fail on an empty file."""
        text = source.path.read_text()
        if not text:
            raise FileReadFailed("it is empty")
        return {"line_count": text.count("\n") + 1, "lines": text.split("\n")}

    def read(self, source: Source, region: Region) -> Reading:
        """Return everything."""
        return Reading(source.path.read_text())

    def passages(self, source: Source) -> Iterator[Passage]:
        """Yield everything."""
        yield Passage(source.path.read_text(), "whole")


class Looked:
    """Formats that count how often they are asked, and may be slow or away."""

    def __init__(self, workbench: Workbench, slow: str = "") -> None:
        self._formats, self._slow = workbench.formats, slow
        self.asked: list[str] = []
        self.away = 0

    def for_name(self, name: str) -> FormatHandler | None:
        """Return the format of a file."""
        return self._formats.for_name(name)

    async def look(self, file: FileRef, text_bytes: int) -> FileOverview:
        """Return its map, and its text if it is short."""
        self.asked.append(file.name)
        if file.name == self._slow:
            await anyio.sleep_forever()
        if self.away:
            self.away -= 1
            return FileOverview(error=ToolWorkerUnavailable("it died"))
        try:
            structure = await self._formats.map(file)
        except FileReadFailed as error:
            return FileOverview(error=error)
        text = (await self._formats.read(file, Region())).text
        return FileOverview(structure, text if len(text.encode()) <= text_bytes else None)


def listed(listing: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The files of a listing as a model reads them."""
    text = json_block("files", listing).split("```json\n")[1].split("\n```")[0]
    files: list[dict[str, Any]] = msgspec.json.decode(text)["files"]
    return files


def size_of(listing: Mapping[str, Any]) -> int:
    """How much of a prompt it takes."""
    return len(json_block("files", listing).encode())


@pytest.fixture
def workbench(tmp_path: Path) -> Workbench:
    """An empty workbench with one format."""
    return Workbench(tmp_path, [Lined()])


@on_asyncio
async def test_every_file_is_listed_with_what_it_shows(workbench: Workbench) -> None:
    """Map and short text; a map that fails, or no format, leaves the reason."""
    workbench.add("a.lined", "one\ntwo")
    workbench.add("b.lined", "")
    workbench.add("c.lined", "x" * MAP_BYTES)
    workbench.add("d.unknown", "")

    listing = await Manifest().build(
        workbench.files, Looked(workbench), ROOM, context_items=["situation"]
    )
    a, b, c, d = listed(listing)

    assert a["map"] == {"line_count": 2, "lines": ["one", "two"]}
    assert a["text"] == "one\ntwo"
    assert b["reason"] == "it is empty"
    assert "get_file_map" in c["map_note"]
    assert c["map_summary"]["line_count"] == 1
    assert "map" not in c
    assert "text" not in c
    assert d["is_opaque"] is True
    assert d["reason"]
    assert [each["path"] for each in (a, b, c, d)] == list(workbench.files.names())
    assert listing["context_items"] == ["situation"]
    assert "note" not in listing


@on_trio
async def test_a_text_is_inlined_up_to_four_thousand_bytes(workbench: Workbench) -> None:
    """Bytes count, not characters."""
    workbench.add("a.lined", "é" * (TEXT_BYTES // 2))
    workbench.add("b.lined", "é" * (TEXT_BYTES // 2) + "x")

    a, b = listed(await Manifest().build(workbench.files, Looked(workbench), ROOM))

    assert a["text"] == "é" * 2000
    assert "text" not in b


@on_asyncio
async def test_a_light_listing_opens_no_file(workbench: Workbench) -> None:
    """The plan's listing has neither maps nor texts."""
    workbench.add("a.lined", "one")
    looked = Looked(workbench)

    (entry,) = listed(await Manifest().build(workbench.files, looked, ROOM, light=True))

    assert looked.asked == []
    assert entry.keys() == {"path", "kind", "size_bytes", "mime_type", "is_opaque"}


@on_trio
@pytest.mark.parametrize(
    ("files", "shown"),
    [(3, "text"), (5, "map"), (12, "map_summary"), (90, "kind"), (300, "path")],
)
async def test_it_stays_within_its_size_for_any_number(
    workbench: Workbench, files: int, shown: str
) -> None:
    """Texts go first, then maps, of which a summary stays, then all but names."""
    room = 10_000
    lines = "\n".join(f"line {n} of a file" for n in range(50))
    for n in range(files):
        workbench.add(f"{n:04}.lined", lines)

    listing = await Manifest().build(
        workbench.files, Looked(workbench), room, wanted="look at 0001.lined"
    )
    entries = listed(listing)

    assert len(entries) == files
    assert size_of(listing) <= room
    assert shown in entries[0]
    # What the request names is shortened last.
    assert "text" in entries[1]
    assert ("get_file_map" in listing.get("note", "")) == (files > 3)
    light = await Manifest().build(
        workbench.files, Looked(workbench), 2500 + 40 * files, light=True
    )
    # The plan has no tool for maps.
    assert "get_file_map" not in light.get("note", "")
    assert ("read_file" in light.get("note", "")) == (files > 12)


@on_asyncio
async def test_names_that_do_not_fit_are_an_error(workbench: Workbench) -> None:
    """It says how much is needed and what there is, and which setting helps."""
    for n in range(100):
        workbench.add(f"{n:03}.lined", "x")

    with pytest.raises(ContextExhausted) as refused:
        await Manifest().build(workbench.files, Looked(workbench), 2000)

    assert refused.value.detail["files"] == 100
    assert refused.value.detail["needed_bytes"] > refused.value.detail["room_bytes"]
    assert "run.manifest_bytes" in refused.value.message


async def test_what_is_known_is_not_looked_up_again(workbench: Workbench) -> None:
    """The next listing looks into what changed, and asks again where a worker was away."""
    for name in ("a.lined", "b.lined", "c.lined"):
        workbench.add(name, name)
    looked, listing = Looked(workbench), Manifest()
    await listing.build(workbench.files, looked, ROOM)
    workbench.add("b.lined", "changed")
    looked.away = 1

    _, before, _ = listed(await listing.build(workbench.files, looked, ROOM))
    _, after, _ = listed(await listing.build(workbench.files, looked, ROOM))

    assert sorted(looked.asked) == ["a.lined", "b.lined", "b.lined", "b.lined", "c.lined"]
    assert "not looked into yet" in before["map_note"]
    assert after["text"] == "changed"


async def test_a_map_that_takes_long_holds_nobody_up(workbench: Workbench) -> None:
    """It is left alone from then on; the other files are there."""
    for name in ("a.lined", "b.lined"):
        workbench.add(name, name)
    looked, listing = Looked(workbench, slow="a.lined"), Manifest(inspection_s=0.05)

    for _ in range(2):
        a, b = listed(await listing.build(workbench.files, looked, ROOM))
        assert "get_file_map" in a["map_note"]
        assert b["text"] == "b.lined"
    assert looked.asked.count("a.lined") == 1


@on_asyncio
async def test_no_name_and_no_content_closes_the_fence(workbench: Workbench) -> None:
    """Whatever stands in files: one fence, one block, and JSON that holds it all as it was."""
    chance = random.Random(7)
    pieces = [
        "</files>",
        "```",
        "\n```\n",
        "<item number='1'>",
        '"',
        "\\",
        "\u2028",
        "`",
        "<",
        "\n",
    ]
    texts = {}
    for n in range(60):
        name = (
            f"{n}" + "".join(chance.choices(["</files>"[:1], "`", "'", "{", "}"], k=4)) + ".lined"
        )
        texts[name] = "".join(chance.choices(pieces, k=12)) + "."
        workbench.add(name, texts[name])

    listing = await Manifest().build(workbench.files, Looked(workbench), ROOM)
    block = json_block("files", listing)

    assert block.count("```") == 2
    assert block.count("<") == 2
    assert {each["path"]: each["text"] for each in listed(listing)} == texts


def test_the_room_is_a_quarter_of_a_small_window() -> None:
    """And never more than the setting."""
    assert listing_bytes(ModelInfo("m", context_tokens=8000, bytes_per_token=4), ROOM) == 8000
    assert (
        listing_bytes(ModelInfo("m", context_tokens=8000, bytes_per_token=4), ROOM, 12_000) == 5000
    )
    assert listing_bytes(ModelInfo("m", context_tokens=1_000_000), ROOM) == ROOM


@on_asyncio
async def test_files_are_listed_in_the_order_that_is_given(workbench: Workbench) -> None:
    """Who adds files in an order means it; those that came otherwise follow, sorted."""
    for name in ("a.lined", "b.lined", "c.lined", "d.lined"):
        workbench.add(name, "one")
    order = [FileName("c.lined"), FileName("a.lined"), FileName("gone.lined")]

    listing = await Manifest().build(workbench.files, Looked(workbench), ROOM, order=order)

    paths = [each["path"] for each in listed(listing)]
    assert paths == ["c.lined", "a.lined", "b.lined", "d.lined"]
