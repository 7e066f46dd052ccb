"""Numbers as people write them: which ways of reading them fit a whole column, and their SQL.

A column is read with a decimal point or with a decimal comma, and with at most one mark between
groups of digits. What only one of the two fits is proven; what both fit is for the other columns of
the file to decide (`kbd_tables.evidence`), or has to be asked.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from kbd_tables.duck import quoted_text
from kbd_tables.shapes import BLANKS, Shape, alternatives, missing_sql, trimmed_sql

__all__ = [
    "CURRENCIES",
    "SAME_CURRENCY",
    "DecimalMark",
    "Notation",
    "NumberColumn",
    "is_no_amount",
    "is_number",
    "number_column",
    "number_form",
]

DecimalMark = str
"""The mark before the fraction: "." or ","."""

_APOSTROPHES = "'’"
_MINUS = "-−–"
CURRENCIES = (
    "€", "$", "£", "¥", "₹", "₽", "₩", "₺", "₴", "₫", "฿", "₪", "₦", "US$", "R$", "A$", "C$", "CA$",
    "NZ$", "HK$", "zł", "kr", "kr.", "Kr", "Kr.", "Kč", "Ft", "lei", "лв", "лв.", "руб", "руб.",
    "Fr.", "SFr.", "sFr.", "Rs", "Rs.", "Euro", "EUR", "USD", "GBP", "JPY", "CHF", "CNY", "INR",
    "TL", "Rp", "Rp.", "грн", "грн.", "元", "円", "원", "IDR",
    "RUB", "KRW", "TRY", "UAH", "SEK", "NOK", "DKK", "ISK", "PLN", "CZK", "HUF", "RON", "BGN",
    "CAD", "AUD", "NZD", "HKD", "SGD", "BRL", "MXN", "ZAR", "ILS", "THB", "AED", "SAR", "RSD",
)  # fmt: skip
"""Signs and codes of currencies (ISO 4217), and the abbreviations that stand in tables."""

SAME_CURRENCY = {"€": "EUR", "Euro": "EUR", "£": "GBP"}
"""Signs that are one currency's alone, with its code."""

_BLANK = f"[{BLANKS}]"
_MARKS = f".,{_APOSTROPHES}{BLANKS}"
_CURRENCY = alternatives(CURRENCIES)
_SHAPE = re.compile(
    rf"(?P<c1>{_CURRENCY})?{_BLANK}*(?P<open>\()?{_BLANK}*(?P<s1>[-+−–])?{_BLANK}*"
    rf"(?P<c2>{_CURRENCY})?{_BLANK}*(?P<s2>[-+−–])?{_BLANK}*"
    rf"(?P<core>[.,]?9(?:[{_MARKS}]?9)*(?:\.(?![-−–—]))?)(?P<cents>[.,](?:--?|[−–—]))?"
    rf"(?P<exponent>[eE](?P<es>[-+]?)9{{1,3}})?"
    rf"{_BLANK}*(?P<percent>%)?{_BLANK}*(?P<c3>{_CURRENCY})?{_BLANK}*(?P<trail>[-−])?"
    rf"{_BLANK}*(?P<close>\))?{_BLANK}*(?P<c4>{_CURRENCY})?"
)
_NEGATIVE = "^[^0-9]*[-−–(]|(^|[^-.,])[-−][ )]*$"
"""What makes a number negative; a dash behind a decimal mark stands for no cents (12.-)."""
_NOTHING = re.compile(rf"\(?(?:{_CURRENCY}){_BLANK}*[-−–—]+\)?|[-−–—]+{_BLANK}*(?:{_CURRENCY})")
"""A dash beside a currency: no amount, as accounting formats show it."""
_LETTERS = str.maketrans({**dict.fromkeys(BLANKS, " "), "’": "'"})


class NumberForm(msgspec.Struct, frozen=True):
    """How a number is written.

    Args:
        runs: The lengths of its runs of digits; the first one may be 0 (".5"), or the last ("5.").
        marks: What stands between them; blanks and apostrophes of all kinds are one.
        leads_zero: Whether its first digit is a zero.
        currency: The currency as it is written, or "".
        sign: "" for none, "-" where it stands before the digits, "+", "()" or "trailing".
        is_percent: Whether a percent sign follows.
        exponent: "" for none, "code" for one that may be the letter of a code (1E5), else "power".
    """

    runs: tuple[int, ...]
    marks: str
    leads_zero: bool
    currency: str
    sign: str
    is_percent: bool
    exponent: str


class Notation(msgspec.Struct, frozen=True):
    """A way of reading a column of numbers.

    Args:
        decimal: The decimal mark; of no meaning where the scale is 0.
        group: The mark between groups of digits, or "".
        digits: The most digits before the decimal mark.
        scale: The most digits after it.
    """

    decimal: DecimalMark
    group: str
    digits: int
    scale: int


class NumberColumn(msgspec.Struct, frozen=True):
    """Column whose values are numbers, but for missing ones.

    Args:
        notations: The ways of reading that all values fit: none, one, or both.
        is_marked: Whether a value has a point or a comma, so that the mark of decimals counts.
        is_plain: Whether no value has more than digits, a minus, marks and an exponent.
        fault: Why it stays text although its values are numbers, or "".
        is_code: Whether it may be a code as well: only where the file says so it is a number.
        currency: Its currency as it is written first, or "".
        currencies: All the ways that this currency is written.
        is_percent: Whether its values are in percent.
        has_exponents: Whether a value has an exponent.
        example: The value that shows how it is read.
        set_off: A value that is negative by brackets or by a minus behind it, or "".
        missing: Texts for missing values, with their count; the empty one not among them.
        blank_count: Values of nothing but blanks.
    """

    notations: tuple[Notation, ...]
    is_marked: bool
    is_plain: bool
    fault: str
    is_code: bool
    currency: str
    currencies: tuple[str, ...]
    is_percent: bool
    has_exponents: bool
    example: str
    set_off: str
    missing: tuple[tuple[str, int], ...]
    blank_count: int

    def sql(self, column: str, notation: Notation) -> str:
        """Return the SQL of a value as DuckDB casts it: a point, no groups, a minus; or NULL."""
        value = trimmed_sql(column)
        core = value
        if not self.is_plain:
            for currency in self.currencies:
                core = f"replace({core}, {quoted_text(currency)}, '')"
            negative = f"regexp_matches({core}, '{_NEGATIVE}')"
            marks = _MARKS.replace("'", "''")
            digits = f"regexp_extract({core}, '[.,]?[0-9](?:[{marks}]?[0-9])*(?:[eE][-+]?[0-9]+)?')"
            # Not concat, which makes a text of NULL.
            core = f"(CASE WHEN {negative} THEN '-' ELSE '' END || {digits})"
        match notation.group:
            case "":
                pass
            case " ":
                core = f"translate({core}, {quoted_text(BLANKS)}, '')"
            case "'":
                core = f"translate({core}, {quoted_text(_APOSTROPHES)}, '')"
            case mark:
                core = f"replace({core}, '{mark}', '')"
        if notation.decimal == "," and notation.scale:
            core = f"replace({core}, ',', '.')"
        if not self.missing and not self.blank_count:
            return core
        is_missing = missing_sql(value)
        if any(_NOTHING.fullmatch(text) for text, _ in self.missing):
            is_missing = f"NOT regexp_matches({value}, '[0-9]')"
        return f"CASE WHEN {is_missing} THEN NULL ELSE {core} END"

    def number(self, value: str, notation: Notation) -> str:
        """Return the number that a value is, as `sql` does; 12% is 12 here."""
        for currency in self.currencies:
            value = value.replace(currency, "")
        core = re.search(rf"[.,]?[0-9](?:[{_MARKS}]?[0-9])*(?:[eE][-+]?[0-9]+)?", value)
        assert core is not None, "a number has digits"
        digits = core[0].translate(_LETTERS)
        if notation.group:
            digits = digits.replace(notation.group, "")
        is_negative = re.search(_NEGATIVE, value) is not None
        return ("-" if is_negative else "") + digits.replace(",", ".")


class NumberFit(msgspec.Struct, frozen=True):
    """What a number is by one decimal mark: its mark of groups, and the systems that these fit."""

    group: str
    systems: frozenset[str]
    digits: int
    scale: int


def number_form(shape: Shape) -> NumberForm | None:
    """Return how a number is written; None if it is none."""
    found = _SHAPE.fullmatch(shape.text)
    if found is None:
        return None
    part = found.groupdict(default="")
    currencies = [part[name] for name in ("c1", "c2", "c3", "c4") if part[name]]
    signs = [part[name] for name in ("s1", "s2") if part[name]]
    signs += ["trailing"] if part["trail"] else []
    signs += ["()"] if part["open"] else []
    if len(currencies) > 1 or len(signs) > 1 or bool(part["open"]) != bool(part["close"]):
        return None
    if part["percent"] and currencies:
        return None
    # "12.-" is 12.00.
    core = part["core"] + (f"{part['cents'][0]}99" if part["cents"] else "")
    runs = tuple(len(run) for run in re.split("[^9]", core))
    marks = re.sub("9", "", core).translate(_LETTERS)
    sign = signs[0] if signs else ""
    exponent = "" if not part["exponent"] else "power"
    if part["exponent"].startswith("E") and not part["es"]:
        exponent = "code"
    return NumberForm(
        runs,
        marks,
        shape.zero,
        currencies[0] if currencies else "",
        "-" if sign and sign in _MINUS else sign,
        bool(part["percent"]),
        exponent,
    )


def fit(form: NumberForm, decimal: DecimalMark) -> NumberFit | None:
    """Return what a number is with a decimal mark; None if it cannot be read so."""
    has_fraction = form.marks.endswith(decimal)
    group_marks = form.marks[:-1] if has_fraction else form.marks
    whole = form.runs[:-1] if has_fraction else form.runs
    if len(set(group_marks)) > 1 or decimal in group_marks:
        return None
    systems = _systems(whole) if group_marks else frozenset()
    if group_marks and (form.leads_zero or not systems):
        return None
    if form.leads_zero and whole[0] > 1:
        # 007 is a code.
        return None
    scale = form.runs[-1] if has_fraction else 0
    return NumberFit(group_marks[:1], systems, sum(whole), scale)


def _systems(whole: Sequence[int]) -> frozenset[str]:
    """Return how the digits of a whole number may be grouped, none if they are no groups."""
    first, *middle, last = whole
    found = set()
    if 1 <= first <= 3 and last == 3 and all(size == 3 for size in middle):
        found.add("thousands")
    if 1 <= first <= 2 and last == 3 and all(size == 2 for size in middle):
        found.add("lakhs")  # 12,34,567 as in India
    return frozenset(found)


def number_column(shapes: Sequence[Shape]) -> NumberColumn | None:
    """Return what a column of numbers is; None if a value is neither a number nor missing."""
    filled = [(shape, number_form(shape)) for shape in shapes if not is_no_amount(shape)]
    forms = [(shape, form) for shape, form in filled if form is not None]
    if not forms or len(forms) < len(filled):
        return None
    if not all(_fits(form) for _, form in forms):
        return None
    notations = tuple(
        notation for mark in ".," if (notation := _notation([form for _, form in forms], mark))
    )
    if len(notations) == 2 and notations[0].scale == notations[1].scale == 0:
        notations = notations[:1]  # whole numbers without a mark that means either
    notations = _without_irregular([form for _, form in forms], notations)
    written = Counter[str]()
    for shape, form in forms:
        written[form.currency] += shape.count
    currencies = tuple(currency for currency in written if currency)
    marked = [shape for shape, form in forms if set(form.marks) & set(".,")]
    example = min(marked or [shape for shape, _ in forms], key=lambda shape: shape.row)
    set_off = next((one.example for one, form in forms if form.sign in ("()", "trailing")), "")
    missing = Counter[str]()
    for shape in shapes:
        if is_no_amount(shape) and shape.text:
            missing[shape.example] += shape.count
    return NumberColumn(
        notations=notations,
        is_marked=bool(marked),
        is_plain=all(
            not form.currency and not form.is_percent and form.sign in ("", "-")
            for _, form in forms
        )
        and not any(re.search(rf"[−–—]|-[{BLANKS}]|[.,]-", shape.text) for shape, _ in forms),
        fault=_fault(forms, notations, currencies),
        is_code=_is_code([form for _, form in forms], notations),
        currency=currencies[0] if currencies else "",
        currencies=tuple(sorted(currencies, key=len, reverse=True)),
        is_percent=any(form.is_percent for _, form in forms),
        has_exponents=any(form.exponent for _, form in forms),
        example=example.example,
        set_off=set_off,
        missing=tuple(sorted(missing.items())),
        blank_count=sum(shape.count for shape in shapes if not shape.text),
    )


def is_no_amount(shape: Shape) -> bool:
    """Tell whether values are missing among numbers: also a dash beside a currency."""
    return shape.is_missing or _NOTHING.fullmatch(shape.text) is not None


def is_number(shape: Shape) -> bool:
    """Tell whether values can be read as numbers; 007 and 1.2.3 cannot, though they look so."""
    form = number_form(shape)
    return form is not None and _fits(form)


def _fits(form: NumberForm) -> bool:
    return fit(form, ".") is not None or fit(form, ",") is not None


def _notation(forms: Iterable[NumberForm], mark: DecimalMark) -> Notation | None:
    """Return the way of reading with a decimal mark that all numbers fit, None if some do not."""
    fits = []
    for form in forms:
        found = fit(form, mark)
        if found is None:
            return None
        fits.append(found)
    groups = {found.group for found in fits if found.group}
    systems = [found.systems for found in fits if found.group]
    if len(groups) > 1 or (systems and not frozenset.intersection(*systems)):
        return None
    return Notation(
        mark,
        next(iter(groups), ""),
        max(found.digits for found in fits),
        max(found.scale for found in fits),
    )


def _without_irregular(
    forms: Sequence[NumberForm], notations: tuple[Notation, ...]
) -> tuple[Notation, ...]:
    """Leave a way of reading out by which some numbers have groups and others of that size none.

    A number of four digits is often written without, as in Spanish, where longer ones have groups;
    so it only speaks against groups where another one of four digits has them.
    """
    if len(notations) < 2:
        return notations
    regular = []
    for notation in notations:
        fits = [found for form in forms if (found := fit(form, notation.decimal))]
        grouped = [found.digits for found in fits if found.group]
        bare = max((found.digits for found in fits if not found.group), default=0)
        if not grouped or bare < 4 or (bare == 4 and min(grouped) > 4):
            regular.append(notation)
    return tuple(regular) or notations


def _is_code(forms: Sequence[NumberForm], notations: Sequence[Notation]) -> bool:
    """Tell whether numbers in groups may be codes: all alike, and nothing else says "number".

    Codes have groups of one size throughout ("123 456", "1.234.567"), and numbers have many.
    """
    if len(notations) != 1 or notations[0].scale or notations[0].group not in (".", " "):
        return False
    if any(form.currency or form.is_percent or form.sign for form in forms):
        return False
    shapes = {form.runs for form in forms}
    # A point or a blank after one digit alone is how thousands are written.
    return len(shapes) == 1 and (
        notations[0].group == "." or len(forms[0].runs) > 2 or forms[0].runs[0] > 1
    )


def _fault(
    forms: Sequence[tuple[Shape, NumberForm]],
    notations: Sequence[Notation],
    currencies: Sequence[str],
) -> str:
    """Return why numbers are not read as such, "" if they are."""
    if len({SAME_CURRENCY.get(currency, currency) for currency in currencies}) > 1:
        counts = Counter[str]()
        for shape, form in forms:
            counts[form.currency] += shape.count
        named = " and ".join(f"{name} ({counts[name]:,})" for name in currencies)
        return f"it mixes currencies: {named}"
    percents = [shape for shape, form in forms if form.is_percent]
    others = [shape for shape, form in forms if not form.is_percent]
    if percents and others:
        return (
            f"it mixes percentages ({percents[0].example}) and other numbers ({others[0].example})"
        )
    if not notations:
        return f"its numbers are not written alike ({_unlike(forms)})"
    if _have_no_proof(forms):
        return f"values such as {forms[0][0].example} may be something else than numbers"
    return ""


def _unlike(forms: Sequence[tuple[Shape, NumberForm]]) -> str:
    """Return two numbers that no one way of reading fits, or the first two."""
    first = forms[0]
    for shape, form in forms[1:]:
        if not any(_notation([first[1], form], mark) for mark in ".,"):
            return f"{first[0].example}, {shape.example}"
    return ", ".join(shape.example for shape, _ in forms[:2])


def _have_no_proof(forms: Sequence[tuple[Shape, NumberForm]]) -> bool:
    """Tell whether what is odd in a column has nothing beside it that is plainly a number.

    `+49` may be a phone's, `(1)` a footnote's, `12-` a range's, `1.` a rank, and `12E4` a code.
    """
    each = [form for _, form in forms]
    is_proven = any(
        form.currency or form.is_percent or set(form.marks) & set(".,'") for form in each
    )
    if any(form.sign == "+" and " " in form.marks for form in each):
        return True
    if any(not form.runs[-1] for form in each) and all(
        not form.runs[-1] or not form.marks for form in each
    ):
        return True
    if any(form.exponent == "code" for form in each) and not is_proven:
        return True
    if is_proven:
        return False
    signs = {form.sign for form in each}
    if "+" in signs and not signs & {"-", "()", "trailing"}:
        return True
    return bool(signs & {"()", "trailing"}) and not signs & {"", "-"}
