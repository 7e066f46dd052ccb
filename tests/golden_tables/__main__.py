"""Golden tables through kbd: `python -m golden_tables [LABEL…]` in `tests/`; the corpora with them.

Prints each case that is not right with its reason, then the outcomes by subject. KBD_CORPORA names
the folder of real files.
"""

import sys
import tempfile
from pathlib import Path

from golden_tables.collection import all_cases
from golden_tables.outcomes import failures, table
from golden_tables.workbench_reader import judged

if __name__ == "__main__":
    labels = tuple(sys.argv[1:])
    with tempfile.TemporaryDirectory() as work:
        chosen = (case for case in all_cases() if case.label.startswith(labels or ""))
        found = judged(chosen, Path(work))
    print("\n".join([*failures(found), "", table(found)]))
