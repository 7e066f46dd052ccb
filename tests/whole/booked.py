"""A daemon with the plugin for tests of formats, and what those tests ask of it."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from whole.books import install
from wired import Wired, wired

__all__ = ["ROWS", "book", "booked", "types_of"]

ROWS: dict[str, Any] = {"op": "rows", "sheet": "S", "rows": [[1]]}
"""An operation that gives a workbook a sheet."""


@contextmanager
def booked(backend: str) -> Iterator[Wired]:
    """Run daemon and model on one backend, with the plugin installed."""
    folder = Path(tempfile.mkdtemp(prefix="kbd-"))
    try:
        with wired(backend, install(folder)) as running:
            yield running
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def types_of(wire: Wired, workbench_id: str) -> list[str]:
    """The types of what is recorded, in order."""
    return [event["type"] for event in wire.daemon.events(workbench_id)]


def book(wire: Wired, workbench_id: str, name: str = "b.book", **more: Any) -> Any:
    """Make a workbook in the draft."""
    return wire.ask(
        "BookApplyOps", workbench_id=workbench_id, path=name, ops=[ROWS],
        **({"create_new": True} | more),
    )  # fmt: skip
