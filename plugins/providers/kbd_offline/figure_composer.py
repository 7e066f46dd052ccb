"""Composition of figures: groups, shares, columns across, running totals. Pure."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from kbd.jobs.records import (
    FilterStep,
    PivotStep,
    RunningStep,
    ShareStep,
    SortKey,
    SortStep,
    TopStep,
)
from kbd_offline import expressions
from kbd_offline.clauses import ConditionClause, FigureClause
from kbd_offline.composed_job import (
    ComposedJob,
    keys_from,
    order_keys_of_rows,
    order_text,
    resolved,
)
from kbd_offline.facts import KnownColumn
from kbd_offline.group_composer import (
    GroupKey,
    default_number,
    derive_keys,
    figure_of,
    figure_text,
    group_steps,
    keys_of,
    order_keys,
    resolve_figures,
)
from kbd_offline.names import slug
from kbd_offline.rank_checks import check_average
from kbd_offline.row_composer import RowComposer
from kbd_offline.scan import SeveralError, UnclearError, quoted
from kbd_offline.time_rules import moment_of

__all__ = ["FigureComposer"]


class FigureComposer(RowComposer):
    """Steps of figures."""

    def _share_condition(self) -> ConditionClause | None:
        """Return the condition that a share is of: that of the cancelled among all."""
        clauses = self._clauses
        if clauses.share is None or clauses.keys or clauses.split:
            return None
        valued = [one for one in clauses.conditions if one.values and not one.is_negative]
        if len(valued) != 1:
            raise UnclearError("it does not say what shares are of: by which column?")
        return valued[0]

    def _take_loose_keys(self) -> None:
        """Take columns of texts that stand alone beside figures for what is grouped by."""
        clauses = self._clauses
        texts = [
            c
            for c, _, weak in clauses.loose
            if not weak and (not c.is_number or c.role == "id") and not c.is_moment
        ]
        if clauses.having and not clauses.keys and texts:
            clauses.keys = keys_from(texts[:1])
            return
        if clauses.is_pivot and not clauses.keys and texts:
            clauses.keys = keys_from(texts)

    def _figures(self) -> list[FigureClause]:
        clauses = self._clauses
        wants = clauses.figures or clauses.keys or clauses.across or clauses.share or clauses.having
        if not wants and not self._is_a_sum():
            return []
        figures = resolve_figures(self._scan, clauses) if clauses.figures or any(
            column.is_number and column.role != "id" for column, _, _ in clauses.loose
        ) else []  # fmt: skip
        if clauses.share is not None and not figures:
            figures = self._shared(clauses.share.place)
        if not figures and (clauses.keys or clauses.across) and not clauses.having:
            figures = self._implied()
        for having in clauses.having:
            one = resolved(self._scan, having.figure)
            if not any((f.function, f.column) == (one.function, one.column) for f in figures):
                figures.append(one)
        if figures and clauses.selected:
            names = " and ".join(f'"{column.name}"' for column in clauses.selected)
            raise UnclearError(
                f"it chooses the columns {names} and asks for figures or groups, too"
            )
        if figures and clauses.dropped:
            left = " and ".join(f'"{column.name}"' for column in clauses.dropped)
            raise UnclearError(f"it leaves out {left} and asks for figures, too")
        texts = [
            c for c, _, weak in clauses.loose if not weak and not c.is_number and not c.is_moment
        ]
        beside = [c for c in texts if all(key.column != c for key in clauses.keys)]
        if figures and beside and not clauses.keys and not clauses.across:
            raise SeveralError(
                f'I do not see what "{beside[0].name}" is for',
                [f"{self._scan.request.rstrip(' .?!')} by {quoted(beside[0].name)}"],
            )
        if figures and beside and not clauses.is_pivot and clauses.rank is None:
            raise UnclearError(f'I do not see what "{beside[0].name}" is for')
        return figures

    def _shared(self, place: int) -> list[FigureClause]:
        """Return what shares are of where it is not said: the only amount of money, else rows.

        Raises:
            SeveralError: There are several amounts.
        """
        rows = FigureClause("count", of_rows=True, place=place)
        if self._clauses.nouns:
            return [rows]
        money = [one for one in self._scan.vocabulary.meaning("money", "revenue", "cost")
                 if one.adds_up]  # fmt: skip
        if len(money) > 1 or (not money and any(
            column.type == "float" and column.adds_up for column in self._scan.table.columns
        )):  # fmt: skip
            raise self._share_of_what()
        return [FigureClause("sum", money[0], place=place)] if money else [rows]

    def _implied(self) -> list[FigureClause]:
        """Return the figures of groups where none is asked for: of the only thing there may be.

        "Loans per branch" counts the rows, and adds the only amount up; a table of two columns has
        the only amount in its cells.
        """
        clauses, scan = self._clauses, self._scan
        made = [one for one in scan.table.columns
                if any(one.name == derived.name for derived in clauses.derived)]  # fmt: skip
        if len(made) == 1:
            return [FigureClause("sum", made[0], place=0)]
        sums = [column for column in scan.table.columns if column.adds_up]
        if clauses.is_pivot or (clauses.across and clauses.keys):
            return [FigureClause("sum", sums[0], place=0)] if len(sums) == 1 else []
        moments = [c for c, _, weak in clauses.loose if c.is_moment and not weak]
        if len(moments) == 1 and any(key.part for key in clauses.keys):
            scan.moment = scan.moment or moments[0]
            return [FigureClause("count", of_rows=True, place=0)]
        if not clauses.nouns or any(not weak for _, _, weak in clauses.loose):
            return []
        rows = [FigureClause("count", of_rows=True, place=0)]
        if (len(sums) == 1 and sums[0].type == "float") or (len(
            money := [one for one in scan.vocabulary.meaning("money", "revenue", "cost")
                      if one.adds_up]
        ) == 1 and len(sums) == 1 and money):  # fmt: skip
            rows.append(FigureClause("sum", sums[0], place=0))
        return rows

    def _is_a_sum(self) -> bool:
        """Tell whether an amount alone, as in "revenue in March", asks for its sum."""
        clauses = self._clauses
        others = clauses.selected or clauses.dropped or clauses.order or clauses.renamed
        if clauses.conditions and self._scan.at(0, "only"):
            # "Only expenses, that is negative amounts" are rows.
            clauses.loose = [(c, at, weak or c.adds_up) for c, at, weak in clauses.loose]
            return False
        loose = [column for column, _, weak in clauses.loose if not weak]
        return not others and not clauses.derived and len(loose) == 1 and loose[0].adds_up

    def _no_figure(self) -> SeveralError:
        request = self._scan.request.rstrip(" .?!")
        sums = [column for column in self._scan.table.columns if column.adds_up][:3]
        options = [f"{request}, total {quoted(column.name)}" for column in sums]
        return SeveralError(
            "it groups by a column, but does not say what to work out",
            [*options, f"{request}, count rows"],
        )

    def _share_of_what(self) -> SeveralError:
        scan, share = self._scan, self._clauses.share
        at = share.place if share else 0
        sums = [column for column in scan.table.columns if column.adds_up][:3]
        return SeveralError(
            "it does not say what the shares are of",
            [scan.rewritten(at, scan.at(at, "share"), f"share of {name}")
             for name in (*(quoted(c.name) for c in sums), "rows")],
        )  # fmt: skip

    def _figure_words(self, figures: Sequence[FigureClause], keys: Sequence[GroupKey]) -> None:
        what = ", ".join(figure_text(figure) for figure in figures)
        share = "share of " if self._clauses.share is not None else ""
        by = f" by {', '.join(key.name for key in keys)}" if keys else ""
        self._words.append(f"{share}{what}{by}")
        self._slugs.append(slug(share))
        for figure in figures[:2]:
            plain = figure.function == "sum" and figure.column is not None
            self._slugs.append(
                slug(figure.column.name if plain and figure.column else figure_text(figure))
            )
        if keys:
            self._slugs.append(f"by-{'-'.join(slug(key.name) for key in keys)}")

    def _grouped(self, figures: list[FigureClause], late: ConditionClause | None) -> ComposedJob:
        scan, clauses = self._scan, self._clauses
        keys = keys_of(scan, clauses.keys)
        across = keys_of(scan, clauses.across)
        keys = [key for key in keys if key.name not in {one.name for one in across}]
        if late is not None:
            keys = [GroupKey(late.columns[0].name, late.columns[0])]
        if clauses.is_pivot and not across and len(keys) > 1:
            keys, across = keys[:-1], keys[-1:]
        check_average(scan, figures, [key.column for key in (*keys, *across) if not key.derived])
        self._figure_words(figures, [*keys, *across])
        if across and keys:
            return self._pivoted(figures, keys, across)
        keys = keys or across
        self._note_spellings(key.column for key in keys if not key.derived)
        self._steps += group_steps(clauses, keys, figures)
        self._add_having(keys)
        if clauses.share is not None:
            self._add_share(figures, keys)
        if late is not None:
            self._steps.append(FilterStep(late.expression))
            self._words.append(f"of {late.text}")
            self._slugs.append(late.slug)
        self._add_order(keys, figures)
        self._add_totals(keys, figures)
        self._end_words()
        one = not keys or late is not None
        return self._made(is_figures=True, is_answer=one or clauses.is_question)

    def _pivoted(
        self, figures: Sequence[FigureClause], keys: Sequence[GroupKey], across: Sequence[GroupKey]
    ) -> ComposedJob:
        if len(figures) > 1 or len(across) > 1:
            raise UnclearError("a table with columns across shows one figure, by one column across")
        self._steps += derive_keys([*keys, *across])
        figure = figure_of(figures[0], [column.name for column in self._scan.table.columns])
        total = "Total" if self._clauses.has_totals else None
        self._steps.append(
            PivotStep(tuple(key.name for key in keys), across[0].name, figure, total)
        )
        self._words.append("with columns across")
        self._end_words()
        return self._made(is_figures=True, is_answer=self._clauses.is_question)

    def _add_having(self, keys: Sequence[GroupKey]) -> None:
        names = [key.name for key in keys]
        if self._clauses.having and not keys:
            raise UnclearError("it has a condition on a figure, and does not say by which column")
        for having in self._clauses.having:
            figure = resolved(self._scan, having.figure)
            name = figure_of(figure, names).name
            number = having.number.of(self._scan, figure.column)
            text = f"{having.operator} {number}"
            self._steps.append(FilterStep(expressions.compared(name, having.operator, number)))
            self._words.append(f"where {name} {text}")
            self._slugs.append(slug(f"{name} {text}"))

    def _add_share(self, figures: Sequence[FigureClause], keys: Sequence[GroupKey]) -> None:
        names = [key.name for key in keys]
        for figure in figures:
            if figure.function not in ("sum", "count"):
                raise UnclearError("shares are of a sum or of a count")
            made = figure_of(figure, names).name
            name = "Share" if len(figures) == 1 else f"Share of {made}"
            self._steps.append(ShareStep(made, name))
            self._form = msgspec.structs.replace(
                self._form, formats={**self._form.formats, name: "0.0%"}
            )

    def _add_order(self, keys: Sequence[GroupKey], figures: Sequence[FigureClause]) -> None:
        clauses = self._clauses
        rank = clauses.rank
        order = order_keys(clauses.order, keys, figures)
        if rank is not None and rank.subject is None and keys:
            names = [key.name for key in keys]
            way = "top" if rank.descending else "bottom"
            made = figure_of(figures[0], names).name
            by = order or (SortKey(made, rank.descending),)
            self._steps.append(TopStep(rank.count, by, ties=rank.ties))
            told = f"{order_text(order)}, the first {rank.count}" if order else ""
            self._words.append(told or f"the {way} {rank.count} by {made}")
            self._slugs.append(f"{way}-{rank.count}")
            return
        if order:
            self._steps.append(SortStep(order))
            self._words.append(order_text(order))

    def _add_totals(self, keys: Sequence[GroupKey], figures: Sequence[FigureClause]) -> None:
        if not keys or self._clauses.having or self._clauses.rank is not None:
            return
        totals: dict[str, Literal["sum", "average", "minimum", "maximum", "count"]] = {}
        names = [key.name for key in keys]
        for figure in figures:
            made = figure_of(figure, names).name
            match figure.function:
                case "sum" | "count":
                    totals[made] = "sum"
                case "minimum" | "maximum" if figure.column and figure.column.is_number:
                    totals[made] = figure.function
                case _:
                    # The average of groups' averages is none of the rows.
                    continue
        is_sum = all(one == "sum" for one in totals.values())
        label = "Total" if is_sum else "All rows"
        self._form = msgspec.structs.replace(self._form, totals=totals, totals_label=label)

    def _running(self, figures: Sequence[FigureClause]) -> ComposedJob:
        scan, clauses = self._scan, self._clauses
        running = clauses.running
        column = running.column if running else None
        numbers = [c for c, _, _ in clauses.loose if c.is_number and c.role != "id"]
        column = (
            column
            or (numbers[0] if numbers else None)
            or next((figure.column for figure in figures if figure.column is not None), None)
        )
        if column is None:
            column = default_number(scan, "sum", running.place if running else 0)
        if not column.adds_up:
            raise UnclearError(f'"{column.name}" ({column.role}) does not add up')
        keys = keys_of(scan, clauses.keys)
        times = [key for key in keys if key.column.is_moment]
        others = [key for key in keys if not key.column.is_moment]
        name = f"Running {column.name}"
        within = tuple(key.name for key in others)
        if times and any(key.part or True for key in times):
            figure = FigureClause("sum", column, place=0)
            self._steps += group_steps(clauses, [*others, *times], [figure])
            made = figure_of(figure, [key.name for key in keys]).name
            order = tuple(SortKey(key.name) for key in times)
            self._steps.append(SortStep((*(SortKey(one) for one in within), *order)))
        else:
            made = column.name
            ordered = order_keys_of_rows(scan, clauses)
            order = ordered or (SortKey(moment_of(scan).name),)
            self._steps.append(SortStep(order))
        self._steps.append(RunningStep(made, name, order, within))
        by = f" by {', '.join(key.name for key in keys)}" if keys else ""
        self._words.append(f"running total of {column.name}{by}, in the order of {order[0].column}")
        self._slugs.append(
            f"running-{slug(column.name)}"
            f"{'-by-' * bool(keys)}{'-'.join(slug(key.name) for key in keys)}"
        )
        self._end_words()
        return self._made(is_figures=bool(times), is_answer=clauses.is_question)

    def _duplicates(self, columns: Sequence[KnownColumn]) -> ComposedJob:
        chosen = columns or self._scan.table.columns
        keys = [GroupKey(column.name, column) for column in chosen]
        figure = FigureClause("count", of_rows=True, place=0)
        self._steps += group_steps(self._clauses, keys, [figure])
        name = figure_of(figure, [key.name for key in keys]).name
        self._steps.append(FilterStep(f"{expressions.column(name)} > 1"))
        of = ", ".join(column.name for column in columns) or "all columns"
        self._words.append(f"what is there more than once in {of}")
        self._slugs.append("duplicates")
        self._end_words()
        return self._made(is_figures=True, is_answer=self._clauses.is_question)
