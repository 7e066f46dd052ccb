"""Warm-up of a process that waits for a call: cut short anywhere, it leaves nothing behind."""

import subprocess
import sys

CODE = """
import os

from kbd_tables.duck import READY
from kbd_tables.sandbox import warm_up


def left():
    there = "SELECT count(*) FROM duckdb_{0}() WHERE NOT internal"
    found = [READY.execute(there.format(kind)).fetchone()[0] for kind in ("views", "tables")]
    # Fails where a transaction is open.
    READY.execute("BEGIN TRANSACTION")
    READY.execute("ROLLBACK")
    return [*found, len(os.listdir("/proc/self/fd"))]


before, taken, cut = left(), 0, 0
while taken == cut:
    cut += 1
    steps = warm_up()
    taken = sum(1 for _ in zip(range(cut), steps))
    steps.close()
    assert left() == before, (cut, left(), before)
print(taken)
"""


def test_a_warm_up_that_is_cut_short_leaves_nothing_behind() -> None:
    """No view, no open transaction, no open file: after each of its steps, and after all."""
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 5
