"""Values that a job wrote, read as what was expected: figures strictly, forms leniently."""

import re
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

__all__ = ["EMPTY_WORDS", "agree", "figures", "folded", "readings", "written_number"]

CLOSE = 0.0051
"""A figure may be rounded to hundredths; a percentage to tenths."""
EMPTY_WORDS = {"", "(empty)", "(leer)", "(blank)", "(none)", "(ohne)", "-", "–", "n/a"}
MONTHS = (
    ("january", "januar", "jan"), ("february", "februar", "feb"), ("march", "märz", "mar", "mär"),
    ("april", "apr"), ("may", "mai"), ("june", "juni", "jun"), ("july", "juli", "jul"),
    ("august", "aug"), ("september", "sep", "sept"), ("october", "oktober", "oct", "okt"),
    ("november", "nov"), ("december", "dezember", "dec", "dez"),
)  # fmt: skip
_DATES = (
    "%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S",
    "%d.%m.%Y %H:%M", "%Y-%m-%dT%H:%M",
)  # fmt: skip
_FIGURE = re.compile(r"(?<![\w.,])-?(?:[$€£]\s?)?\d(?:[\d.,'’\u00a0\u202f]*\d)?(?:\s?%)?")

Key = str | float | None


def folded(value: Any) -> str:
    """Return a text without what people do not see: capitals, blanks and underscores."""
    return " ".join(str(value).replace("_", " ").casefold().split())


def written_number(text: str, comma: bool) -> float | None:
    """Return the number that a text is, with a decimal comma or a point; None for none."""
    plain = re.sub(r"[$£€%\s'’]|EUR|USD|GBP", "", text).replace("−", "-")
    if plain.startswith("(") and plain.endswith(")"):
        plain = f"-{plain[1:-1]}"
    group, point = (".", ",") if comma else (",", ".")
    if (
        not re.fullmatch(rf"[+-]?(\d+|\d{{1,3}}(\{group}\d{{3}})+)?(\{point}\d+)?", plain)
        or not plain
    ):
        return None
    number = float(plain.replace(group, "").replace(point, ".") or "nan")
    return number / 100 if "%" in text else number


def figures(text: str) -> list[tuple[str, set[float]]]:
    """Return the figures that stand in a text, each with the numbers that it can mean."""
    found = []
    for match in _FIGURE.finditer(text):
        both = {written_number(match[0], comma) for comma in (False, True)}
        found.append((match[0], {number for number in both if number is not None}))
    return found


def agree(expected: Key, found: Key, close: float = CLOSE) -> bool:
    """Whether two values are the same, numbers up to how they may be rounded."""
    if isinstance(expected, float) and isinstance(found, float):
        return abs(expected - found) <= close + 1e-9 * abs(expected)
    return expected == found


def readings(
    name: str,
    expected: Sequence[Any],
    found: Sequence[Any],
    *,
    share: bool = False,
    zeros: bool = False,
    exact: bool = False,
) -> Iterator[tuple[list[Key], list[Key], float]]:
    """Give a column's expected and found values as comparable ones, in each reading that they have.

    Args:
        name: The expected column's; of `Month` and `Quarter` any usual form is read.
        expected: The values that are expected.
        found: Those that are there.
        share: Whether a fraction may stand there as a percentage.
        zeros: Whether nothing and zero are the same.
        exact: Whether capitals and blanks of texts count.

    Returns:
        The expected values, the found ones, and how close numbers must be.
    """
    filled = [value for value in expected if value is not None]
    if filled and folded(name) in {"month", "monat"} and isinstance(filled[0], date):
        yield from _month_readings(expected, found)
    elif filled and re.fullmatch(r"\d{4}-Q\d", str(filled[0])):
        yield from _quarter_readings(expected, found)
    elif filled and isinstance(filled[0], int | float | Decimal):
        yield from _number_readings(expected, found, share, zeros)
    elif filled and isinstance(filled[0], date):
        day = not isinstance(filled[0], datetime)
        yield (
            [_moment(value, day) for value in expected],
            [_moment(value, day) for value in found],
            0.0,
        )
    elif exact:
        yield list(expected), [None if value == "" else value for value in found], 0.0
    else:
        yield [_text(value) for value in expected], [_text(value) for value in found], 0.0


def _number_readings(
    expected: Sequence[Any], found: Sequence[Any], share: bool, zeros: bool
) -> Iterator[tuple[list[Key], list[Key], float]]:
    empty = 0.0 if zeros else None
    wanted: list[Key] = [empty if value is None else float(value) for value in expected]
    for comma in (False, True):
        numbers = [_number(value, comma, empty) for value in found]
        yield wanted, numbers, CLOSE
        if share:
            percent: list[Key] = [
                value * 100 if isinstance(value, float) else value for value in wanted
            ]
            yield percent, numbers, CLOSE * 10
        if not any(isinstance(value, str) for value in found):
            return


def _number(value: Any, comma: bool, empty: Key) -> Key:
    if _text(value) is None:
        return empty
    if isinstance(value, (bool, date)):
        return str(value)
    if isinstance(value, int | float | Decimal):
        return float(value)
    number = written_number(value, comma) if isinstance(value, str) else None
    return folded(value) if number is None else number


def _text(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = folded(value)
    return None if text in EMPTY_WORDS else text


def _moment(value: Any, day: bool) -> str | None:
    """Return a day, or a day and a time, in one form; any other text as it is."""
    if isinstance(value, str):
        for form in _DATES:
            try:
                value = datetime.strptime(value.strip(), form)
            except ValueError:
                continue
            break
    if isinstance(value, date):
        full = (
            value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)
        )
        return f"{full:%Y-%m-%d}" if day else f"{full:%Y-%m-%d %H:%M}"
    return _text(value)


def _month_readings(
    expected: Sequence[Any], found: Sequence[Any]
) -> Iterator[tuple[list[Key], list[Key], float]]:
    wanted = [None if value is None else (value.year, value.month) for value in expected]
    read = [_month(value) for value in found]

    def full(months: Sequence[tuple[int, int] | None]) -> list[Key]:
        return [None if month is None else f"{month[0]}-{month[1]:02}" for month in months]

    yield full(wanted), full(read), 0.0
    # Where there is one year only, the month alone tells it.
    if len({month[0] for month in wanted if month}) == 1:
        short: list[Key] = [None if month is None else f"{month[1]:02}" for month in wanted]
        yield short, [None if month is None else f"{month[1]:02}" for month in read], 0.0


def _month(value: Any) -> tuple[int, int] | None:
    """Return year and month, the year 0 where it is not told."""
    if isinstance(value, date):
        return value.year, value.month
    if isinstance(value, int | float):
        return (0, int(value)) if 1 <= value <= 12 else None
    text = folded(value)
    if moment := re.match(r"(\d{4})-(\d\d)\b", text):
        return int(moment[1]), int(moment[2])
    if moment := re.fullmatch(r"(?:\d\d\.)?(\d\d?)[./ ](\d{4})", text):
        return int(moment[2]), int(moment[1])
    for number, names in enumerate(MONTHS, 1):
        if set(re.findall(r"[^\W\d]+", text)) & set(names):
            year = re.search(r"\d{4}", text)
            return int(year[0]) if year else 0, number
    return (0, int(text)) if re.fullmatch(r"0?[1-9]|1[0-2]", text) else None


def _quarter_readings(
    expected: Sequence[Any], found: Sequence[Any]
) -> Iterator[tuple[list[Key], list[Key], float]]:
    def quarter(value: Any, year: bool) -> Key:
        text = folded(value)
        part = re.search(r"q\s?([1-4])|\b([1-4])\.?\s?(?:q|quartal)|^([1-4])$", text)
        if part is None:
            return text
        number = next(group for group in part.groups() if group)
        told = re.search(r"\d{4}", text)
        return f"{told[0] if told else ''}-{number}" if year else number

    yield (
        [quarter(value, True) for value in expected],
        [quarter(value, True) for value in found],
        0.0,
    )
    if len({str(value)[:4] for value in expected}) == 1:
        yield (
            [quarter(value, False) for value in expected],
            [quarter(value, False) for value in found],
            0.0,
        )
