"""Dates as people write them: which orders of day, month and year fit a column, and their SQL.

What is written with a name of a month, with the year first, or with points between, says its order
itself. Of other dates only a value can: 31/01/2024 has no other reading.
"""

import re
from collections import Counter
from collections.abc import Sequence

import msgspec

from kbd_tables.duck import quoted_text
from kbd_tables.shapes import Shape, missing_sql, trimmed_sql

__all__ = ["DateColumn", "DateOrder", "date_column", "offset_sql"]

DateOrder = str
"""The order of day, month and year: "dmy", "mdy" or "ymd"."""

_MONTHS = (
    "jan january januar janvier enero ene",
    "feb february februar fevrier fev fevr febrero",
    "mar march marz maerz mrz mars marzo",
    "apr april avril avr abril abr",
    "may mai mayo",
    "jun june juni juin junio",
    "jul july juli juillet juil julio",
    "aug august aout agosto ago",
    "sep sept september septembre septiembre",
    "oct october oktober okt octobre octubre",
    "nov november novembre noviembre",
    "dec december dezember dez decembre diciembre dic",
)
"""Names of the months in English, German, French and Spanish, small and without accents."""

_NUMBER_OF = {name: at for at, names in enumerate(_MONTHS, 1) for name in names.split()}
_ACCENTS = str.maketrans("äéèûôáíóú", "aeeuoaiou")
_TIME = (
    r"(?P<time>(?:[ T]|, ?)99?:99(?P<seconds>:99(?:[.,]9{1,6})?)?(?P<half> ?[AaPp]\.?[Mm]\.?)?"
    r"(?P<offset> ?(?:Z|UTC|[-+]99:?99|[-+]99))?)?"
)
_YEAR_FIRST = re.compile(rf"9999(?P<mark>[-/.])99?(?P=mark)99?{_TIME}")
_FIGURES = re.compile(rf"99?(?P<mark>[-/.])99?(?P=mark)(?P<year>9999|99){_TIME}")
_COMPACT = re.compile("9{8}")
_DAY_FIRST = re.compile(
    r"99?(?:\.|st|nd|rd|th|er|º)?[ \-/.]{1,2}(?:de )?(?P<month>[^\W\d_]{3,})\.?,?[ \-/.]"
    rf"(?:del? )?(?P<year>9999|99){_TIME}"
)
_MONTH_FIRST = re.compile(
    rf"(?P<month>[^\W\d_]{{3,}})\.? 99?(?:st|nd|rd|th)?,? (?P<year>9999){_TIME}"
)
_DATE_NAME = re.compile(
    r"date|datum|dato|fecha|jour|tag$|day$|\bdt\b|_dt$|stichtag|am$|data\b", re.IGNORECASE
)
_BIRTH_NAME = re.compile(r"birth|born|dob\b|geb|naiss|nacim", re.IGNORECASE)


class DateForm(msgspec.Struct, frozen=True):
    """How a date is written.

    Args:
        kind: "year first", "figures", "named" or "compact".
        mark: What stands between figures.
        year_digits: 4 or 2; of a column of figures 0 where some have four and others two.
        has_time: Whether a time follows.
        is_padded: Whether day and month have two digits each.
        has_half: Whether the time has AM or PM.
        offset: "" for none, "Z", or "offset" for hours and minutes.
    """

    kind: str
    mark: str
    year_digits: int
    has_time: bool = False
    has_half: bool = False
    is_padded: bool = True
    offset: str = ""


class DateColumn(msgspec.Struct, frozen=True):
    """Column whose values are dates by their form, but for missing ones.

    Args:
        form: How they are written: `has_time` and `has_half` if any of them has one.
        orders: The orders that the form admits.
        has_offsets: Whether all times have an offset, or none has; None where some have.
        has_bare_days: Whether some have no time, where others have one.
        example: The first of them.
        missing: Texts for missing values, with their count; the empty one not among them.
        blank_count: Values of nothing but blanks.
    """

    form: DateForm
    orders: tuple[DateOrder, ...]
    has_offsets: bool | None
    has_bare_days: bool
    example: str
    missing: tuple[tuple[str, int], ...]
    blank_count: int

    @property
    def is_open(self) -> bool:
        """Whether only values, or what was said, can tell the order."""
        return len(self.orders) > 1

    @staticmethod
    def is_named_date(name: str) -> bool:
        """Tell whether a column's name says that it holds dates."""
        return _DATE_NAME.search(name) is not None

    def is_code(self, name: str) -> bool:
        """Tell whether values may be versions or the like (1.2.24), and no name says otherwise."""
        is_short = self.form.kind == "figures" and self.form.year_digits == 2
        return is_short and not self.form.is_padded and not self.is_named_date(name)

    def is_of_births(self, name: str) -> bool:
        """Tell whether years of two digits may be of either century."""
        return self.form.year_digits != 4 and _BIRTH_NAME.search(name) is not None

    def sql(self, column: str, order: DateOrder, *, shift: bool = False) -> str:
        """Return the SQL of a value as a date, or a moment where any has a time; NULL for none.

        Args:
            column: The column.
            order: The order of day, month and year.
            shift: Whether moments are brought to UTC by their offsets.
        """
        value = trimmed_sql(column)
        day = self._day_sql(value, order)
        if not self.form.has_time:
            typed = day
        else:
            typed = _moment_sql(value, day, self.form, shift=shift)
        if not self.missing and not self.blank_count:
            return typed
        return f"CASE WHEN {missing_sql(value)} THEN NULL ELSE {typed} END"

    def filled_test(self, column: str) -> str:
        """Return the SQL that tells whether a value is not missing."""
        return f"({column} IS NOT NULL AND NOT {missing_sql(trimmed_sql(column))})"

    def _day_sql(self, value: str, order: DateOrder) -> str:
        form, mark = self.form, self.form.mark
        if form.kind == "named":
            return _named_day_sql(value)
        if form.kind == "compact":
            return f"CAST(try_strptime({value}, '%Y%m%d') AS DATE)"
        day = value
        if form.has_time:
            day = rf"regexp_extract({value}, '^[0-9]+[^0-9][0-9]+[^0-9][0-9]+')"
        parsed = [
            f"try_strptime({day}, '"
            + mark.join({"d": "%d", "m": "%m", "y": year}[letter] for letter in order)
            + "')"
            for year in ("%Y", "%y")
        ]
        if form.year_digits:
            return f"CAST({parsed[0 if form.year_digits == 4 else 1]} AS DATE)"
        is_long = f"regexp_matches({day}, '[0-9]{{4}}$')"
        return f"CAST(CASE WHEN {is_long} THEN {parsed[0]} ELSE {parsed[1]} END AS DATE)"


_HALF = r"([AaPp])\.?[Mm]\.?"
_OFFSET = "Z|UTC|[-+][0-9]{2}:?(?:[0-9]{2})?"
_BEFORE_OFFSET = rf":[0-9]{{2}}(?::[0-9]{{2}}(?:[.,][0-9]+)?)?(?: ?{_HALF})? ?"
"""Only behind a time is it one: a date may end in -07 or -2024, too."""


def offset_sql(value: str) -> str:
    """Return the SQL of the offset behind the time of a value, as it is written; "" for none."""
    return f"regexp_extract({value}, '{_BEFORE_OFFSET}({_OFFSET})$', 2)"


def _named_day_sql(value: str) -> str:
    """Return the SQL of a date with the name of its month."""
    before_time = "^(.*?[^0-9]([0-9]{4}|[0-9]{2}))(?:[ T,]+[0-9]{1,2}:.*)?$"
    head = f"regexp_extract({value}, '{before_time}', 1)"
    names = ", ".join(f"{quoted_text(name)}: {number}" for name, number in _NUMBER_OF.items())
    word = rf"lower(strip_accents(regexp_extract({head}, '\p{{L}}{{3,}}')))"
    written = f"regexp_extract({head}, '([0-9]+)$', 1)"
    # The centuries of strptime's %y.
    year = (
        f"CASE WHEN length({written}) = 4 THEN {written}"
        f" WHEN {written} < '69' THEN concat('20', {written}) ELSE concat('19', {written}) END"
    )
    day = f"regexp_extract({head}, '[0-9]{{1,2}}')"
    month = f"CAST((MAP {{{names}}})[{word}] AS VARCHAR)"
    return f"try_cast(concat({year}, '-', {month}, '-', {day}) AS DATE)"


def _moment_sql(value: str, day: str, form: DateForm, *, shift: bool) -> str:
    """Return the SQL of a moment: a day, and the time after it."""
    written = f"regexp_extract({value}, '[0-9]+:[0-9]{{2}}(?::[0-9]{{2}}(?:[.,][0-9]+)?)?')"
    clock = f"replace({written}, ',', '.')"
    # 24:00 is the next day's 0:00 to a cast.
    moment = (
        f"try_cast(concat(CAST({day} AS VARCHAR), ' ', coalesce(nullif({clock}, ''), '0:00'))"
        " AS TIMESTAMP)"
    )
    if form.has_half:
        half = f"lower(regexp_extract({value}, '{_HALF} ?(?:{_OFFSET})?$', 1))"
        hour = f"try_cast(regexp_extract({clock}, '^[0-9]+') AS INTEGER)"
        # By this clock 12 comes before 1, and there is no 13.
        hours = (
            f"CASE WHEN {half} = '' THEN 0 WHEN {hour} BETWEEN 1 AND 11 THEN"
            f" CASE {half} WHEN 'p' THEN 12 ELSE 0 END"
            f" WHEN {hour} = 12 THEN CASE {half} WHEN 'p' THEN 0 ELSE -12 END END"
        )
        moment = f"{moment} + to_hours({hours})"
    # The cast leaves nothing out: a day that is none makes all of it none.
    moment = f"CASE WHEN {day} IS NOT NULL THEN {moment} END"
    if not shift:
        return moment
    sign, hours, minutes = (
        f"regexp_extract({offset_sql(value)}, '([-+])([0-9]{{2}}):?([0-9]{{2}})?', {part})"
        for part in (1, 2, 3)
    )
    minutes = (
        f"coalesce(CASE {sign} WHEN '-' THEN -1 ELSE 1 END * (60 * try_cast({hours} AS INTEGER)"
        f" + coalesce(try_cast({minutes} AS INTEGER), 0)), 0)"
    )
    return f"{moment} - to_minutes({minutes})"


def date_form(shape: Shape) -> DateForm | None:
    """Return how a date is written; None if it is none."""
    text = shape.text
    if _COMPACT.fullmatch(text):
        return None if shape.zero else DateForm("compact", "", 4)
    for kind, pattern in (
        ("year first", _YEAR_FIRST),
        ("figures", _FIGURES),
        ("named", _DAY_FIRST),
        ("named", _MONTH_FIRST),
    ):
        if not (found := pattern.fullmatch(text)):
            continue
        part = found.groupdict(default="")
        if kind == "named" and _month(part["month"]) is None:
            continue
        offset = part["offset"].strip()
        if offset:
            offset = "Z" if offset in ("Z", "UTC") else "offset"
        # The marks of names may differ, and are passed over.
        year_digits = len(part["year"]) if "year" in part else 4
        return DateForm(
            kind,
            part.get("mark", ""),
            year_digits,
            has_time=bool(part["time"]),
            has_half=bool(part["half"]),
            is_padded=kind != "figures" or re.match("99.99.99", text) is not None,
            offset=offset,
        )
    return None


def _month(word: str) -> int | None:
    return _NUMBER_OF.get(word.lower().translate(_ACCENTS))


def date_column(shapes: Sequence[Shape]) -> DateColumn | None:
    """Return what a column of dates is; None if a value has another form, or they have several."""
    filled = [shape for shape in shapes if not shape.is_missing]
    forms = [date_form(shape) for shape in filled]
    known = [form for form in forms if form is not None]
    if not known or len(known) < len(forms):
        return None
    if len({(form.kind, form.mark) for form in known}) > 1:
        return None
    digits = {form.year_digits for form in known}
    if len(digits) > 1 and known[0].kind != "figures":
        return None
    offsets = {form.offset for form in known if form.has_time}
    form = msgspec.structs.replace(
        known[0],
        year_digits=digits.pop() if len(digits) == 1 else 0,
        has_time=any(form.has_time for form in known),
        has_half=any(form.has_half for form in known),
        is_padded=all(form.is_padded for form in known),
        offset="offset" if "offset" in offsets else "Z" if "Z" in offsets else "",
    )
    missing = Counter[str]()
    for shape in shapes:
        if shape.is_missing and shape.text:
            missing[shape.example] += shape.count
    return DateColumn(
        form=form,
        orders=_orders(form),
        has_offsets=None if "" in offsets and len(offsets) > 1 else bool(offsets - {""}),
        has_bare_days=form.has_time and not all(form.has_time for form in known),
        example=min(filled, key=lambda shape: shape.row).example,
        missing=tuple(sorted(missing.items())),
        blank_count=sum(shape.count for shape in shapes if not shape.text),
    )


def _orders(form: DateForm) -> tuple[DateOrder, ...]:
    """Return the orders of day, month and year that a form admits."""
    match form.kind:
        case "figures":
            # With points days come first, wherever they are in use; values may say otherwise.
            long = ("dmy", "mdy")
            return (*long, "ymd") if form.year_digits == 2 else long
        case "named":
            return ("dmy",)
        case _:
            return ("ymd",)
