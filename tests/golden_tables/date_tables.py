"""Cases of dates and times: every order of day, month and year, proven, unproven and mixed."""

from golden_tables.cases import (
    Case,
    Column,
    Expected,
    case,
    day,
    flag,
    moment,
    number,
    text,
    unclear,
    written,
)
from golden_tables.styles import german

__all__ = ["CASES"]

NAMES = text("Ref", "A1|A2|A3|A4")
PROVEN = "2024-03-01 2024-03-15 2024-12-31 2023-02-28"
UNPROVEN = "2024-03-01 2024-05-02 2024-12-11 2023-02-08"
TURNED = "2024-01-03 2024-02-05 2024-11-12 2023-08-02"
"""The same with day and month in each other's place."""


def _orders() -> list[Case]:
    """Dates in which one value proves the order."""
    found = []
    for name, layout, order in (
        ("iso", "%Y-%m-%d", "ymd"),
        ("iso_slashes", "%Y/%m/%d", "ymd"),
        ("iso_points", "%Y.%m.%d", "ymd"),
        ("iso_compact", "%Y%m%d", "ymd"),
        ("german", "%d.%m.%Y", "dmy"),
        ("german_short", "%-d.%-m.%Y", "dmy"),
        ("german_two_digits", "%d.%m.%y", "dmy"),
        ("british", "%d/%m/%Y", "dmy"),
        ("british_short", "%-d/%-m/%Y", "dmy"),
        ("british_two_digits", "%d/%m/%y", "dmy"),
        ("dutch", "%d-%m-%Y", "dmy"),
        ("dutch_two_digits", "%d-%m-%y", "dmy"),
        ("american", "%m/%d/%Y", "mdy"),
        ("american_short", "%-m/%-d/%Y", "mdy"),
        ("american_two_digits", "%m/%d/%y", "mdy"),
        ("american_hyphens", "%m-%d-%Y", "mdy"),
    ):
        # Eight digits may be a number as well, and are then left as they are.
        dates = day("Datum", PROVEN, layout, order=order)
        if name == "iso_compact":
            counted = number("Datum", "20240301 20240315 20241231 20230228")
            also = [_with(NAMES, counted)]
            found.append(case(f"dates/{name}", [NAMES, dates], also=also))
            continue
        found.append(case(f"dates/{name}", [NAMES, dates]))
        found.append(case(f"dates/{name}_semicolon", [NAMES, dates], delimiter=";"))
    return found


def _with(*columns: Column) -> Expected:
    """Return another reading that is right."""
    return Expected(columns)


def _words() -> list[Case]:
    """Dates with the names of months."""
    found = []
    for name, layout in (
        ("short", "%d %b %Y"),
        ("hyphens", "%d-%b-%Y"),
        ("hyphens_two_digits", "%d-%b-%y"),
        ("american", "%b %d, %Y"),
        ("long", "%d %B %Y"),
        ("american_long", "%B %d, %Y"),
    ):
        dates = day("Datum", PROVEN, layout, may_be_text=True)
        found.append(case(f"month names/{name}", [NAMES, dates]))
    for name, values in (
        ("german", "1. März 2024|15. März 2024|31. Dez. 2024|28. Februar 2023"),
        ("french", "1er mars 2024|15 mars 2024|31 déc. 2024|28 février 2023"),
    ):
        named = day("Datum", PROVEN, "", may_be_text=True, texts=values.split("|"))
        found.append(case(f"month names/{name}", [NAMES, named], delimiter=";"))
    months = text("Monat", "2024-03|2024-04|2024-12|2023-02")
    found.append(case("month names/months", [NAMES, months, number("Wert", "1 2 3 4")]))
    quarters = text("Quartal", "Q1 2024|Q2 2024|Q4 2024|Q1 2023")
    found.append(case("month names/quarters", [NAMES, quarters, number("Wert", "1 2 3 4")]))
    return found


def _two_ways() -> list[Case]:
    """Dates whose day and month nothing tells apart."""
    found = []
    for name, layout in (
        ("slashes", "{0}/{1}/%Y"),
        ("slashes_two_digits", "{0}/{1}/%y"),
        ("slashes_short", "{0}/{1}/%Y"),
        ("hyphens", "{0}-{1}-%Y"),
    ):
        first, second = ("%-d", "%-m") if "short" in name else ("%d", "%m")
        readings = {
            "dmy": [NAMES, day("Date", UNPROVEN, layout.format(first, second), order="dmy")],
            "mdy": [NAMES, day("Date", TURNED, layout.format(second, first), order="mdy")],
        }
        found.append(unclear(f"two orders/{name}", "date_order", readings))
    clock = "T10:30:00 "
    times = {
        "dmy": [
            NAMES,
            moment(
                "Date",
                (UNPROVEN.replace(" ", clock) + clock).strip(),
                "%d/%m/%Y %H:%M",
                order="dmy",
            ),
        ],
        "mdy": [
            NAMES,
            moment(
                "Date", (TURNED.replace(" ", clock) + clock).strip(), "%m/%d/%Y %H:%M", order="mdy"
            ),
        ],
    }
    found.append(unclear("two orders/times", "date_order", times))
    return found


def _proven_elsewhere() -> list[Case]:
    """An order that another column, or one late row, proves."""
    found = []
    for name, layout, order in (
        ("british", "%d/%m/%Y", "dmy"),
        ("american", "%m/%d/%Y", "mdy"),
        ("british_two_digits", "%d/%m/%y", "dmy"),
    ):
        columns = [
            NAMES,
            day("Booked", UNPROVEN, layout, order=order),
            day("Valued", PROVEN, layout, order=order),
        ]
        found.append(case(f"dates elsewhere/{name}", columns))
        many = " ".join([UNPROVEN] * 300) + " 2024-05-31"
        refs = text("Ref", [f"R{each}" for each in range(1201)])
        found.append(
            case(f"dates elsewhere/{name}_late", [refs, day("Date", many, layout, order=order)])
        )
    both = "Ref,Date\nA1,13/02/2024\nA2,02/13/2024\nA3,03/04/2024\n"
    kept = [text("Ref", "A1|A2|A3"), text("Date", "13/02/2024|02/13/2024|03/04/2024")]
    found.append(written("dates elsewhere/both_orders", both, kept))
    layouts = "Ref,Date\nA1,2024-02-13\nA2,13.02.2024\nA3,2024/02/14\n"
    mixed = text("Date", "2024-02-13|13.02.2024|2024/02/14")
    read = day("Date", "2024-02-13 2024-02-13 2024-02-14", "%Y-%m-%d")
    refs = text("Ref", "A1|A2|A3")
    found.append(
        written("dates elsewhere/layouts", layouts, [refs, mixed], also=[_with(refs, read)])
    )
    impossible = "Ref,Date\nA1,31.02.2024\nA2,30.02.2024\nA3,01.03.2024\n"
    wrong = text("Date", "31.02.2024|30.02.2024|01.03.2024")
    found.append(written("dates elsewhere/no_such_day", impossible, [refs, wrong]))
    return found


def _times() -> list[Case]:
    """Times with and without a day, zones, fractions."""
    moments = "2024-03-01T08:30:00 2024-03-15T23:59:59 2024-12-31T00:00:00 2023-02-28T12:00:01"
    found = []
    for name, layout, order in (
        ("iso_t", "%Y-%m-%dT%H:%M:%S", "ymd"),
        ("iso_blank", "%Y-%m-%d %H:%M:%S", "ymd"),
        ("iso_z", "%Y-%m-%dT%H:%M:%SZ", "ymd"),
        ("german", "%d.%m.%Y %H:%M:%S", "dmy"),
        ("american", "%m/%d/%Y %H:%M:%S", "mdy"),
        ("american_pm", "%m/%d/%Y %I:%M:%S %p", "mdy"),
    ):
        # With AM and PM a column may stay as it is written.
        traits = {"may_be_text": name == "american_pm"}
        column = moment("Zeit", moments, layout, order=order, **traits)
        found.append(case(f"times/{name}", [NAMES, column]))
    clock = text("Uhrzeit", "08:30|23:59|00:00|12:01")
    full = text("Uhrzeit", "08:30:00|23:59:00|00:00:00|12:01:00")
    counts = number("Wert", "1 2 3 4")
    also = [_with(NAMES, full, counts)]
    found.append(case("times/clock", [NAMES, clock, counts], also=also))
    lengths = text("Dauer", "1:30:00|0:45:10|25:00:00|100:15:00")
    found.append(case("times/durations", [NAMES, lengths, number("Wert", "1 2 3 4")]))
    zones = text(
        "Zeit",
        "2024-03-01T08:30:00+01:00|2024-03-15T23:59:59+01:00|2024-07-31T00:00:00+02:00"
        "|2023-02-28T12:00:01+01:00",
    )
    utc = moment(
        "Zeit",
        "2024-03-01T07:30:00 2024-03-15T22:59:59 2024-07-30T22:00:00 2023-02-28T11:00:01",
        "%Y-%m-%dT%H:%M:%SZ",
    )
    found.append(case("times/zones", [NAMES, zones], also=[_with(NAMES, utc)]))
    return found


def _beside() -> list[Case]:
    """Years, serial numbers and truth values, which are no dates; missing dates."""
    years = number("Jahr", "2021 2022 2023 2024")
    return [
        case("beside dates/years", [NAMES, years, number("Umsatz", "100 200 300 400")]),
        case(
            "beside dates/missing",
            [NAMES, day("Datum", "2024-03-01 ~ 2024-12-31 ~", "%d.%m.%Y", order="dmy")],
            delimiter=";",
        ),
        case(
            "beside dates/missing_mark",
            [NAMES, day("Datum", "2024-03-01 ~ 2024-12-31 ~", "%Y-%m-%d", missing="n/a")],
        ),
        case(
            "beside dates/zero_date",
            [NAMES, day("Datum", "2024-03-01 ~ 2024-12-31 ~", "%Y-%m-%d", missing="0000-00-00",
                        may_be_text=True)],
        ),
        case(
            "beside dates/decimals",
            [
                NAMES,
                day("Datum", PROVEN, "%d.%m.%Y", order="dmy"),
                number("Betrag", "1.50 -1234.00 0.10 12.00", german, decimal=","),
            ],
            delimiter=";",
        ),
        # 1.10 to 31.12 are days of a year, or numbers with a point.
        case("beside dates/point_numbers", [NAMES, number("Wert", "1.10 31.12 24.12 6.01")]),
        case("beside dates/true", [NAMES, flag("Aktiv", "1 0 1 1", "true", "false")]),
        case("beside dates/upper", [NAMES, flag("Aktiv", "1 0 1 1", "TRUE", "FALSE")]),
        case("beside dates/yes", [NAMES, flag("Aktiv", "1 0 1 1", "yes", "no", may_be_text=True)]),
        case("beside dates/ja", [NAMES, flag("Aktiv", "1 0 1 1", "ja", "nein", may_be_text=True)]),
        case("beside dates/ones", [NAMES, number("Aktiv", "1 0 1 1")]),
    ]  # fmt: skip


CASES = (
    *_orders(),
    *_words(),
    *_two_ways(),
    *_proven_elsewhere(),
    *_times(),
    *_beside(),
)
