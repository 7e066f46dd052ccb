"""Typed tables are made once for a content, bounded, and made again when they are gone."""

import os
from collections.abc import Callable, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import anyio
import duckdb
import pytest

from backends import on_asyncio
from kbd.errors import FileReadFailed
from kbd.testing.tools import Workbench
from kbd.tools import CallLimits, Tool
from kbd_csv import CsvFormat
from kbd_tables import cache, jobs, kbd_register_tools

pytestmark = [pytest.mark.anyio, on_asyncio, pytest.mark.full]


class SlowWorkbench(Workbench):
    """A workbench whose workers take a moment, and that counts the tables that they make."""

    made = 0
    fails = False

    async def isolate(
        self,
        function: Callable[..., Any],
        arguments: Mapping[str, Any],
        *,
        limits: CallLimits | None = None,
        with_program: bool = False,
    ) -> Any:
        """Wait and call a function."""
        await anyio.sleep(0.01)
        if function is jobs.load:
            self.made += 1
            if self.fails:
                raise FileReadFailed("the disk is gone")
        return await super().isolate(function, arguments, limits=limits, with_program=with_program)


@pytest.fixture
def workbench(tmp_path: Path) -> SlowWorkbench:
    return SlowWorkbench(tmp_path / "workbench", [CsvFormat()])


@pytest.fixture
def tools(workbench: SlowWorkbench) -> dict[str, Tool]:
    tools = kbd_register_tools({"cache_mb": 1}, workbench.formats)
    return {tool.name: tool for tool in tools}


def kept(workbench: Workbench) -> list[Path]:
    return sorted(workbench.files.cached("x").parent.glob("tables-*"))


async def test_calls_that_come_at_once_make_a_table_once(
    workbench: SlowWorkbench, tools: dict[str, Tool]
) -> None:
    """All are answered; where making it fails, each tries, and nothing stays behind."""
    workbench.add("a.csv", "n\n1\n2\n")

    async def count() -> None:
        found = await workbench.call(tools["table_get_map"], path="a.csv")
        assert found.value["row_count"] == 2

    async with anyio.create_task_group() as group:
        for _ in range(5):
            group.start_soon(count)
    assert workbench.made == 1
    workbench.add("a.csv", "n\n1\n2\n3\n")
    workbench.fails = True
    for _ in range(2):
        with pytest.raises(FileReadFailed):
            await count()
    workbench.fails = False
    assert (await workbench.call(tools["table_get_map"], path="a.csv")).value["row_count"] == 3


async def test_the_least_recently_used_go(workbench: SlowWorkbench, tools: dict[str, Tool]) -> None:
    """The tables of a workbench keep to a size; one that goes takes all its files along."""
    digits = "".join(f"{n * n * 7919 % 1_000_003}x{n}\n" for n in range(26_000))
    for name in ("a.csv", "b.csv", "c.csv"):
        workbench.add(name, f"{name}\n{digits}")
        await workbench.call(tools["table_get_map"], path=name)
        await workbench.call(tools["table_query"], path=name, query="FROM data", window_rows=1)
        # Used again, so that b.csv is the one that was not.
        await workbench.call(tools["table_get_map"], path="a.csv")
    sizes = [path.stat().st_size for path in kept(workbench)]
    assert 2 * max(sizes) < 1024 * 1024 < 3 * max(sizes)
    assert sum(sizes) <= 1024 * 1024
    names = {name: workbench.files.get(name).blob for name in ("a.csv", "b.csv", "c.csv")}
    there = {n: sum(blob in path.name for path in kept(workbench)) for n, blob in names.items()}
    assert there == {"a.csv": 3, "b.csv": 0, "c.csv": 3}
    assert workbench.made == 3
    await workbench.call(tools["table_get_map"], path="b.csv")
    assert workbench.made == 4


@pytest.mark.parametrize(
    "record", [b"", b"\xc1", b"\x80", b"\x81\xa7columns\x91\x81\xa4name\xa1\xff"]
)
async def test_a_damaged_record_is_made_anew(
    workbench: SlowWorkbench, tools: dict[str, Tool], record: bytes
) -> None:
    """Whatever stands in it: the call answers what the one before did."""
    workbench.add("a.csv", "n\n1\n2\n")
    call = {"path": "a.csv", "query": "SELECT n FROM data ORDER BY n"}
    first = (await workbench.call(tools["table_query"], **call)).value
    (damaged,) = (path for path in kept(workbench) if path.name.endswith(".record"))
    damaged.write_bytes(record)

    again = (await workbench.call(tools["table_query"], **call)).value

    assert again["rows"] == first["rows"] == [[1], [2]]
    assert workbench.made == 2


async def test_any_of_it_may_be_deleted(workbench: SlowWorkbench, tools: dict[str, Tool]) -> None:
    """Whichever file is gone, the next call answers what the one before did."""
    workbench.add("a.csv", "n\n1\n2\n")
    call = {"path": "a.csv", "query": "SELECT n FROM data ORDER BY n", "window_rows": 1}
    first = (await workbench.call(tools["table_query"], **call)).value
    assert len(kept(workbench)) == 3
    for gone in (*kept(workbench), None):
        for path in kept(workbench) if gone is None else [gone]:
            path.unlink()
        again = (await workbench.call(tools["table_query"], **call)).value
        assert (again["rows"], again["total_row_count"]) == (first["rows"], 2)


async def test_a_folder_that_could_not_be_listed_is_listed_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A disk that fails for a moment does not leave the engine unknown for as long as kbd runs."""

    def refuse(_folder: object = ".") -> list[str]:
        raise OSError(5, "Input/output error")

    cache._engine.cache_clear()  # Both ask once a process.
    metadata.MetadataPathFinder().invalidate_caches()
    with monkeypatch.context() as patch:
        patch.setattr(os, "listdir", refuse)
        with pytest.raises(metadata.PackageNotFoundError):
            cache._engine()
    assert cache._engine() == duckdb.__version__
