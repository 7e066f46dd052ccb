"""Tables of other programs' files through the real workers, which read them in the sandbox."""

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import ipc

from ods_books import ods_book, row, table, typed
from wired import Wired


@pytest.fixture(scope="module")
def environment() -> Mapping[str, str]:
    """Room for such files."""
    return {"KBD_LIMITS_FILE_BYTES": "1000000"}


@pytest.mark.full
def test_a_spreadsheet_and_an_arrow_file_are_joined(wire: Wired, tmp_path: Path) -> None:
    """Both are read in their workers, mapped, and answer in one statement."""
    rows = row("Item", "Stock") + row("Tea", typed("float", "1500", "1.500,00")) + row("Ham", 7)
    stock = ods_book(tmp_path / "stock.ods", table(rows=rows, name="Stock"))
    weights = tmp_path / "weights.arrow"
    # In runs, first, for whatever else is converted brings along what they need; and as polars
    # writes categories.
    words = pa.array(["Tea", "Ham"], pa.string_view())
    items = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.uint32()), words)
    packed = pa.table(
        {"Weight": pa.RunEndEncodedArray.from_arrays([1, 2], [1.5, 2.0]), "Item": items}
    )
    options = ipc.IpcWriteOptions(compression="zstd")
    with ipc.new_file(str(weights), packed.schema, options=options) as writer:
        writer.write_table(packed)
    workbench_id = wire.workbench()
    assert wire.add(workbench_id, stock, weights)

    for path in ("stock.ods", "weights.arrow"):
        found = wire.ask("TabularGetMap", workbench_id=workbench_id, path=path)
        assert (found["row_count"], found["column_count"]) == (2, 2)
    joined = 'SELECT Item, Stock * Weight FROM data JOIN "weights.arrow" USING (Item) ORDER BY Item'
    answer = wire.ask("TabularQuery", workbench_id=workbench_id, path="stock.ods", query=joined)
    assert answer["rows"] == [["Ham", 14.0], ["Tea", 2250.0]]
