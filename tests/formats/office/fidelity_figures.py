"""What came of edits of real files: a verdict on each, and the figures of many."""

from collections import Counter
from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

from judging_children import Trial

__all__ = ["Line", "Outcome", "Verdict"]

Outcome = Literal["exact", "loss", "corrupt", "refused", "unparseable", "no such place"]


class Verdict(NamedTuple):
    """What came of an edit.

    Args:
        outcome: exact is without any material difference.
        details: Reasons, or the first differences.
        minor: The kinds of the differences that are not material.
        cpu_s: Process time of the edit alone.
    """

    outcome: Outcome
    details: tuple[str, ...] = ()
    minor: tuple[str, ...] = ()
    cpu_s: float = 0


class Line:
    """What came of all trials of one kind; the first of what is tried is its file."""

    def __init__(self, trials: Iterable[Trial[Any, Verdict]] = ()) -> None:
        self.counts: Counter[str] = Counter()
        self.minor: Counter[str] = Counter()
        self.told: list[str] = []
        self.cpu_s = 0.0
        for trial in trials:
            self.take(trial)

    def take(self, trial: Trial[Any, Verdict]) -> None:
        """Count one trial."""
        verdict = trial.result
        outcome = verdict.outcome if verdict else trial.failure.partition(":")[0]
        self.counts[outcome] += 1
        if verdict:
            self.minor.update(verdict.minor)
            self.cpu_s += verdict.cpu_s
        if outcome not in ("exact", "unparseable", "no such place"):
            details = "; ".join(verdict.details) if verdict else trial.failure
            self.told.append(f"{outcome} {trial.item[0].name}: {details}")

    @property
    def editable(self) -> int:
        """How many files the judge could read and find a place in."""
        without = self.counts["unparseable"] + self.counts["no such place"]
        return self.counts.total() - without

    def shown(self, title: str) -> str:
        """A row of the table."""
        counts = self.counts
        rest = {key: count for key, count in counts.items() if key not in _NAMED}
        return (
            f"{title:28} {self.editable:5} files {counts['exact']:5} exact {counts['loss']:4} loss "
            f"{counts['corrupt']:3} corrupt {counts['refused']:4} refused, {self.cpu_s:6.1f} s; "
            f"{counts['unparseable']} unreadable, {counts['no such place']} without a place"
            f"{f', {rest}' if rest else ''}{f'; minor {dict(self.minor)}' if self.minor else ''}"
        )

    def check(self, *, is_exact: bool) -> None:
        """Nothing is lost and nothing corrupt; what is not edited is refused by name.

        Args:
            is_exact: Whether all else must be as it was to the byte, under the same names.
        """
        bad = [text for text in self.told if not text.startswith("refused")]

        assert bad == []
        assert self.counts["exact"] + self.counts["refused"] == self.editable
        assert not (is_exact and self.minor)


_NAMED = ("exact", "loss", "refused", "corrupt", "unparseable", "no such place")
