"""Composition of what any job on one table has: computed columns, chosen rows. Pure."""

from collections.abc import Iterable, Sequence
from typing import Literal

from kbd.formats.records import SheetForm
from kbd.jobs.records import (
    DeduplicateStep,
    DeriveStep,
    FilterStep,
    SortKey,
    SortStep,
    TableStep,
)
from kbd_offline import expressions
from kbd_offline.clauses import Clauses, ConditionClause
from kbd_offline.composed_job import (
    MAX_SPELT,
    ComposedJob,
)
from kbd_offline.facts import KnownColumn
from kbd_offline.scan import RequestScan, UnclearError
from kbd_offline.time_rules import moment_of

__all__ = ["RowComposer"]


class RowComposer:
    """Steps of a job on one table, as they are put together."""

    def __init__(self, scan: RequestScan, clauses: Clauses) -> None:
        self._scan = scan
        self._clauses = clauses
        self._steps: list[TableStep] = []
        self._words: list[str] = []
        self._slugs: list[str] = []
        self._form = SheetForm()
        self._notes = list(clauses.notes)

    def _made(self, *, is_figures: bool, is_answer: bool = False) -> ComposedJob:
        return ComposedJob(
            tuple(self._steps), " ".join(self._words), "-".join(filter(None, self._slugs)),
            is_figures, is_answer, self._form, None, tuple(dict.fromkeys(self._notes)),
        )  # fmt: skip

    def _derive(self) -> None:
        made: dict[str, str] = {}
        for one in self._clauses.derived:
            if one.name in made:
                self._steps.append(DeriveStep(dict(made)))
                made.clear()
            made[one.name] = one.expression
        if made:
            self._steps.append(DeriveStep(made))

    def _filter(self, conditions: Sequence[ConditionClause]) -> None:
        if not conditions:
            return
        joints = {one.joint for one in conditions[1:]}
        if len(joints) > 1:
            raise UnclearError(
                "it has conditions with and, and others with or: ask for one after the other"
            )
        texts = [one.expression for one in conditions]
        is_any = joints == {"or"}
        where = expressions.alternatives(texts) if is_any else expressions.both(texts)
        self._steps.append(FilterStep(where, make="chosen"))
        joined = (" or " if is_any else " and ").join(one.text for one in conditions)
        self._where = f"where {joined}"
        self._slugs_of_filter = [one.slug for one in conditions]

    _where = ""

    _slugs_of_filter: Sequence[str] = ()

    def _end_words(self) -> None:
        if self._where:
            self._words.append(self._where)
        self._slugs += list(self._slugs_of_filter)

    def _deduplicate(self) -> None:
        dedupe = self._clauses.dedupe
        if dedupe is None:
            return
        keep: Literal["first", "last"] = "first" if dedupe.keep == "first" else "last"
        if dedupe.keep == "latest":
            column = moment_of(self._scan)
            self._steps.append(SortStep((SortKey(column.name),)))
        names = tuple(column.name for column in dedupe.columns)
        self._note_spellings(dedupe.columns or self._scan.table.columns)
        self._steps.append(DeduplicateStep(names, keep, exact=self._clauses.exact))

    def _note_spellings(self, columns: Iterable[KnownColumn]) -> None:
        """Note which values count as one although they differ in capitals."""
        if self._clauses.exact:
            return
        for column in columns:
            spellings: dict[str, list[str]] = {}
            for value in column.values if column.is_text else ():
                spellings.setdefault(value.casefold(), []).append(value)
            several = [sorted(one) for one in spellings.values() if len(one) > 1]
            for spelt in several[:MAX_SPELT]:
                shown = max(spelt, key=lambda one: column.values[one])
                *most, last = (f'"{one}"' for one in spelt)
                self._notes.append(
                    f"{', '.join(most)} and {last} count as one {column.name}"
                    f' ("{shown}"); say "exactly" to tell them apart'
                )
