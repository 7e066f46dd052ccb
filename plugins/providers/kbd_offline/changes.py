"""Changes of columns: computed, renamed, cleaned, chosen, left out. Pure."""

import re

from kbd_offline import expressions
from kbd_offline.clauses import Clauses, DedupeClause, DeriveClause
from kbd_offline.facts import KnownColumn
from kbd_offline.figures import figure_at
from kbd_offline.mentions import PART, STEM, ColumnMention
from kbd_offline.names import stem, tokens
from kbd_offline.numerals import number_at
from kbd_offline.scan import RequestScan, SeveralError, UnclearError

__all__ = [
    "cleaned", "computed", "deduplicated", "expression_at", "is_computed", "left_out", "listed",
    "make_column", "percent_of", "profit_of", "renamed", "selected",
]  # fmt: skip

_OPERATORS = (("times", "*"), ("divided", "/"), ("added", "+"), ("less_than_by", "-"))
_CAMEL_NAME = re.compile(r"\w")


def computed(scan: RequestScan, clauses: Clauses, place: int) -> int:
    """Read "add a column Total = Qty * Price", "calculate margin as …"; 0 where none is there.

    Raises:
        UnclearError: It does not say what of.
    """
    if raised := _raised(scan, clauses, place):
        return raised
    end = scan.at(place, "add_column")
    is_column = end > place + 1 or scan.word(place) == "fuge"
    end = end or scan.at(place, "compute")
    if not end:
        return 0
    at = scan.skip(end, "det")
    while scan.word(at) in (
        "called",
        "named",
        "namens",
        "genannt",
        "hinzu",
        "for",
        "column",
        "spalte",
        "neue",
        "new",
        "extra",
    ):
        at = scan.skip(at + 1, "det")
    percent = _vat(scan, clauses, at)
    if percent:
        return percent
    named = _name(scan, at)
    if named is None:
        return _made_of_words(scan, clauses, at) if is_column else 0
    name, behind = named
    made = expression_at(scan, scan.skip(behind, "det"))
    if made is None:
        made = expression_at(scan, behind)
    if made is None or (not is_column and not is_computed(made[0])):
        return _made_of_words(scan, clauses, at) if is_column else 0
    expression, end = made
    make_column(scan, clauses, name, expression)
    return scan.at(end, "added_suffix") or end


def _raised(scan: RequestScan, clauses: Clauses, place: int) -> int:
    """Read "increase salary by 5 %": the column takes the new values."""
    for concept, sign in (("raise", 1), ("reduce", -1)):
        end = scan.at(place, concept)
        mention = scan.column(scan.skip(end, "det")) if end else None
        if mention is None or scan.word(mention.end) not in ("by", "um"):
            continue
        number = number_at(scan, mention.end + 1, None)
        if number is None or not scan.is_sign(number[1] - 1, "%"):
            continue
        column = scan.only(mention, lambda one: one.is_number and one.role != "id")
        factor = f"{1 + sign * float(number[0]) / 100:.12g}"
        word = "more" if sign > 0 else "less"
        _changed(
            clauses, column, f"{expressions.column(column.name)} * {factor}",
            f"{column.name} {number[0]}% {word}",
        )  # fmt: skip
        return number[1]
    return 0


def is_computed(expression: str) -> bool:
    """Tell whether an expression computes something, and is no column or number alone."""
    return any(f" {sign} " in expression for sign in "+-*/") or "(" in expression


def make_column(scan: RequestScan, clauses: Clauses, name: str, expression: str) -> None:
    """Note a computed column; later words may name it."""
    clauses.derived.append(DeriveClause(name, expression, f"{name} = {expression}"))
    scan.add_column(KnownColumn(name, "float", filled=scan.table.rows))


def _made_of_words(scan: RequestScan, clauses: Clauses, at: int) -> int:
    """Read "add a column with quantity times price", or "a margin column"."""
    made = expression_at(scan, scan.skip(at, "is_made_of", "det"))
    if made is not None and is_computed(made[0]):
        name = scan.text(scan.skip(at, "is_made_of", "det"), made[1])
        make_column(scan, clauses, name[:60], made[0])
        return made[1]
    if found := profit_of(scan, clauses, at):
        return found
    return 0


def profit_of(scan: RequestScan, clauses: Clauses, place: int) -> int:
    """Read "profit" or "margin" where two columns give it: what comes in less what it costs.

    Raises:
        SeveralError: A margin may be an amount or a share.
    """
    profit, margin = scan.at(place, "profit"), scan.at(place, "margin")
    end = max(profit, margin)
    if not end or scan.column(place) is not None:
        return 0
    revenue = _of_meaning(scan, "revenue")
    cost = _of_meaning(scan, "cost")
    if len(revenue) != 1 or len(cost) != 1 or revenue == cost:
        return 0
    more, less = expressions.column(revenue[0].name), expressions.column(cost[0].name)
    word = scan.text(place, end).capitalize()
    if (
        scan.is_sign(end, "%")
        or scan.at(end, "share")
        or (scan.word(end) == "in" and scan.at(end + 1, "share"))
    ):
        end = scan.at(end, "share") or scan.at(end + 1, "share") or end + 1
        make_column(scan, clauses, f"{word} %", f"({more} - {less}) / {more}")
        return end
    if margin:
        raise SeveralError(
            f'"{word}" may be {revenue[0].name} less {cost[0].name}, or the share of that',
            [scan.rewritten(place, end, "profit"), scan.rewritten(place, end, "margin %")],
        )
    make_column(scan, clauses, word, f"{more} - {less}")
    return place if _is_used(scan, place) else end


def _is_used(scan: RequestScan, place: int) -> bool:
    """Tell whether a made column stands where a figure of it is meant."""
    before = max(place - 1, 0)
    return not scan.at(before, "add_column", "compute", "and")


def _of_meaning(scan: RequestScan, meaning: str) -> list[KnownColumn]:
    found = [one for one in scan.vocabulary.meaning(meaning) if one.adds_up]
    if meaning == "revenue" and not found:
        costs = scan.vocabulary.meaning("cost")
        found = [c for c in scan.vocabulary.meaning("money") if c.adds_up and c not in costs]
    return found


def _vat(scan: RequestScan, clauses: Clauses, at: int) -> int:
    """Read "add 19 % VAT to the price", "price with 19% VAT" behind a word that adds."""
    number = number_at(scan, at, None) if scan.kind(at) == "number" else None
    if number is None:
        behind = scan.at(at, "vat")
        at = scan.skip(behind, "det") if behind else at
        number = number_at(scan, at, None) if behind and scan.kind(at) == "number" else None
        end = number[1] if number else 0
    else:
        end = scan.at(number[1], "vat") or 0
    if number is None or not end:
        return 0
    to = scan.skip(end, "det") if scan.at(end, "det") else end
    to = to + 1 if scan.word(to) in ("to", "zu", "zum", "zur") else to
    mention = scan.column(scan.skip(to, "det"))
    if mention is not None and any(one.is_number for one in mention.columns):
        column = scan.only(mention, lambda one: one.is_number and one.role != "id")
        end = mention.end
    else:
        money = [c for c in scan.vocabulary.meaning("money", "revenue") if c.role != "id"]
        if len(money) != 1:
            return 0
        column = money[0]
    _with_percent(scan, clauses, column, number[0], "with")
    return end


def _with_percent(
    scan: RequestScan, clauses: Clauses, column: KnownColumn, percent: str, word: str
) -> None:
    share = float(percent) / 100
    factor = f"{1 + share if word == 'with' else 1 - share:.12g}"
    name = f"{column.name} {word} {percent}%"
    make_column(scan, clauses, name, f"{expressions.column(column.name)} * {factor}")


def percent_of(scan: RequestScan, clauses: Clauses, mention: ColumnMention) -> int:
    """Read "price with 19 % VAT", "amount plus 10 %" behind a column; 0 where none is there."""
    for concept, word in (("plus_percent", "with"), ("minus_percent", "without")):
        end = scan.at(mention.end, concept)
        number = number_at(scan, end, None) if end and scan.kind(end) == "number" else None
        if number is None or not scan.is_sign(number[1] - 1, "%"):
            continue
        if not any(column.is_number for column in mention.columns):
            continue
        column = scan.only(mention, lambda one: one.is_number)
        if word == "without" and scan.at(number[1], "vat"):
            return 0
        _with_percent(scan, clauses, column, number[0], word)
        return scan.at(number[1], "vat") or number[1]
    return 0


def _name(scan: RequestScan, at: int) -> tuple[str, int] | None:
    """Return the name of a new column, and where what it is made of begins."""
    if scan.kind(at) == "quoted":
        behind = scan.at(at + 1, "is_made_of", "added_suffix")
        behind = scan.at(behind, "is_made_of") or behind
        return (scan.tokens[at].text, behind) if behind else None
    end = at
    while end < len(scan) and end - at < 5 and scan.kind(end) == "word":
        behind = scan.at(end, "is_made_of")
        if behind and end > at:
            return scan.text(at, end), behind
        end += 1
    behind = scan.at(end, "is_made_of")
    return (scan.text(at, end), behind) if end > at and behind else None


def expression_at(scan: RequestScan, at: int) -> tuple[str, int] | None:
    """Return the sum, product … of columns and numbers at a place, and where it ends."""
    if days := _days_less(scan, at):
        return days
    first = _operand(scan, at)
    if first is None:
        return None
    text, end = first
    while True:
        for concept, sign in _OPERATORS:
            behind = scan.at(end, concept)
            if not behind or (sign == "/" and scan.word(end) == "per"):
                continue
            operand = _operand(
                scan, scan.skip(behind, "det") if scan.kind(behind) == "word" else behind
            )
            operand = operand or _operand(scan, behind)
            if operand is None or (scan.word(end) == "over" and operand[0][:1].isdigit()):
                # "Amount over 1000" is a bound.
                continue
            text, end = f"{text} {sign} {operand[0]}", operand[1]
            break
        else:
            return text, end


def _days_less(scan: RequestScan, at: int) -> tuple[str, int] | None:
    """Return "returned minus due": the days between two dates."""
    last = scan.column(at)
    behind = scan.at(last.end, "less_than_by") if last else 0
    first = scan.column(behind) if behind else None
    if last is None or first is None:
        return None
    both = (first.columns, last.columns)
    if not all(len(one) == 1 and one[0].is_moment for one in both):
        return None
    names = (expressions.column(one[0].name) for one in both)
    return f"days_between({', '.join(names)})", first.end


def _marked(scan: RequestScan) -> KnownColumn | None:
    """Return a column that tells the decimal mark of the table."""
    return next((column for column in scan.table.columns if column.decimal), None)


def _operand(scan: RequestScan, at: int) -> tuple[str, int] | None:
    if scan.word(at) == "(":
        inner = expression_at(scan, at + 1)
        if inner is None or scan.word(inner[1]) != ")":
            return None
        return f"({inner[0]})", inner[1] + 1
    if scan.kind(at) == "number":
        number, end = number_at(scan, at, _marked(scan)) or ("", at)
        if scan.is_sign(end - 1, "%"):
            # "5 % of revenue": a percentage of nothing is no amount.
            share = f"{float(scan.word(at).replace(',', '.')) / 100:.12g}"
            of = scan.word(end) in ("of", "von", "vom", "der", "des", "on", "auf")
            whole = _operand(scan, end + 1) if of else None
            return (f"{whole[0]} * {share}", whole[1]) if whole else None
        return number, end
    mention = scan.column(at)
    if mention is None:
        mention = scan.column(scan.skip(at, "det"))
    if mention is None or not any(column.is_number for column in mention.columns):
        return None
    column = scan.only(mention, lambda one: one.is_number)
    return expressions.column(column.name), mention.end


def renamed(scan: RequestScan, clauses: Clauses, place: int) -> int:
    """Read "rename X to Y and A to B" at a place; 0 where it is none."""
    end = scan.at(place, "rename")
    if not end:
        end = _renamed_last(scan, place)
        if not end:
            return 0
        end = place
    at = scan.skip(end, "det")
    done = 0
    while (mention := scan.column(at)) is not None:
        to = scan.at(mention.end, "rename_to")
        if not to:
            break
        name, behind = _new_name(scan, to)
        if not name:
            break
        clauses.renamed[scan.only(mention).name] = name
        done = scan.at(behind, "renamed") or behind
        following = scan.behind_connector(done)
        if following == done:
            break
        at = scan.skip(following, "det", "rename")
    return done


def _renamed_last(scan: RequestScan, place: int) -> bool:
    """Tell whether "Spalte Ort in Stadt umbenennen" begins at a place: the verb stands last."""
    last = len(scan) - 1 - scan.is_sign(len(scan) - 1, ".!")
    return place == 0 and scan.word(last) in ("umbenennen", "umnennen")


def _new_name(scan: RequestScan, at: int) -> tuple[str, int]:
    if scan.kind(at) == "quoted":
        return scan.tokens[at].text, at + 1
    end = at
    while (
        end < len(scan) and scan.kind(end) in ("word", "number") and end - at < 5
        and not (end > at and scan.at(end, "and", "renamed", "sort", "into_name", "where"))
    ):  # fmt: skip
        end += 1
    return scan.text(at, end), end


def cleaned(scan: RequestScan, clauses: Clauses, place: int) -> int:
    """Read changes of values: blanks off, capitals, rounding, what stands in empty fields."""
    for read in (_trimmed, _filled, _cased, _rounded):
        if end := read(scan, clauses, place):
            return end
    return 0


def _changed(clauses: Clauses, column: KnownColumn, expression: str, text: str) -> None:
    clauses.derived.append(DeriveClause(column.name, expression, text))


def _trimmed(scan: RequestScan, clauses: Clauses, place: int) -> int:
    end = scan.at(place, "trim")
    if not end:
        return 0
    at = scan.skip(end, "det")
    while scan.word(at) in ("from", "around", "in", "of", "aus", "bei", "um", "vom"):
        at = scan.skip(at + 1, "det")
    mentions, behind = scan.column_list(at)
    columns = [scan.only(one) for one in mentions]
    chosen = columns or [column for column in scan.table.columns if column.is_text]
    if scan.word(place) == "strip" and end == place + 1 and not columns:
        return 0
    for column in chosen:
        name = expressions.column(column.name)
        _changed(clauses, column, f"trim({name})", f"{column.name} without blanks around it")
    return behind if columns else end


def _cased(scan: RequestScan, clauses: Clauses, place: int) -> int:
    """Read "upper-case the names", "make City upper case"."""
    for concept in ("upper", "lower"):
        end = scan.at(place, concept)
        mentions, behind = scan.column_list(scan.skip(end, "det")) if end else ([], 0)
        if not mentions:
            start = scan.at(place, "clean")
            mentions, at = scan.column_list(scan.skip(start, "det")) if start else ([], 0)
            at = scan.skip(at, "det") if not scan.at(at, concept) else at
            behind = scan.at(at, concept) if mentions else 0
        if not mentions or not behind:
            continue
        for mention in mentions:
            column = scan.only(mention, lambda one: one.is_text)
            name = expressions.column(column.name)
            words = "capitals" if concept == "upper" else "small letters"
            _changed(clauses, column, f"{concept}({name})", f"{column.name} in {words}")
        return behind
    return 0


def _rounded(scan: RequestScan, clauses: Clauses, place: int) -> int:
    end = scan.at(place, "round")
    if not end or scan.word(place) == "auf":
        return 0
    mentions, at = scan.column_list(scan.skip(end, "det"))
    columns = [scan.only(one, lambda each: each.is_number) for one in mentions]
    if not columns or not all(column.is_number for column in columns):
        return 0
    while scan.word(at) in ("to", "auf", "zu"):
        at += 1
    places, behind = "0", at
    if whole := scan.at(at, "whole_numbers"):
        behind = whole
    elif scan.kind(at) == "number" and (units := scan.at(at + 1, "decimals")):
        places, behind = scan.word(at), units
    elif scan.word(at) in ("two", "zwei") and (units := scan.at(at + 1, "decimals")):
        places, behind = "2", units
    elif scan.at(at - 1, "whole_numbers"):
        behind = at
    for column in columns:
        name = expressions.column(column.name)
        _changed(
            clauses,
            column,
            f"round({name}, {places})",
            f"{column.name} rounded to {places} decimals",
        )
    return behind


def _filled(scan: RequestScan, clauses: Clauses, place: int) -> int:
    """Read "fill empty regions with 'unknown'", "replace missing amounts by 0"."""
    end = scan.at(place, "fill_empty")
    if not end:
        return 0
    if scan.at(end, "empty"):
        end = scan.at(end, "empty")
    at = scan.skip(end, "det", "filler")
    mention = scan.column(at) or scan.column(scan.skip(end, "det"))
    if mention is None:
        return 0
    column = scan.only(mention)
    behind = scan.at(mention.end, "fill_with") or scan.at(
        scan.skip(mention.end, "filler"), "fill_with"
    )
    if not behind:
        return 0
    name = expressions.column(column.name)
    if column.is_number:
        number = number_at(scan, behind, column)
        if number is None:
            raise UnclearError(f'"{column.name}" holds numbers: fill its empty fields with one')
        value, shown, stop = number[0], number[0], number[1]
    elif column.is_text and scan.kind(behind) in ("quoted", "word", "number"):
        shown, stop = scan.tokens[behind].text, behind + 1
        value = expressions.literal(shown)
    else:
        return 0
    _changed(
        clauses,
        column,
        f"coalesce({name}, {value})",
        f"{shown} in the empty fields of {column.name}",
    )
    return stop


def listed(scan: RequestScan, clauses: Clauses, place: int) -> int:
    """Read "name and email only", columns alone; 0 where no such list ends a request."""
    mentions, behind = scan.column_list(place)
    if not mentions or any(one.level > PART for one in mentions):
        return 0
    if len(mentions) == 1 and scan.is_noun(place):
        return 0
    end = scan.at(behind, "only")
    if not end or scan.skip(end, "filler") < len(scan) - scan.is_sign(len(scan) - 1, ".!"):
        return 0
    if place and scan.at(place - 1, "distinct", "unique_list"):
        clauses.unique_list = tuple(scan.only(one, is_key=True) for one in mentions)
        clauses.figures.clear()
        return end
    clauses.selected += [scan.only(one) for one in mentions]
    return end


def selected(scan: RequestScan, clauses: Clauses, place: int) -> int:
    """Read "only name and email", "show date, amount" at a place; 0 where no columns are chosen."""
    end = scan.at(place, "select")
    if not end:
        return 0
    at = end if scan.is_column(end) else scan.skip(end, "det", "select")
    mentions, behind = scan.column_list(at)
    if not mentions or any(one.level > PART for one in mentions[:1]):
        return 0
    figure = figure_at(scan, at)
    if figure is not None and figure[1] == mentions[0].end == behind and scan.column(behind):
        # "With total Total": the figure of a column, although one is called as the figure is.
        return 0
    # "Show all orders" asks for rows, whatever tells one of them.
    only = mentions[0] if len(mentions) == 1 else None
    if only is not None and scan.is_noun(only.start) and only.level > STEM:
        return 0
    # "Show revenue by region" asks for a figure.
    if scan.at(behind, "by", "across") or (scan.is_noun(behind) and not scan.column(behind)):
        return 0
    value = scan.value(at)
    if value is not None and value.end > mentions[0].end:
        return 0
    if len(mentions) == 1 and _asks_for_values(scan, mentions[0], place):
        clauses.unique_list = (scan.only(mentions[0], is_key=True),)
        return behind
    for mention in mentions:
        columns = mention.columns if _plural_names(scan, mention) else (scan.only(mention),)
        clauses.selected += [column for column in columns if column not in clauses.selected]
    return behind


def _asks_for_values(scan: RequestScan, mention: ColumnMention, place: int) -> bool:
    """Tell whether "list all departments" asks for the different values of a column."""
    column = mention.columns[0]
    word = scan.word(mention.end - 1)
    is_plural = word not in tokens(column.name) and stem(word) == stem(tokens(column.name)[-1])
    is_listed = scan.word(place) not in ("only", "just", "keep", "nur", "with", "mit")
    return is_plural and is_listed and column.is_text and column.distinct < scan.table.rows


def _plural_names(scan: RequestScan, mention: ColumnMention) -> bool:
    """Tell whether a part of several names speaks of all: "the dates"."""
    word = scan.word(mention.end - 1)
    return len(mention.columns) > 1 and mention.level == PART and word.endswith("s") and not any(
        word in column.name.casefold() for column in mention.columns
    )  # fmt: skip


def left_out(scan: RequestScan, clauses: Clauses, place: int) -> int:
    """Read "without the phone column", "drop notes" at a place; 0 where no columns are."""
    end = scan.at(place, "drop_column")
    if not end:
        return 0
    at = scan.skip(end, "det")
    # A value that is left out is a condition on rows.
    value = scan.value(at)
    mentions, behind = scan.column_list(at)
    if not mentions or (value is not None and value.end >= mentions[0].end):
        return 0
    if any(one.level > PART for one in mentions):
        return 0
    if scan.at(behind, "is", "is_not", "more", "less", "at_least", "at_most", "empty", "contains"):
        return 0
    follows = scan.value(behind)
    if follows is not None and scan.column(behind) is None:
        # "Except region West" leaves rows out.
        return 0
    for mention in mentions:
        is_all = _plural_names(scan, mention) or scan.word(mention.end) in ("columns", "spalten")
        clauses.dropped += mention.columns if is_all else [scan.only(mention)]
    return behind


def deduplicated(scan: RequestScan, clauses: Clauses, place: int) -> int:
    """Read a request to take duplicates out, or to list them, at a place; 0 where it is none.

    Raises:
        UnclearError: It compares by a column that is not there.
    """
    is_one = scan.at(place, "one_row_per")
    end = scan.at(place, "dedupe") or is_one
    is_list = False
    if not end:
        end = scan.at(place, "duplicates")
        is_list = bool(end)
        if not end:
            return 0
    mentions, behind = scan.column_list(scan.skip(end, "det"))
    at = end if not mentions else behind
    if not mentions:
        mentions, at = _alike_columns(scan, end)
    columns = tuple(scan.only(mention, is_key=False) for mention in mentions)
    if is_one and not columns:
        return 0
    if is_list:
        clauses.duplicates = DedupeClause(columns)
        return at
    if clauses.dedupe is None or columns:
        clauses.dedupe = DedupeClause(columns)
    return at


def _alike_columns(scan: RequestScan, end: int) -> tuple[list[ColumnMention], int]:
    at = end
    while at < len(scan) and (scan.at(at, "row_noun") or scan.is_noun(at)):
        at = scan.at(at, "row_noun") or at + 1
    behind = scan.at(at, "alike_in")
    if not behind:
        return [], at
    mentions, stop = scan.column_list(scan.skip(behind, "det"))
    if not mentions and scan.word(at) in ("by", "on", "based", "nach", "anhand"):
        word = scan.text(behind, behind + 1) if behind < len(scan) else ""
        if word and not scan.is_noun(behind):
            raise UnclearError(f'there is no column "{word}"')
    return (mentions, stop) if mentions else ([], at)
