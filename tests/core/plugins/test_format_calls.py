"""Formats called in workers: validated operations, typed answers, cached maps."""

import hashlib
import os
from pathlib import Path
from typing import Any

import pytest

from kbd.core.plugins import derived_cache
from kbd.core.plugins.catalog import Catalog
from kbd.core.plugins.format_calls import FileOverview, FormatCalls
from kbd.core.plugins.host import Plugins
from kbd.core.plugins.worker_pool import WorkerPool
from kbd.core.runtime.settings import Settings, WorkerLimits
from kbd.errors import FileReadFailed, ValidationFailed
from kbd.formats import AssetPick, Placement, ReadAs, Region
from kbd.tools import FileRef
from kbd.types import BlobHash, FileName

pytestmark = pytest.mark.anyio

PACKAGES = Path(__file__).with_name("packages")


def blob(folder: Path, text: str, name: str = "a.note") -> FileRef:
    """Put a text where a blob would lie."""
    digest = hashlib.sha256(text.encode()).hexdigest()
    path = folder / digest
    path.write_text(text)
    return FileRef(FileName(name), BlobHash(digest), len(text), path)


@pytest.fixture
def workers(loose_workers: WorkerPool) -> WorkerPool:
    """Workers whose calls may mark what they did beside the file, which no sandbox lets them."""
    return loose_workers


@pytest.fixture
def formats(
    faulty: Plugins, workers: WorkerPool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> FormatCalls:
    """The one format of the plugin for tests, to which no file is too small for the disk."""
    monkeypatch.setattr(derived_cache, "TINY_BYTES", 0)
    return FormatCalls(Catalog(faulty), workers, tmp_path / "cache")


async def test_a_handler_is_called_with_its_settings(formats: FormatCalls, tmp_path: Path) -> None:
    """The worker's handler is made by the plugin's hook from the plugin's own table."""
    assert await formats.info(blob(tmp_path, "abc")) == {"length": 3, "motto": "slow and steady"}


async def test_a_region_is_read(formats: FormatCalls, tmp_path: Path) -> None:
    """Coordinates go there as given, and those of other formats are refused."""
    file = blob(tmp_path, "one\ntwo")
    assert (await formats.read(file, Region(line_start=2))).text == "two"
    with pytest.raises(ValidationFailed, match=r"sheet cannot be used .* line_start"):
        await formats.read(file, Region(sheet="S"))


async def test_a_parsers_fault_names_the_file_and_no_path(
    formats: FormatCalls, tmp_path: Path
) -> None:
    """What a library raises is FILE_READ_FAILED, without folders and trace."""
    with pytest.raises(FileReadFailed, match="note failed with RuntimeError: bad magic") as raised:
        await formats.read(blob(tmp_path, "broken"), Region())

    assert str(tmp_path) not in raised.value.message


async def test_a_map_is_made_once(
    formats: FormatCalls, faulty: Plugins, workers: WorkerPool, tmp_path: Path
) -> None:
    """It is kept in memory and on disk; a caller who changes it changes nobody else's."""
    file = blob(tmp_path, "one\ntwo")
    first = await formats.map(file)
    first["lines"].append("mine")
    again = FormatCalls(Catalog(faulty), workers, tmp_path / "cache")

    assert await formats.map(file) == {"lines": ["one", "two"]}
    assert await again.map(file) == {"lines": ["one", "two"]}
    assert file.path.with_suffix(".mapped").read_text() == "x"


async def test_what_is_derived_from_a_tiny_file_is_kept_in_memory(
    faulty: Plugins, workers: WorkerPool, tmp_path: Path
) -> None:
    """Nothing of it comes to the disk, no shelf either; it is made once all the same."""
    formats = FormatCalls(Catalog(faulty), workers, tmp_path / "cache")
    file, page = blob(tmp_path, "one\ntwo"), blob(tmp_path, "x" * 4096)
    for _ in range(2):
        assert await formats.map(file) == {"lines": ["one", "two"]}
    assert (await formats.cells(page, Region())).rows is None
    assert not (tmp_path / "cache").exists()
    assert file.path.with_suffix(".mapped").read_text() == "x"
    await formats.map(blob(tmp_path, "x" * 4097))
    assert [path.name[:4] for path in (tmp_path / "cache").glob("map*")] == ["map-"]


async def test_a_look_finds_map_and_short_text_at_once(
    formats: FormatCalls, faulty: Plugins, workers: WorkerPool, tmp_path: Path
) -> None:
    """Both are kept, and that a text is too long; a map that is known is not made again."""
    short, long = blob(tmp_path, "é" * 5), blob(tmp_path, "é" * 6)
    await formats.map(long)
    for asked in (formats, FormatCalls(Catalog(faulty), workers, tmp_path / "cache")):
        assert await asked.look(short, 11) == FileOverview({"lines": ["é" * 5]}, "é" * 5 + "\n")
        assert await asked.look(long, 11) == FileOverview({"lines": ["é" * 6]})
        short.path.unlink(missing_ok=True)
        long.path.unlink(missing_ok=True)
    assert short.path.with_suffix(".mapped").read_text() == "x"


async def test_a_look_says_what_failed(formats: FormatCalls, tmp_path: Path) -> None:
    """Without a text that fails, the map is there all the same."""
    look = await formats.look(blob(tmp_path, "torn"), 100)

    assert look.structure == {"lines": ["torn"]}
    assert "no end" in (look.error.message if look.error else "")
    opaque = await formats.look(blob(tmp_path, "x", "a.unknown"), 100)
    assert opaque.error is not None


async def test_a_damaged_cache_is_made_anew(formats: FormatCalls, tmp_path: Path) -> None:
    """A cache is never believed more than the file."""
    file = blob(tmp_path, "one")
    await formats.map(file)
    for kept in (tmp_path / "cache").glob("map-*"):
        kept.write_bytes(b"\xc1")
    formats._derived.clear()

    assert await formats.map(file) == {"lines": ["one"]}


async def test_a_shelf_belongs_to_a_content(
    formats: FormatCalls, faulty: Plugins, workers: WorkerPool, tmp_path: Path
) -> None:
    """The same bytes have it again under any name; other bytes, and no cache, do not."""
    none = FormatCalls(Catalog(faulty), workers)
    found = [
        await formats.cells(blob(tmp_path, "one"), Region()),
        await formats.cells(blob(tmp_path, "one", "b.note"), Region()),
        await formats.cells(blob(tmp_path, "two"), Region()),
        await none.cells(blob(tmp_path, "one"), Region()),
    ]

    assert [reading.rows for reading in found] == [(("x",),), (("xx",),), (("x",),), None]


async def test_operations_are_applied(formats: FormatCalls, tmp_path: Path) -> None:
    """They reach the handler as its own records, and its answer comes back typed."""
    operations: list[Any] = [{"op": "put", "text": "ha", "times": 2}, {"op": "put", "text": "!"}]
    target = tmp_path / "target"
    done = await formats.apply(formats.handlers()[0], blob(tmp_path, "> "), operations, target)

    assert target.read_text() == "> haha!"
    assert (done.applied, done.changed) == (2, ("Put", "Put"))


async def test_open_results_are_worked_out(formats: FormatCalls, tmp_path: Path) -> None:
    """After an edit, at the call's time, into the file; at no time, and of nothing open, not."""
    handler, target = formats.handlers()[0], tmp_path / "target"
    done = await formats.at(7).apply(handler, None, [{"op": "put", "text": "sum"}], target)

    assert (target.read_text(), done.results) == ("sum=7", ("sum = 7",))
    assert done.result_warnings == ("(('note', 'sum'),)",)
    for timed, text in ((formats, "sum"), (formats.at(7), "none")):
        target.unlink()
        done = await timed.apply(handler, None, [{"op": "put", "text": text}], target)
        assert (target.read_text(), done.results, done.result_warnings) == (text, (), ())
    assert os.listdir(tmp_path) == ["target"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("exit 3 sum", "Results of formulas were not worked out here"),
        ("memory sum", "Results of formulas were not worked out here"),
        ("sum of nothing", "nothing is known"),
    ],
)
async def test_an_edit_stands_without_its_results(
    formats: FormatCalls, tmp_path: Path, text: str, told: str
) -> None:
    """A calculation that dies, does not end or knows nothing costs the results, and says so."""
    handler, target = formats.handlers()[0], tmp_path / "target"
    done = await formats.at(7).apply(handler, None, [{"op": "put", "text": text}], target)

    assert target.read_text() == text
    assert [warning.startswith(told) for warning in done.result_warnings] == [True]
    assert str(tmp_path) not in "".join(done.result_warnings)


async def test_an_edit_stands_though_a_calculation_does_not_end(
    faulty: Plugins, tmp_path: Path
) -> None:
    """It is ended at its call's limit, which does not take the edit along."""
    settings = Settings(workers=WorkerLimits(sandbox="off", cpu_s=1))
    target = tmp_path / "target"
    async with WorkerPool(faulty, settings, extra_paths=[PACKAGES]) as workers:
        formats = FormatCalls(Catalog(faulty), workers, tmp_path / "cache").at(7)
        spin = [{"op": "put", "text": "spin sum"}]
        done = await formats.apply(formats.handlers()[0], None, spin, target)

    assert target.read_text() == "spin sum"
    (told,) = done.result_warnings
    assert told.startswith("Results of formulas were not worked out here")


async def test_a_field_may_have_another_name(formats: FormatCalls, tmp_path: Path) -> None:
    """An alias of the handler's is taken for the field, but never for a field of its own name."""
    operations: list[Any] = [
        {"op": "put", "words": "ha", "times": 2},
        {"op": "put", "text": "!", "times": 1},
    ]
    target = tmp_path / "target"
    await formats.apply(formats.handlers()[0], None, operations, target)

    assert target.read_text() == "haha!"


@pytest.mark.parametrize(
    ("operation", "told"),
    [
        ({"op": "putt"}, r"operations\[1\].op: there is no operation putt; .*put, wipe.* mean put"),
        ({"op": "put"}, r"operations\[1\] \(put\): .*missing required field `text`"),
        ({"op": "put", "text": 5}, r"operations\[1\].text \(put\): expected `str`, got `int`"),
        ({"op": "put", "text": "", "size": 5}, "unknown field `size`"),
        ({"op": "put", "text": "", "words": ""}, "unknown field `words`"),
        ({"op": "wipe", "words": ""}, "unknown field `words`"),
        ({"text": "x"}, r"operations\[1\]: an operation is an object with `op`"),
        ("put", r"operations\[1\]: an operation is an object with `op`"),
        ({"op": "put", "text": "forbidden"}, "that is forbidden"),
    ],
)
async def test_a_bad_operation_is_refused(
    formats: FormatCalls, tmp_path: Path, operation: Any, told: str
) -> None:
    """The message has its place; nothing is written."""
    operations: list[Any] = [{"op": "wipe"}, operation]
    target = tmp_path / "target"
    with pytest.raises(ValidationFailed, match=told):
        await formats.apply(formats.handlers()[0], None, operations, target)

    assert not target.exists()


async def test_a_format_without_styles_has_none_to_tell(
    formats: FormatCalls, tmp_path: Path
) -> None:
    """It is refused in words before a worker is asked; nothing is written."""
    file, target = blob(tmp_path, "x"), tmp_path / "target"
    with pytest.raises(ValidationFailed, match=r"a\.note cannot tell its styles"):
        await formats.get_styles(file, None)
    with pytest.raises(ValidationFailed, match=r"a\.note cannot be read by objects"):
        await formats.objects(file, Region())
    with pytest.raises(ValidationFailed, match=r"a\.note cannot be shown as a picture"):
        await formats.preview(file, 0, 100)
    with pytest.raises(ValidationFailed, match=r"a\.note cannot give styles or media"):
        await formats.copy_assets(file, None, (AssetPick("style:A"),), target)

    assert not target.exists()


async def test_all_text_comes_in_parts(formats: FormatCalls, tmp_path: Path) -> None:
    """A worker sends no more than is asked for, and where to go on."""
    file = blob(tmp_path, "one\ntwo")
    first = await formats.extract(file, Region(), 0, 0, 5)
    assert first.following is not None
    rest = await formats.extract(file, Region(), *first.following, 100)

    assert (len(first.text), first.text + rest.text, rest.following) == (5, "one\ntwo\n", None)


async def test_a_regions_text_comes_in_parts(formats: FormatCalls, tmp_path: Path) -> None:
    """A region is one passage, cut as all text is; coordinates of other formats are refused."""
    file = blob(tmp_path, "one\ntwo\nthree")
    first = await formats.extract(file, Region(line_start=3), 0, 0, 2)
    assert first.following is not None
    rest = await formats.extract(file, Region(line_start=3), *first.following, 100)

    assert (first.text + rest.text, len(first.places)) == ("three\n", 1)
    with pytest.raises(ValidationFailed, match="sheet cannot be used"):
        await formats.extract(file, Region(sheet="S"), 0, 0, 2)


async def test_tables(formats: FormatCalls, tmp_path: Path) -> None:
    """Rows are written; an answer that is no table is the plugin's fault, in words."""
    rows = tmp_path / "rows"
    rows.write_bytes(b"12345")
    target = tmp_path / "target"
    written = await formats.write_table(formats.handlers()[0], None, rows, Placement(), target)

    assert (written.written_range, target.read_text()) == ("Sheet1!A1", "5")
    with pytest.raises(FileReadFailed, match="ill-formed"):
        await formats.read_table(blob(tmp_path, "x"), None, ReadAs(), target)


async def test_an_unknown_type_of_file_cannot_be_looked_into(
    formats: FormatCalls, tmp_path: Path
) -> None:
    """It is refused with the reason; its information is what kbd knows by itself."""
    file = blob(tmp_path, "x", "a.strange")
    assert await formats.info(file) == {}
    with pytest.raises(ValidationFailed, match="no installed format"):
        await formats.map(file)
