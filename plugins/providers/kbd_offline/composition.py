"""Composition of a job out of the clauses of a request: its steps, in words and in order. Pure."""

import itertools
from collections.abc import Sequence
from typing import Literal

import msgspec

from kbd.jobs.records import (
    DeduplicateStep,
    SelectStep,
    SortKey,
    SortStep,
    TableStep,
    TopStep,
)
from kbd_offline.clauses import Clauses, FigureClause, RankClause
from kbd_offline.composed_job import (
    ComposedJob,
    SplitPart,
    not_summed,
    order_keys_of_rows,
    order_text,
    resolved,
)
from kbd_offline.facts import KnownColumn
from kbd_offline.figure_composer import FigureComposer
from kbd_offline.group_composer import (
    GroupKey,
    counted,
    default_number,
    derive_keys,
    figure_of,
    group_steps,
    keys_of,
    resolve_figures,
)
from kbd_offline.names import fold, slug
from kbd_offline.rank_checks import (
    check_best,
    check_day,
    check_groups,
    check_length,
    check_persons,
    check_single,
    take_spending,
    which_row,
)
from kbd_offline.scan import RequestScan, SeveralError, UnclearError, quoted

__all__ = ["compose"]


def compose(scan: RequestScan, clauses: Clauses) -> ComposedJob:
    """Return the steps that clauses ask for.

    Raises:
        SeveralError: They have several readings.
        UnclearError: They have none.
    """
    composed = _Composer(scan, clauses).composed()
    _check_used(scan, clauses, composed)
    return composed


def _check_used(scan: RequestScan, clauses: Clauses, composed: ComposedJob) -> None:
    """Check that each column that was named is used by a step.

    Raises:
        UnclearError: One is not: what is wanted of it was not understood.
    """
    parts = composed.split
    steps = msgspec.json.encode((composed.steps, parts.summary if parts else ())).decode()
    steps += parts.by if parts else ""
    for column, place, weak in clauses.loose:
        name = msgspec.json.encode(column.name).decode()[1:-1]
        if not weak and name not in steps and not scan.is_noun(place):
            raise UnclearError(f'I do not see what "{column.name}" is for')


class _Composer(FigureComposer):
    """Steps of a job, of whatever it asks."""

    def composed(self) -> ComposedJob:
        clauses = self._clauses
        self._derive()
        late = self._share_condition()
        self._filter([one for one in clauses.conditions if one is not late])
        self._deduplicate()
        if clauses.is_question and not clauses.figures:
            self._check_none()
        if clauses.split or (clauses.split_keys and not clauses.figures):
            return self._split()
        if clauses.duplicates is not None:
            return self._duplicates(clauses.duplicates.columns)
        if clauses.unique_list:
            return self._unique(clauses.unique_list)
        check_single(self._scan, clauses)
        self._take_loose_keys()
        clauses.rank = clauses.rank or self._who() or which_row(self._scan, clauses)
        take_spending(self._scan, clauses)
        if clauses.rank is not None and (found := self._ranked(clauses.rank)) is not None:
            return found
        figures = self._figures()
        if clauses.running is not None:
            return self._running(figures)
        if figures:
            return self._grouped(figures, late)
        if clauses.keys or clauses.across:
            raise self._no_figure()
        return self._rows()

    def _check_ranked(self) -> None:
        """Check that "rank customers by amount" is not taken for rows in an order.

        Raises:
            UnclearError: What is ranked has several rows each.
        """
        clauses, scan = self._clauses, self._scan
        ranks = any(scan.word(at) in _RANKED for at in range(len(scan)))
        spoken = [*clauses.selected, *(column for column, _, _ in clauses.loose)]
        spoken += [one.column for one in clauses.order if one.column is not None]
        several = [c for c in spoken if c.is_text and c.distinct < scan.table.rows]
        if ranks and several:
            raise UnclearError(
                f'"{several[0].name}" has several rows each: say by which figure it is ranked'
            )

    def _check_none(self) -> None:
        """Check that "which countries have no open orders" is not taken for those with others.

        Raises:
            UnclearError: It asks for what has none, which no choice of rows tells.
        """
        scan = self._scan
        denied = any(scan.word(at) in _NONE for at in range(len(scan)))
        if denied and any(one.is_negative for one in self._clauses.conditions):
            raise UnclearError("it asks for what has no such row: I choose rows, one by one")

    def _who(self) -> RankClause | None:
        """Return the ranking that "who earns the most" asks for: whoever has the figure."""
        clauses, scan = self._clauses, self._scan
        if not clauses.is_who or clauses.keys or len(clauses.figures) != 1:
            return None
        (figure,) = resolve_figures(scan, clauses)
        if figure.function not in ("maximum", "minimum") or figure.column is None:
            return None
        people = [
            column for column in scan.table.columns
            if not column.is_number and scan.vocabulary.is_of(column, "person", "customer")
        ]  # fmt: skip
        rows_are_people = any(
            column.is_text and column.distinct == scan.table.rows
            and (scan.vocabulary.is_of(column, "person", "customer") or "name" in fold(column.name))
            for column in scan.table.columns
        )  # fmt: skip
        if not people and not rows_are_people:
            raise UnclearError("it asks who, and I do not see which column says that")
        clauses.figures.clear()
        subject = people[0] if len(people) == 1 else None
        is_sum = subject is not None and figure.column.adds_up
        ranked = FigureClause("sum", figure.column, place=figure.place) if is_sum else None
        return RankClause(1, figure.function == "maximum", subject, figure.column, ranked)

    def _ranked(self, rank: RankClause) -> ComposedJob | None:
        """Return the first rows or groups of an order; None where figures of groups are ranked."""
        clauses, scan = self._clauses, self._scan
        if rank.subject is None and (clauses.figures or clauses.share) and clauses.keys:
            return None
        subject = rank.subject
        figure = rank.figure
        numbers = [c for c, _, _ in clauses.loose if c.is_number and c.role != "id"]
        by = rank.by or (numbers[0] if len(numbers) == 1 else None)
        if clauses.figures and figure is None:
            figure = resolve_figures(scan, clauses)[0]
        if by is None and figure is None and clauses.order:
            by, figure = clauses.order[0].column, clauses.order[0].figure
            descending = clauses.order[0].descending
            rank = msgspec.structs.replace(
                rank, descending=rank.descending if descending is None else descending
            )
        check_day(scan, rank)
        check_groups(scan, clauses, rank)
        check_best(scan, clauses, rank, figure.column if figure is not None else by)
        if subject is not None and (figure is not None or subject.distinct < scan.table.rows):
            return self._ranked_groups(rank, subject, by, figure)
        if by is None:
            by = self._rank_default(rank)
            check_best(scan, clauses, rank, by)
        keys = keys_of(scan, clauses.keys)
        self._steps += derive_keys(keys)
        order = (SortKey(by.name, rank.descending),)
        per = tuple(key.name for key in keys)
        self._steps.append(TopStep(rank.count, order, per, rank.ties or rank.count == 1))
        self._rank_words(rank, "rows", by.name, keys)
        self._choose_columns()
        self._end_words()
        return self._made(is_figures=False, is_answer=clauses.is_question)

    def _rank_default(self, rank: RankClause) -> KnownColumn:
        """Return what rows are ranked by where it is not said: the only amount that there is."""
        if rank.is_plain:
            scan, at = self._scan, rank.place
            while not scan.at(at, "top", "bottom"):
                at += 1
            options = [
                scan.rewritten(at, at + 1, word) for word in ("newest", "oldest", "top", "bottom")
            ]
            raise SeveralError("it does not say in which order the first rows are meant", options)
        found = [column for column in self._scan.table.columns if column.adds_up]
        check_length(self._scan, rank)
        money = [c for c in self._scan.vocabulary.meaning("money", "revenue", "cost") if c.adds_up]
        found = money if len(money) == 1 else found
        if len(found) == 1:
            return found[0]
        request = self._scan.request.rstrip(" .?!")
        raise SeveralError(
            "it does not say what is ranked by",
            [f"{request} by {quoted(column.name)}" for column in found[:4]],
        )

    def _ranked_groups(
        self,
        rank: RankClause,
        subject: KnownColumn,
        by: KnownColumn | None,
        figure: FigureClause | None,
    ) -> ComposedJob:
        scan, clauses = self._scan, self._clauses
        if figure is None and by is not None:
            if not by.adds_up:
                way = "top" if rank.descending else "bottom"
                raise SeveralError(
                    f'"{by.name}" does not add up, and "{subject.name}" has several rows each',
                    [f"{way} {rank.count} rows by {quoted(by.name)}",
                     f"{way} {rank.count} {quoted(subject.name)} by average {quoted(by.name)}"],
                )  # fmt: skip
            figure = FigureClause("sum", by, place=rank.place)
        if figure is None:
            sums = [column for column in scan.table.columns if column.adds_up]
            request = scan.request.rstrip(" .?!")
            options = [f"{request} by {quoted(column.name)}" for column in sums[:3]]
            raise SeveralError(
                f'it does not say by what "{subject.name}" is ranked',
                [*options, f"{request} by count of rows"],
            )
        figure = resolved(scan, figure)
        per = keys_of(scan, clauses.keys)
        own = GroupKey(subject.name, subject)
        keys = [*(key for key in per if key.name != own.name), own]
        per = [key for key in per if key.name != own.name]
        self._steps += group_steps(clauses, keys, [figure])
        name = figure_of(figure, [key.name for key in keys]).name
        order = (SortKey(name, rank.descending),)
        self._steps.append(
            TopStep(rank.count, order, tuple(key.name for key in per), rank.ties or rank.count == 1)
        )
        self._rank_words(rank, subject.name, name, per)
        self._end_words()
        return self._made(is_figures=True, is_answer=clauses.is_question)

    def _rank_words(self, rank: RankClause, what: str, by: str, per: Sequence[GroupKey]) -> None:
        way = "top" if rank.descending else "bottom"
        of = f" of each {', '.join(key.name for key in per)}" if per else ""
        self._words.append(f"{way} {rank.count} {what} by {by}{of}")
        thing = "" if what == "rows" else f"-{slug(what)}"
        self._slugs.append(f"{way}-{rank.count}{thing}-by-{slug(by)}")
        if per:
            self._slugs.append(f"per-{'-'.join(slug(key.name) for key in per)}")

    def _unique(self, columns: Sequence[KnownColumn]) -> ComposedJob:
        names = tuple(column.name for column in columns)
        self._steps += [
            SelectStep(names), DeduplicateStep(names, exact=self._clauses.exact),
            SortStep(tuple(SortKey(name) for name in names)),
        ]  # fmt: skip
        self._words.append(f"the different values of {', '.join(names)}")
        self._slugs.append(f"different-{slug(' '.join(names))}")
        self._end_words()
        return self._made(is_figures=False, is_answer=self._clauses.is_question)

    def _split(self) -> ComposedJob:
        from_clauses = self._clauses
        clauses = from_clauses.split_keys or from_clauses.keys
        keys = keys_of(self._scan, clauses)
        if not keys:
            raise UnclearError("it does not say by which column to split")
        names = {key.name for key in (*keys, *keys_of(self._scan, from_clauses.keys))}
        if len(names) > 1:
            raise UnclearError("a sheet is made for each value of one column, and it names several")
        (key,) = keys[:1]
        self._note_spellings([] if key.derived else [key.column])
        self._steps += derive_keys(keys[:1])
        order = order_keys_of_rows(self._scan, from_clauses)
        if order:
            self._steps.append(SortStep(order))
        chosen = list(from_clauses.selected) or [
            c
            for c, _, weak in from_clauses.loose
            if not weak and not (from_clauses.figures and c.is_number)
        ]
        shown = tuple(dict.fromkeys(column.name for column in chosen))
        summary = self._summary(key, chosen)
        keeps = not key.derived and (not shown or key.name in shown)
        if shown:
            own = () if key.name in shown else (key.name,)
            self._steps.append(SelectStep((*shown, *own)))
        into: Literal["sheets", "files"] = "files" if from_clauses.split == "files" else "sheets"
        self._words.append(f"one {'file' if into == 'files' else 'sheet'} for each {key.name}")
        if shown:
            self._words.append(f"with {', '.join(shown)}")
        if order:
            self._words.append(order_text(order))
        if summary:
            self._words.append("and a sheet of totals")
        self._slugs.append(f"by-{slug(key.name)}")
        self._end_words()
        made = self._made(is_figures=True)
        part = SplitPart(key.name, into, keeps, tuple(summary), self._form)
        return msgspec.structs.replace(made, split=part)

    def _summary(self, key: GroupKey, chosen: Sequence[KnownColumn]) -> list[TableStep]:
        """Return the steps of the sheet of totals: rows and sums by the key."""
        clauses, scan = self._clauses, self._scan
        if not (clauses.has_summary or clauses.has_totals or clauses.figures):
            return []
        shown = chosen or scan.table.columns
        named = [one for one in clauses.figures if one.column is not None or one.of_rows]
        figures = [resolved(scan, counted(scan, one)) for one in named]
        plain = [one for one in clauses.figures if one.column is None and not one.of_rows]
        if not figures or any(one.function == "sum" for one in plain):
            figures += [FigureClause("sum", column, place=0) for column in shown if column.adds_up]
            self._notes += not_summed(shown)
        for one in plain:
            if one.function != "sum":
                figures.append(
                    msgspec.structs.replace(
                        one, column=default_number(scan, one.function, one.place)
                    )
                )
        count = FigureClause("count", of_rows=True, place=0)
        figures = [
            count,
            *(one for one in figures if not (one.of_rows and one.function == "count")),
        ]
        self._add_totals([key], figures)
        own = GroupKey(key.name, key.column)
        return group_steps(clauses, [own], figures)

    def _rows(self) -> ComposedJob:
        clauses, scan = self._clauses, self._scan
        self._loose_columns()
        order = order_keys_of_rows(scan, clauses)
        if order:
            self._steps.append(SortStep(order))
        self._check_ranked()
        if not (self._steps or clauses.selected or clauses.dropped or clauses.renamed):
            return ComposedJob((), "the whole table", "")
        dedupe = clauses.dedupe
        if dedupe is not None:
            of = (
                f" by {', '.join(column.name for column in dedupe.columns)}"
                if dedupe.columns
                else ""
            )
            self._words.append(f"the {dedupe.keep} of the rows that are alike{of}")
            self._slugs.append("without-duplicates")
        elif not self._words:
            self._words.append("rows")
        for one in clauses.derived:
            self._words.append(f"with {one.text}")
            self._slugs.append(slug(one.name) if len(clauses.derived) == 1 else "")
        if len(clauses.derived) > 1:
            self._slugs.append("changed")
        if self._where:
            self._words.append(self._where)
        self._slugs += list(self._slugs_of_filter)
        if order:
            self._words.append(order_text(order))
            self._slugs += [] if self._slugs_of_filter or dedupe else ["sorted"]
        self._choose_columns()
        answers = clauses.is_question
        return self._made(is_figures=False, is_answer=answers)

    def _loose_columns(self) -> None:
        """Take columns that stand alone as those that are chosen."""
        clauses = self._clauses
        loose = [column for column, _, weak in clauses.loose if not weak]
        if not loose or clauses.selected:
            clauses.selected += [c for c in loose if c not in clauses.selected]
            return
        ordered = {one.column.name for one in clauses.order if one.column is not None}
        loose = [column for column in loose if column.name not in ordered]
        check_persons(self._scan, clauses, loose)
        is_unique = bool(loose) and loose[0].distinct == self._scan.table.rows
        if is_unique and len(loose) == 1 and clauses.conditions and not clauses.nouns and (
            not loose[0].is_number
        ):  # fmt: skip
            # "Articles under 5" are rows: each is one.
            clauses.loose = []
            return
        if len(loose) == 1 and not loose[0].is_number and clauses.is_question and not is_unique:
            names = (loose[0].name,)
            self._steps += [SelectStep(names), DeduplicateStep(names, exact=clauses.exact)]
            self._words.append(f"the different values of {loose[0].name}")
            return
        if (
            len(loose) == 1
            and not is_unique
            and not clauses.is_question
            and not loose[0].is_number
            and clauses.conditions
        ):
            name = quoted(loose[0].name)
            where = self._scan.request.rstrip(" .?!")
            place = next(place for column, place, _ in clauses.loose if column == loose[0])
            raise SeveralError(
                f'it may ask for the rows, or for the different values of "{loose[0].name}"',
                [self._scan.rewritten(place, place + 1, "rows") if where else "",
                 self._scan.rewritten(place, place + 1, f"unique list of {name}")],
            )  # fmt: skip
        self._check_list()
        clauses.selected += loose

    def _check_list(self) -> None:
        """Check that columns that stand alone are a list: "revenue category" is none.

        Raises:
            UnclearError: Two stand side by side.
        """
        places = [(place, column.name) for column, place, weak in self._clauses.loose if not weak]
        for (first, one), (last, other) in itertools.pairwise(sorted(places)):
            between = range(first, last)
            if not any(self._scan.at(at, "and") or self._scan.is_sign(at) for at in between):
                raise UnclearError(f'I do not see how "{one}" and "{other}" go together')

    def _choose_columns(self) -> None:
        clauses = self._clauses
        if clauses.selected or clauses.dropped:
            chosen = tuple(dict.fromkeys(column.name for column in clauses.selected))
            without = tuple(dict.fromkeys(column.name for column in clauses.dropped))
            if chosen:
                made = [one.name for one in clauses.derived if one.name not in chosen]
                chosen = (*chosen, *made)
            self._steps.append(SelectStep(chosen, () if chosen else without))
            names = ", ".join(chosen or without)
            self._words.append(f"with only {names}" if chosen else f"without the column {names}")
            self._slugs.append(
                ""
                if self._slugs
                else slug(" ".join((*chosen, *("without " + n for n in without)))[:40])
            )
        if clauses.renamed:
            self._steps.append(SelectStep(rename=clauses.renamed))
            told = ", ".join(f"{old} called {new}" for old, new in clauses.renamed.items())
            self._words.append(f"with {told}")
            self._slugs.append("renamed")


_NONE = frozenset(["no", "never", "none", "kein", "keine", "keinen", "keiner", "nie"])
"""Words that deny all rows of something, and not each row alone."""

_RANKED = frozenset(["rank", "ranked", "ranking", "rangliste"])
