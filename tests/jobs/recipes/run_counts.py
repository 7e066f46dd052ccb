"""Counts of runs of recipes: how many were right, refused by which guard, and wrong."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from jobs.recipes.recipe_rig import SAME, CaseRun, RunOutcome

__all__ = ["Done", "counted_lines", "guard_of"]

Done = tuple[CaseRun, RunOutcome]

_GUARDS = (
    (r"there is no column", "shape: a column is missing"),
    (r"holds .* and \w+ is needed", "shape: a column holds another kind of value"),
    (r"is new", "shape: a column is new"),
    (r"none fits", "shape: of several files none has the columns"),
    (r"files fit", "files: several fit"),
    (r"several sheets have the columns", "shape: several sheets have the columns"),
    (r"no sheet has the columns", "shape: no sheet has the columns"),
    (r"needs at least 1\b", "check: there is no row"),
    (r"holds no table|has no columns|no table in it", "file: there is no table in it"),
    (r"Figures wait for the answer|say it with read_as", "reading: an open question"),
    (r"read as empty", "doubt: cells that hold something are read as empty"),
    (r"in several currencies", "doubt: several currencies"),
    (r"figures alone", "doubt: a last row of figures alone"),
    (r"leave it out, or keep it|[Ii]s .* or .*\?", "doubt: an open question of the reading"),
    (r"there more than once", "check: a key is there more than once"),
    (r"is a text, and .* before", "step: two types in one column"),
    (r"is in none of", "step: there is nothing to replace"),
    (r"there is no file", "files: none fits"),
)


def guard_of(text: str) -> str:
    """Return the guard that a refusal names; the text itself of one that is not known."""
    found = (guard for pattern, guard in _GUARDS if re.search(pattern, text))
    return next(found, f"other: {text}")


def counted_lines(done: Iterable[Done]) -> list[str]:
    """Return the counts as lines of text."""
    made = [(run, outcome) for run, outcome in done if outcome.kind != "none"]
    kinds = Counter[str](outcome.kind for _, outcome in made)
    same = Counter[str](outcome.kind for run, outcome in made if run.change == SAME)
    guards = Counter(guard_of(outcome.text) for _, outcome in made if outcome.kind == "refused")
    recipes = len({run.case for run, _ in made})
    lines = [
        f"{len(made):,} runs of {recipes} recipes: {_said(kinds)}",
        f"of the same shape {sum(same.values()):,}: {_said(same)}",
        f"{'the next file':<36}{'runs':>6}{'right':>7}{'refused':>9}{'wrong':>7}",
    ]
    for change in dict.fromkeys(run.change for run, _ in made):
        some = Counter(outcome.kind for run, outcome in made if run.change == change)
        lines.append(
            f"{change:<36}{sum(some.values()):>6}{some['right']:>7}{some['refused']:>9}"
            f"{some['wrong']:>7}"
        )
    lines.append("refused by")
    lines += [f"{count:>6}  {guard}" for guard, count in guards.most_common()]
    return lines


def _said(kinds: Mapping[str, int]) -> str:
    return f"{kinds['right']:,} right, {kinds['refused']:,} refused, {kinds['wrong']:,} wrong"
