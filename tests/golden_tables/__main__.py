"""Golden tables through kbd: `python -m golden_tables [LABEL…]` in `tests/`; the corpora with them.

Prints each case that is not right with its reason, then the outcomes by subject. KBD_CORPORA names
the folder of real files.
"""

import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import anyio

from golden_tables.collection import CASES
from golden_tables.corpus_tables import corpus_cases
from golden_tables.judge import Verdict
from golden_tables.outcomes import failures, table
from golden_tables.workbench_reader import WorkbenchReader


async def verdicts(labels: Sequence[str]) -> list[Verdict]:
    """Judge all cases, or those whose labels begin so."""
    folder = os.environ.get("KBD_CORPORA")
    cases = [*CASES, *(corpus_cases(Path(folder)) if folder else ())]
    chosen = [case for case in cases if not labels or case.label.startswith(tuple(labels))]
    with tempfile.TemporaryDirectory() as work:
        reader = WorkbenchReader(Path(work))
        return [await reader.verdict(case) for case in chosen]


if __name__ == "__main__":
    found = anyio.run(verdicts, sys.argv[1:])
    print("\n".join([*failures(found), "", table(found)]))
