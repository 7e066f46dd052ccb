"""How tables are read, by kbd and by others: `python benchmarks/reading.py`, or `make bench`.

The golden tables of the tests, hard in the ways that real files are, and the files of the corpora,
if KBD_CORPORA names their folder, go through kbd's tools and through pandas, DuckDB, clevercsv and
polars with their defaults. One judge counts what is right, asked, refused, told, left as text
without a word, and silently wrong. Peers read the delimited files; sheets are read by kbd alone.
"""

import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

# The cases lie beside the tests, which are no installed package.
sys.path.append(str(Path(__file__).resolve().parent.parent / "tests"))

from benchmarks._measure import gate
from benchmarks._table_readers import READERS, read
from golden_tables.cases import Case
from golden_tables.collection import all_cases
from golden_tables.judge import OUTCOMES, Verdict, judge
from golden_tables.outcomes import failures, table
from golden_tables.workbench_reader import judged


def by_peer(name: str, found: Sequence[Case], folder: Path) -> list[Verdict]:
    """Judge a peer."""
    verdicts = []
    for case in found:
        path = folder / case.name
        path.write_bytes(case.content)
        verdicts.append(judge(case, read(name, path)))
    return verdicts


def line(name: str, verdicts: Sequence[Verdict]) -> str:
    """Return the outcomes of one reader."""
    counts = Counter(verdict.outcome for verdict in verdicts)
    return f"  {name:<26}{len(verdicts):>7}" + "".join(f"{counts[o]:>16}" for o in OUTCOMES)


def main() -> None:
    """Read, judge and print; exit with 1 if kbd is silently wrong anywhere."""
    found = all_cases()
    delimited = [case for case in found if not case.name.endswith((".xlsx", ".ods"))]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ours = judged(found, folder / "kbd")
        peers = {peer: by_peer(peer, delimited, folder) for peer in READERS}
    print(f"\nGolden tables: {len(found)} files, {len(delimited)} of them delimited")
    print(f"  {'':26}{'files':>7}" + "".join(f"{outcome:>16}" for outcome in OUTCOMES))
    print(line("kbd, all", ours))
    print(line("kbd", [verdict for verdict in ours if verdict.case in delimited]))
    for peer, verdicts in peers.items():
        print(line(peer, verdicts))
    print(f"\nkbd by subject\n{table(ours)}\n")
    print("\n".join(failures(ours)))
    wrong = sum(verdict.outcome == "silently wrong" for verdict in ours)
    sys.exit(0 if gate("kbd, silently wrong", wrong, most=0) else 1)


if __name__ == "__main__":
    main()
