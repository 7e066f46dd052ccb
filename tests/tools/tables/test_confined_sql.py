"""The attacks of the SQL box again, in workers under the full sandbox, and the memory they take."""

from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from kbd.core.plugins.confinement.layers import find_layers
from kbd.core.plugins.hooks import EntryPoint
from kbd.core.plugins.host import Plugins
from kbd.core.plugins.worker_pool import WorkerPool, function_name
from kbd.core.runtime.settings import Settings, WorkerLimits
from kbd.errors import KbdError, ToolTimeout, ValidationFailed
from kbd.testing.tools import Workbench
from kbd.tools import CallLimits
from kbd_csv import CsvFormat
from kbd_tables import kbd_register_tools
from kbd_tables.sandbox import _ENGINE_MB
from measured_pool import MeasuredPool
from tools.tables.sql_attacks import NAMED, READS, WRITES
from tools.tables.test_sql_box import GREEDY, ILL_FORMED, _filled, _untouched

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.full,
    pytest.mark.skipif(
        not all(layer.holds for layer in find_layers()), reason="this kernel has not all layers"
    ),
]

MIB = 1024 * 1024
MEMORY_MB = 256

HUGE = [
    "SELECT repeat('x', 2000000000)",
    "SELECT lpad('x', 1000000000, 'y')",
    "SELECT len(range(1000000000))",
    "SELECT list(i) FROM range(100000000) r(i)",
    "SELECT string_agg(i::VARCHAR, ',') FROM range(100000000) r(i)",
    "SELECT len(repeat(repeat('x', 100000), 100000))",
    "SELECT i, repeat('x', 1000000) FROM range(100000) r(i) ORDER BY 1",
]
"""Values and results that DuckDB's own limit does not see, or sees late."""


class ConfinedWorkbench(Workbench):
    """A workbench whose tools do their own work in workers under the full sandbox."""

    workers: WorkerPool

    async def isolate(
        self,
        function: Callable[..., Any],
        arguments: Mapping[str, Any],
        *,
        limits: CallLimits | None = None,
        with_program: bool = False,
    ) -> Any:
        """Call a function in a worker."""
        return await self.workers.call("tables", function_name(function), arguments, limits)


@pytest.fixture
async def workers(anyio_backend: str) -> AsyncIterator[MeasuredPool]:
    """Workers of the table tools, all layers required."""
    settings = Settings(workers=WorkerLimits(sandbox="required"))
    plugins = Plugins.discover(settings, found=[EntryPoint("tables", "kbd_tables")])
    async with MeasuredPool(plugins, settings) as running:
        yield running


@pytest.fixture
def anyio_backend() -> str:
    """The SQL runs in a worker: one backend shows what there is to see."""
    return "asyncio"


@pytest.fixture
def ask(tmp_path: Path, workers: MeasuredPool) -> Callable[..., Any]:
    """Ask for `table_<name>` of a small table, with a quarter of a gigabyte for a statement."""
    return _asking(tmp_path, workers, 3.0)


@pytest.fixture
def ask_patiently(tmp_path: Path, workers: MeasuredPool) -> Callable[..., Any]:
    """Ask likewise, with minutes for a statement: what ends it is not how busy the machine is."""
    return _asking(tmp_path, workers, 120.0)


def _asking(tmp_path: Path, workers: MeasuredPool, seconds: float) -> Callable[..., Any]:
    workbench = ConfinedWorkbench(tmp_path / "workbench", [CsvFormat()])
    workbench.workers = workers
    workbench.add("s.csv", "a,b\n1,x\n2,y\n")
    workbench.add("other.csv", "a,c\n1,9\n")
    settings = {"query_memory_mb": MEMORY_MB, "query_seconds": seconds}
    tools = {tool.name: tool for tool in kbd_register_tools(settings, workbench.formats)}

    async def call(name: str, **arguments: Any) -> Any:
        return (await workbench.call(tools[f"table_{name}"], **arguments)).value

    return call


@pytest.fixture
def places(tmp_path: Path) -> dict[str, Path]:
    """A secret beside the workbench, and places to write to."""
    secret = tmp_path / "secret.csv"
    secret.write_text("k\nTOPSECRET\n")
    parquet = tmp_path / "workbench" / "table"
    return {
        "secret": secret, "out": tmp_path / "out", "folder": tmp_path, "parquet": parquet,
        "cached": parquet,
    }  # fmt: skip


async def test_attacks_are_refused(ask: Callable[..., Any], places: dict[str, Path]) -> None:
    """Each is VALIDATION_FAILED as without the sandbox, and what reads still answers."""
    for attack in READS + WRITES + NAMED[::3] + ILL_FORMED:
        with pytest.raises(ValidationFailed) as caught:
            await ask("query", path="s.csv", query=_filled(attack, places))
        assert "TOPSECRET" not in caught.value.message, attack
    found = await ask("query", path="s.csv", query="SELECT * FROM data ORDER BY a")
    assert found["rows"] == [[1, "x"], [2, "y"]]
    _untouched({name: path for name, path in places.items() if name in ("secret", "folder")})


async def test_greedy_statements_take_the_memory_of_the_settings(
    ask: Callable[..., Any], workers: MeasuredPool
) -> None:
    """No statement has more than the settings name, beside the table and what the worker holds."""
    await ask("query", path="s.csv", query="SELECT 1")
    base = workers.peak_bytes
    for query in GREEDY + HUGE:
        workers.peak_bytes = 0
        try:
            await ask("query", path="s.csv", query=query)
            told = "answered"
        except KbdError as error:
            told = error.code
        more = (workers.peak_bytes - base) // MIB
        print(f"{query[:70]:<72} {told:<18} {more:>5} MiB more")
        assert told in {"answered", "TOOL_TIMEOUT", "VALIDATION_FAILED"}, query
        assert more <= MEMORY_MB + _ENGINE_MB, query
    assert (await ask("query", path="s.csv", query="SELECT 1"))["rows"] == [[1]]


async def test_a_statement_for_a_file_has_twice_the_memory(
    ask_patiently: Callable[..., Any],
) -> None:
    """Rows that fill a file are sorted where a window of the same statement has no room for it."""
    query = (
        "SELECT i, 'order of ' || hash(i) || ' by post' AS t, repeat('y', 40) || i AS u"
        " FROM range(2_000_000) AS r(i) ORDER BY t LIMIT 20_000"
    )
    with pytest.raises(ToolTimeout, match="needs more memory"):
        await ask_patiently("query", path="s.csv", query=query)
    given = {"path": "s.csv", "target_path": "out.csv", "format": "csv", "query": query}
    assert (await ask_patiently("export", **given))["row_count"] == 20_000
