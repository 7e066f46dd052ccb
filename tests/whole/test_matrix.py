"""The matrix of hostile paths, messages and operation: each row asked of a daemon, or by its test.

`.venv/bin/pytest -s -m full tests/whole/test_matrix.py` prints it: row, input, answer, the seconds
that the answer took, the most memory that the daemon had meanwhile and by how much it grew, and the
most that a worker's call had.
"""

import ast
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest

from whole.matrix import ASKED, NUMBERS, TESTED
from whole.matrix_rig import MatrixRig, MatrixRow

pytestmark = [pytest.mark.full, pytest.mark.timeout(300)]

ROOT = Path(__file__).parents[2]


class _Answered(NamedTuple):
    """A row that was asked for."""

    row: MatrixRow
    answer: str
    seconds: float
    peak_mib: int
    growth_mib: int
    worker_mib: int


class _Table:
    """The rig, and the rows that were asked for."""

    def __init__(self, rig: MatrixRig) -> None:
        self.rig = rig
        self.answered: list[_Answered] = []

    def show(self) -> None:
        """Print the table, in the order of the list."""
        print(f"\n{'':5}{'input':42}{'answer':64}{'s':>8}  MiB       worker")
        order = {number: place for place, number in enumerate(NUMBERS)}
        for row, answer, seconds, peak, growth, worker in sorted(
            self.answered, key=lambda each: order[each.row.number]
        ):
            memory = f"{peak:5} {f'({growth:+})':8}{worker or '':>4}"
            print(f"{row.number:5}{row.shown[:41]:42}{answer[:63]:64}{seconds:8.3f}{memory}")
            if row.reason:
                print(f"{'':7}{row.reason}")
        for number, (shown, answer, named) in TESTED.items():
            print(f"{number:5}{shown[:41]:42}{answer:64}{named}")


@pytest.fixture(scope="module")
def table() -> Iterator[_Table]:
    """One daemon for most rows; when all are answered the table is printed."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="kbd-")))
        found = _Table(MatrixRig(folder, stack))
        yield found
    found.show()


@pytest.mark.parametrize("row", ASKED, ids=lambda row: f"{row.number} {row.shown}")
def test_a_row_is_answered_as_listed(table: _Table, row: MatrixRow) -> None:
    """The answer that is due, whatever the input, and the daemon answers the next one, too."""
    rig = table.rig
    pid = rig.wire.daemon.pid
    rig.worker_mib()
    rig.meter.begin(pid)
    began_s = time.monotonic()
    answer = row.ask(rig)
    seconds = time.monotonic() - began_s
    table.answered.append(_Answered(row, answer, seconds, *rig.meter.take(), rig.worker_mib()))
    assert answer == row.due
    assert rig.wire.ask("EngineGetInfo")["pid"] == pid


def test_every_row_has_a_fixture_or_a_test() -> None:
    """None is left out, none stands in both lists, and the tests that are named exist."""
    asked = {row.number for row in ASKED}
    assert asked | set(TESTED) == set(NUMBERS)
    assert not asked & set(TESTED)
    for number, (_, _, named) in TESTED.items():
        path, _, test = named.partition("::")
        tree = ast.parse((ROOT / path).read_text())
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
        tests = {each.name for each in tree.body if isinstance(each, kinds)}
        assert test in tests, (number, named)
