"""Composition of a job out of the clauses of a request: its steps, in words and in order. Pure."""

import itertools
from collections.abc import Sequence

import msgspec

from kbd.jobs.records import (
    DeduplicateStep,
    FilterStep,
    PivotStep,
    RunningStep,
    SelectStep,
    ShareStep,
    SortKey,
    SortStep,
    TableStep,
    TopStep,
)
from kbd_offline import rank_checks
from kbd_offline.clauses import (
    Clauses,
    FigureClause,
    OrderClause,
    RankClause,
    count_of_rows,
    sum_of,
)
from kbd_offline.composed_job import ComposedJob, SplitPart, order_text, way_of
from kbd_offline.facts import KnownColumn
from kbd_offline.figure_composer import FigureComposer
from kbd_offline.group_composer import (
    GroupKey,
    Groups,
    counted,
    keys_of,
    money_of,
    resolve_figures,
    resolved,
)
from kbd_offline.names import fold, slug
from kbd_offline.rank_rules import first_rewritten, persons
from kbd_offline.scan import RequestScan, SeveralError, UnclearError, cued, extended, quoted

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
    """Check that a step uses whatever was named and asked for.

    Raises:
        UnclearError: None does: what is wanted of it was not understood.
    """
    if clauses.is_sorted and clauses.rank is None:
        raise UnclearError("it does not say what to sort by")
    parts = composed.split
    steps = (*composed.steps, *(parts.summary if parts else ()))
    text = msgspec.json.encode(steps).decode() + (parts.by if parts else "")
    named = [
        one.column.name for one in clauses.loose if not one.is_weak and not scan.is_noun(one.place)
    ]
    named += [column.name for column in clauses.selected]
    for name in (*named, *(new for _, new in clauses.renamed)):
        if msgspec.json.encode(name).decode()[1:-1] not in text:
            raise UnclearError(f'I do not see what "{name}" is for')
    down = [key.column for key in clauses.keys]
    is_across = bool(down) and any(key.column not in down for key in clauses.across)
    for what, is_asked, kinds in (
        ("first ones of an order", clauses.rank is not None, (TopStep,)),
        ("shares", clauses.share is not None, (ShareStep,)),
        ("running totals", clauses.running is not None, (RunningStep,)),
        ("an order", bool(clauses.order), (SortStep, TopStep)),
        ("columns of values", is_across, (PivotStep,)),
        ("rows that are there once", clauses.deduplicates, (DeduplicateStep,)),
        ("rows that are chosen", bool(clauses.conditions), (FilterStep,)),
    ):
        if is_asked and not any(isinstance(step, kinds) for step in steps):
            raise UnclearError(f"it asks for {what} beside something else: ask for one of them")


_NO_ROW = "it asks for what has no such row: I choose rows, one by one"


def _is_named(order: OrderClause) -> bool:
    """Tell whether an order says by what it is, and not its way alone."""
    return bool(order.column or order.figure or order.part)


def _repeats_rank(order: OrderClause, by: KnownColumn | None) -> bool:
    """Tell whether an order is by what is ranked by, and says no way of its own."""
    if order.descending is not None or order.part:
        return False
    named = order.figure.column if order.figure else order.column
    return named in (None, by)


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
            return self._duplicates(clauses.duplicates)
        if clauses.unique_list:
            return self._unique(clauses.unique_list)
        rank_checks.check_single(self._scan, clauses)
        self._take_loose_keys()
        clauses.rank = clauses.rank or self._who() or rank_checks.which_row(self._scan, clauses)
        rank_checks.take_spending(self._scan, clauses)
        if clauses.rank is not None and (found := self._ranked(clauses.rank)) is not None:
            return found
        figures = self._figures()
        if clauses.running is not None:
            return self._running(figures, clauses.running)
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
        spoken = [*clauses.selected, *(one.column for one in clauses.loose)]
        spoken += [one.column for one in clauses.order if one.column is not None]
        several = [one for one in spoken if one.is_text and one.distinct < scan.table.rows]
        if several and cued(scan, "ranks"):
            raise UnclearError(
                f'"{several[0].name}" has several rows each: say by which figure it is ranked'
            )

    def _check_none(self) -> None:
        """Check that "which countries have no open orders" is not taken for those with others.

        Raises:
            UnclearError: It asks for what has none, which no choice of rows tells.
        """
        is_negative = any(one.is_negative for one in self._clauses.conditions)
        if is_negative and cued(self._scan, "none"):
            raise UnclearError(_NO_ROW)

    def _who(self) -> RankClause | None:
        """Return the ranking that "who earns the most" asks for: whoever has the figure."""
        clauses, scan = self._clauses, self._scan
        if not clauses.is_who or clauses.keys or len(clauses.figures) != 1:
            return None
        (figure,) = resolve_figures(scan, clauses)
        if figure.function not in ("maximum", "minimum") or figure.column is None:
            return None
        people = [column for column in persons(scan) if not column.is_number]
        rows_are_people = any(
            one.is_text and one.distinct == scan.table.rows
            and (one in people or "name" in fold(one.name)) for one in scan.table.columns
        )  # fmt: skip
        if not people and not rows_are_people:
            raise UnclearError("it asks who, and I do not see which column says that")
        clauses.figures.clear()
        subject = people[0] if len(people) == 1 else None
        is_sum = subject is not None and figure.column.adds_up
        ranked = sum_of(figure.column, figure.place) if is_sum else None
        return RankClause(1, figure.function == "maximum", subject, figure.column, ranked)

    def _ranked(self, rank: RankClause) -> ComposedJob | None:
        """Return the first rows or groups of an order; None where figures of groups are ranked."""
        clauses, scan, subject = self._clauses, self._scan, rank.subject
        is_figure = clauses.figures or clauses.share is not None
        if subject is None and is_figure and clauses.keys:
            rank_checks.check_behind(clauses, rank)
            return None
        figure, numbers = rank.figure, clauses.amounts
        by, order = rank.by or (numbers[0].column if len(numbers) == 1 else None), clauses.order
        said = ""
        if clauses.figures and figure is None:
            figure = resolve_figures(scan, clauses)[0]
        if by is None and figure is None and order:
            by, figure, way = order[0].column, order[0].figure, order[0].descending
            if way is None and by is not None and (rank.is_plain or by.is_text):
                # "Sorted by name, the first 5": of an order that rises. Names have no largest ones.
                way = not rank.descending
                said = "last" if way else "first"
            rank = rank if way is None else msgspec.structs.replace(rank, descending=way)
            order = order[1:]
        rank_checks.check_day(scan, rank)
        rank_checks.check_groups(scan, clauses, rank)
        rank_checks.check_best(scan, clauses, rank, figure.column if figure is not None else by)
        if subject is not None and (figure is not None or subject.distinct < scan.table.rows):
            return self._ranked_groups(rank, subject, by, figure, order)
        if by is None:
            by = self._rank_default(rank)
            rank_checks.check_best(scan, clauses, rank, by)
        per = Groups(keys_of(scan, clauses.keys))
        self._add(*per.derived)
        self._first(rank, "rows", by.name, per, said)
        order = [one for one in order if not _repeats_rank(one, by)]
        named = [one if _is_named(one) else OrderClause(by, one.descending) for one in order]
        self._sort_first(rank, by.name, self._row_order(named))
        self._choose_columns()
        self._end_words()
        return self._made(is_figures=False)

    def _rank_default(self, rank: RankClause) -> KnownColumn:
        """Return what rows are ranked by where it is not said: the only amount that there is."""
        scan = self._scan
        if rank.is_plain:
            words = ("newest", "oldest", "top", "bottom")
            raise SeveralError(
                "it does not say in which order the first rows are meant",
                first_rewritten(scan, rank.place, words),
            )
        rank_checks.check_length(scan, rank)
        money, found = money_of(scan), scan.table.sums
        found = money if len(money) == 1 else found
        if len(found) == 1:
            return found[0]
        options = [extended(scan, f" by {quoted(column.name)}") for column in found[:4]]
        raise SeveralError("it does not say what is ranked by", options)

    def _ranked_groups(
        self, rank: RankClause, subject: KnownColumn, by: KnownColumn | None,
        figure: FigureClause | None, order: Sequence[OrderClause],
    ) -> ComposedJob:  # fmt: skip
        scan = self._scan
        if figure is None and by is not None:
            if not by.adds_up:
                first, name = f"{way_of(rank)} {rank.count}", quoted(by.name)
                raise SeveralError(
                    f'"{by.name}" does not add up, and "{subject.name}" has several rows each',
                    [f"{first} rows by {name}",
                     f"{first} {quoted(subject.name)} by average {name}"],
                )  # fmt: skip
            figure = sum_of(by, rank.place)
        if figure is None:
            sums = [quoted(column.name) for column in scan.table.sums[:3]]
            raise SeveralError(
                f'it does not say by what "{subject.name}" is ranked',
                [extended(scan, f" by {one}") for one in (*sums, "count of rows")],
            )
        own = GroupKey(subject.name, subject)
        per = [key for key in keys_of(scan, self._clauses.keys) if key.name != own.name]
        groups = Groups([*per, own], [resolved(scan, figure)])
        self._add(*groups.steps(exact=scan.is_exact))
        self._first(rank, subject.name, groups.headings[0], Groups(per))
        order = [one for one in order if not _repeats_rank(one, figure.column)]
        self._sort_first(rank, groups.headings[0], groups.order(order))
        self._end_words()
        return self._made(is_figures=True)

    def _first(self, rank: RankClause, what: str, by: str, per: Groups, said: str = "") -> None:
        """Add the first ones of each group; the only one is shared by those that are alike."""
        way = said or way_of(rank)
        first = f"{way} {rank.count}"
        of = f" of each {', '.join(per.names)}" if per.keys else ""
        thing = "" if what == "rows" else f"-{slug(what)}"
        name = f"{way}-{rank.count}{thing}-by-{slug(by)}{'-per-' * bool(of)}{per.slug}"
        top = TopStep(rank.count, (SortKey(by, rank.descending),), per.names, rank.count == 1)
        self._add(top, words=f"{first} {what} by {by}{of}", name=name)

    def _sort_first(self, rank: RankClause, by: str, order: Sequence[SortKey]) -> None:
        """Sort the first ones as asked, where that is another order than they are in."""
        if list(order) not in ([], [SortKey(by, rank.descending)]):
            self._sort(order, order_text(order))

    def _unique(self, columns: Sequence[KnownColumn]) -> ComposedJob:
        names = tuple(column.name for column in columns)
        self._different(names, f"different-{slug(' '.join(names))}")
        self._sort([SortKey(name) for name in names])
        self._end_words()
        return self._made(is_figures=False)

    def _different(self, names: tuple[str, ...], slug_text: str = "") -> None:
        """Add the different values of columns.

        Raises:
            UnclearError: It asks for "donors of 2025 that are not in 2026", who may have rows of
                both.
        """
        conditions = self._clauses.conditions
        denied = {one.columns[0].name for one in conditions if one.is_negative}
        if any(one.columns[0].name in denied for one in conditions if not one.is_negative):
            raise UnclearError(_NO_ROW)
        self._add(
            SelectStep(names), DeduplicateStep(names, exact=self._scan.is_exact),
            words=f"the different values of {', '.join(names)}", name=slug_text,
        )  # fmt: skip

    def _split(self) -> ComposedJob:
        clauses, scan = self._clauses, self._scan
        grouped = keys_of(scan, clauses.keys)
        keys = keys_of(scan, clauses.split_keys) or grouped
        if not keys:
            raise UnclearError("it does not say by which column to split")
        if len({key.name for key in (*keys, *grouped)}) > 1:
            raise UnclearError("a sheet is made for each value of one column, and it names several")
        key = keys[0]
        self._note_spellings([] if key.derived else [key.column])
        self._add(*Groups([key]).derived)
        order = self._row_order(clauses.order)
        self._sort(order)
        chosen = clauses.selected or [
            one for one in clauses.alone if not (clauses.figures and one.is_number)
        ]
        shown = tuple(dict.fromkeys(column.name for column in chosen))
        summary = self._summary(key, chosen)
        into = clauses.split or "sheets"
        words = f"one {into.removesuffix('s')} for each {key.name}"
        self._add(words=words, name=f"by-{slug(key.name)}")
        if shown:
            own = () if key.name in shown else (key.name,)
            self._add(SelectStep((*shown, *own)), words=f"with {', '.join(shown)}")
        self._add(words=order_text(order))
        self._add(words="and a sheet of totals" if summary else "")
        self._end_words()
        keeps = not key.derived and (not shown or key.name in shown)
        part = SplitPart(key.name, into, keeps, tuple(summary), self._form)
        made = self._made(is_figures=True, is_answer=False)
        return msgspec.structs.replace(made, split=part)

    def _summary(self, key: GroupKey, chosen: Sequence[KnownColumn]) -> list[TableStep]:
        """Return the steps of the sheet of totals: rows and sums by the key."""
        clauses, scan = self._clauses, self._scan
        if not (clauses.has_totals or clauses.figures):
            return []
        shown = chosen or scan.table.columns
        plain = [one for one in clauses.figures if one.column is None and not one.of_rows]
        named = [one for one in clauses.figures if one not in plain]
        figures = [resolved(scan, counted(scan, one)) for one in named]
        if not figures or any(one.function == "sum" for one in plain):
            figures += [sum_of(column) for column in shown if column.adds_up]
            self._note_unsummed(shown)
        figures += [resolved(scan, one) for one in plain if one.function != "sum"]
        others = [one for one in figures if not one.of_rows]
        groups = Groups([GroupKey(key.name, key.column)], [count_of_rows(), *others])
        self._add_totals(groups)
        return groups.steps(exact=scan.is_exact)

    def _rows(self) -> ComposedJob:
        clauses = self._clauses
        self._loose_columns()
        order = self._row_order(clauses.order)
        self._sort(order)
        self._check_ranked()
        if not (self._steps or clauses.selected or clauses.dropped or clauses.renamed):
            return ComposedJob((), "the whole table", "")
        if clauses.deduplicates:
            names = ", ".join(column.name for column in clauses.alike)
            of = f" by {names}" if names else ""
            words = f"the {clauses.keep} of the rows that are alike{of}"
            self._add(words=words, name="without-duplicates")
        elif not any(self._words):
            self._add(words="rows")
        self._add(words=" ".join(f"with {one.text}" for one in clauses.derived))
        if clauses.derived:
            only = slug(clauses.derived[0].name)
            self._slugs.append(only if len(clauses.derived) == 1 else "changed")
        self._end_words()
        is_other = clauses.deduplicates or self._where_slugs
        self._add(words=order_text(order), name="sorted" if order and not is_other else "")
        self._choose_columns()
        return self._made(is_figures=False)

    def _loose_columns(self) -> None:
        """Take columns that stand alone as those that are chosen."""
        clauses, scan = self._clauses, self._scan
        loose = clauses.alone
        if not loose or clauses.selected:
            clauses.selected += [one for one in loose if one not in clauses.selected]
            return
        ordered = {one.column.name for one in clauses.order if one.column is not None}
        loose = [column for column in loose if column.name not in ordered]
        rank_checks.check_persons(scan, clauses, loose)
        if len(loose) == 1 and not loose[0].is_number:
            (only,) = loose
            is_unique = only.distinct == scan.table.rows
            if is_unique and clauses.conditions and not clauses.nouns:
                # "Articles under 5" are rows: each is one.
                clauses.loose = []
                return
            if clauses.is_question and not is_unique:
                self._different((only.name,))
                return
            if clauses.conditions and not is_unique:
                place = next(one.place for one in clauses.loose if one.column == only)
                options = ("rows", f"unique list of {quoted(only.name)}")
                raise SeveralError(
                    f'it may ask for the rows, or for the different values of "{only.name}"',
                    [scan.rewritten(place, place + 1, one) for one in options],
                )
        self._check_list()
        clauses.selected += loose

    def _check_list(self) -> None:
        """Check that columns that stand alone are a list: "revenue category" is none.

        Raises:
            UnclearError: Two stand side by side.
        """
        places = [(one.place, one.column.name) for one in self._clauses.loose if not one.is_weak]
        for (first, one), (last, other) in itertools.pairwise(sorted(places)):
            between = range(first, last)
            if not any(self._scan.at(at, "and") or self._scan.is_sign(at) for at in between):
                raise UnclearError(f'I do not see how "{one}" and "{other}" go together')

    def _choose_columns(self) -> None:
        clauses = self._clauses
        chosen = tuple(dict.fromkeys(column.name for column in clauses.selected))
        without = tuple(dict.fromkeys(column.name for column in clauses.dropped))
        if chosen or without:
            made = [one.name for one in clauses.derived if chosen and one.name not in chosen]
            chosen = (*chosen, *made)
            names, is_named = ", ".join(chosen or without), any(self._slugs)
            words = f"with only {names}" if chosen else f"without the column {names}"
            name = slug(" ".join((*chosen, *("without " + one for one in without)))[:40])
            step = SelectStep(chosen, () if chosen else without)
            self._add(step, words=words, name="" if is_named else name)
        if clauses.renamed:
            told = ", ".join(f"{old} called {new}" for old, new in clauses.renamed)
            step = SelectStep(rename=dict(clauses.renamed))
            self._add(step, words=f"with {told}", name="renamed")
