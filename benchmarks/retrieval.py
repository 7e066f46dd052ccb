"""How well the search finds known answers: `python -m benchmarks.retrieval`, or `make bench`.

Recall at 1 and 5 and nDCG at 10 of words alone (BM25), meanings alone (the embedder of this
machine) and both, on each third of the questions and in all, over the files of the corpora in an
index of the engine's; plain reciprocal rank fusion stands beside as the peer. The half that the
form of the ranking was tuned on is told apart from the other; its figures were last set by all.
Gate: the hybrid is at least as good as the better of the two on every third, by every measure.

    python -m benchmarks.retrieval [FOLDER]    keeps the index in FOLDER, for the next run
"""

import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from benchmarks._questions import (
    CORPORA,
    KINDS,
    Question,
    QuestionSet,
    load,
    questions,
    shared_stems,
)
from benchmarks._retrieval import RANKERS, Measured, Searched, mean, searched
from kbd.core.search.engine import DOCUMENT_CHARACTERS
from kbd.core.search.local import LocalRuntime

Rows = Sequence[tuple[Question, dict[str, Measured]]]
PARTS: dict[str, Callable[[Question], bool]] = {
    "all": lambda question: bool(question.text),
    "tuned on": lambda question: not question.answer.held_out,
    "held out": lambda question: question.answer.held_out,
    "of these, written later": lambda question: question.answer.later,
}


def compare(title: str, rows: Rows) -> bool:
    """Print the means of each ranker; return whether the hybrid is as good as the better one."""
    print(f"\n{title}, {len(rows)} questions")
    means = {name: mean([found[name] for _, found in rows]) for name in RANKERS}
    for name, each in means.items():
        print(
            f"  {name:<12} recall@1 {each.recall_1:.3f}   recall@5 {each.recall_5:.3f}"
            f"   nDCG@10 {each.ndcg_10:.3f}"
        )
    best = [
        max(pair)
        for pair in zip(
            *(msgspec.structs.astuple(means[name]) for name in RANKERS[:2]), strict=True
        )
    ]
    ours = msgspec.structs.astuple(means["hybrid"])
    met = all(mine >= other - 1e-9 for mine, other in zip(ours, best, strict=True))
    print(f"  {'met   ' if met else 'MISSED'} hybrid at least as good as the better one")
    return met


def overlap(found: Searched, known: QuestionSet) -> None:
    """Print how many of their words questions share with the pieces that hold the answers."""
    asked = list(questions(known.answers))
    print("words of a question that its answer has, too (stems, without those that only bind):")
    for kind in KINDS:
        counts = [
            shared_stems(each.text, [found.pieces[key].text for key in found.relevant(known, each)])
            for each in asked
            if each.kind == kind
        ]
        spread = ", ".join(f"{times} x {count}" for count, times in sorted(Counter(counts).items()))
        print(f"  {kind:<12} mean {sum(counts) / len(counts):.2f}   {spread}")


def report(found: Searched, folder: Path) -> bool:
    """Print all tables; return whether the gate is met."""
    known = load()
    rows = list(found.measured(known, list(questions(known.answers))))
    print(f"{len(rows)} questions, {len(known.files)} files, {len(found.pieces)} pieces ({folder})")
    overlap(found, known)
    met = True
    for part, belongs in PARTS.items():
        some = [row for row in rows if belongs(row[0])]
        for kind in KINDS:
            is_met = compare(f"{part}: {kind}", [row for row in some if row[0].kind == kind])
            met = met and (is_met or part != "all")
        compare(f"{part}: all thirds", some)
    return met


def main() -> int:
    """Print how well each ranker finds; 1 if the hybrid is worse than one of the two."""
    if not CORPORA.is_dir():
        print("the corpora of real files are not beside the project")
        return 0
    work = LocalRuntime(DOCUMENT_CHARACTERS)
    embed, why = work.embedding()
    if embed is None:
        print(f"no embedder on this machine: {why or 'install kbd[semantic] and a model'}")
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(temporary)
        try:
            with searched(CORPORA, folder, load(), embed) as found:
                return 0 if report(found, folder) else 1
        finally:
            work.close()


if __name__ == "__main__":
    sys.exit(main())
