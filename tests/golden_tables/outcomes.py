"""Outcomes of golden tables in words: how many a subject, and which are not right."""

from collections import Counter
from collections.abc import Sequence

from golden_tables.judge import OUTCOMES, Verdict

__all__ = ["failures", "table"]


def table(verdicts: Sequence[Verdict]) -> str:
    """Return the outcomes, a line a subject and one for all."""
    counts = Counter((verdict.case.subject, verdict.outcome) for verdict in verdicts)
    subjects = dict.fromkeys(verdict.case.subject for verdict in verdicts)
    lines = [f"{'':18}{'cases':>8}" + "".join(f"{outcome:>16}" for outcome in OUTCOMES)]
    for subject in subjects:
        found = [counts[subject, outcome] for outcome in OUTCOMES]
        lines.append(_line(subject, found))
    total = Counter(verdict.outcome for verdict in verdicts)
    lines.append(_line("all", [total[outcome] for outcome in OUTCOMES]))
    return "\n".join(lines)


def _line(name: str, counts: Sequence[int]) -> str:
    return f"{name:18}{sum(counts):8}" + "".join(f"{count:16}" for count in counts)


def failures(verdicts: Sequence[Verdict]) -> list[str]:
    """Return a line for each case that is neither right nor refused, the worst first."""
    told = [verdict for verdict in verdicts if verdict.outcome not in ("right", "refused")]
    told.sort(key=lambda verdict: -OUTCOMES.index(verdict.outcome))
    return [f"{each.outcome:15}{each.case.label}: {each.reason}" for each in told]
