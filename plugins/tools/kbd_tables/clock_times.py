"""Times as clocks show them (7:30, 38:45:00): durations or times of day, which stay text.

No type of columns is one of durations, and but for a column's name nothing tells 7:30 in the
morning from seven hours and a half. But what they come to in seconds tells of a row below
them whether it sums them up.
"""

import re

from kbd_tables.duck import quoted_text
from kbd_tables.shapes import Shape, trimmed_sql

__all__ = ["DAY_SECONDS", "are_times_of_day", "clock_seconds_sql", "clock_text", "is_clock_time"]

DAY_SECONDS = 24 * 60 * 60
"""No time of day is so late; a duration may be as long."""

_NOON = DAY_SECONDS // 2
_OF_MOMENTS = """
start starts started starting begin begins began beginning end ends ended ending finish finished
arrival arrived arrives departure departed departs checkin checkout login logout logon logoff
sunrise sunset uhrzeit beginn ende anfang startzeit endzeit anfangszeit beginnzeit endezeit
ankunft abfahrt abflug ankunftszeit abfahrtszeit abflugzeit zeitpunkt kommen gehen gekommen
gegangen arbeitsbeginn arbeitsende dienstbeginn dienstende schichtbeginn schichtende
début debut fin arrivée arrivee départ depart inicio início llegada salida chegada saída inizio
fine arrivo partenza einde begintijd eindtijd starttijd aankomst vertrek początek koniec
rozpoczęcia zakończenia przyjazd odjazd začátek konec начало конец окончание прибытие отправление
"""
_MOMENT_WORDS = frozenset(_OF_MOMENTS.split())
"""Words of a name that say when something was."""
_OF_EDGES = """
from to until till between open opens opened opening close closes closed closing in out von bis
desde hasta dal al van tot od do от до
"""
_EDGE_WORDS = frozenset(_OF_EDGES.split())
"""Words that say so where no others stand beside them but these and those of times."""
_OF_TIMES = """
time times at clock zeit um uhr heure heures hora horas ora ore orario tijd tid tidspunkt
klockslag godzina čas cas время hh mm ss hhmm utc gmt local day of
"""
_TIME_WORDS = frozenset(_OF_TIMES.split())
"""Words of times of day as well as of durations."""
_OF_LENGTHS = """
duration length elapsed spent taken total sum hours hrs minutes mins worked working delay lap
dauer länge stunden std minuten arbeitszeit laufzeit fahrzeit summe gesamt verspätung differenz
durée duree duración duracion durata duração duur czas trvání длительность difference net gross
saldo ist soll
"""
_LENGTH_WORDS = frozenset(_OF_LENGTHS.split())

_SHAPE = re.compile("[-+−]?9{1,5}:99(:99)?")
_VALUE = "([-+−]?)([0-9]{1,5}):([0-5][0-9])(?::([0-5][0-9]))?"


def is_clock_time(shape: Shape) -> bool:
    """Tell whether values have the form of such a time."""
    return _SHAPE.fullmatch(shape.text) is not None


def are_times_of_day(name: str, earliest: int, latest: int) -> bool:
    """Tell whether a column of such times surely holds times of day, by its name ("Start", "Bis").

    A name that durations have as well ("Time") is one where some are in the afternoon.

    Args:
        name: Of the column.
        earliest: The least of its values, in seconds.
        latest: The greatest.
    """
    if not 0 <= earliest <= latest < DAY_SECONDS:
        return False
    apart = re.sub(r"(?<=[a-zß-ÿ])(?=[A-Z])", " ", name)
    words = {word.casefold() for word in re.findall(r"[^\W\d_]+", apart)}
    if words & _LENGTH_WORDS:
        return False
    if words & _MOMENT_WORDS:
        return True
    if not words or not words <= _EDGE_WORDS | _TIME_WORDS:
        return False
    return not words <= _TIME_WORDS or latest >= _NOON


def clock_seconds_sql(column: str) -> str:
    """Return the SQL of a time's seconds, NULL for what is none."""
    value = trimmed_sql(column)
    sign, hours, minutes, seconds = (
        f"regexp_extract({value}, {quoted_text(f'^{_VALUE}$')}, {part})" for part in range(1, 5)
    )
    whole = (
        f"3600 * try_cast({hours} AS BIGINT) + 60 * try_cast({minutes} AS BIGINT)"
        f" + coalesce(try_cast({seconds} AS BIGINT), 0)"
    )
    return f"(CASE WHEN {sign} IN ('-', '−') THEN -1 ELSE 1 END * ({whole}))"


def clock_text(seconds: int) -> str:
    """Return seconds as a clock shows them, without those where there are none."""
    minutes, rest = divmod(abs(seconds), 60)
    text = f"{'-' if seconds < 0 else ''}{minutes // 60}:{minutes % 60:02}"
    return f"{text}:{rest:02}" if rest else text
