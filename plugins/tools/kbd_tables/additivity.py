"""Additivity of a column's numbers: whether their sum is a figure, or means nothing.

A sum of unit prices, rates, years or keys is a number all the same, and looks like a result. So the
column says what it is, by its name in English, German, French and Spanish, and by its values.
"""

import re
import unicodedata
from typing import Literal

import msgspec

from kbd.formats import ColumnType

__all__ = ["Additivity", "ColumnRole", "NumberFacts", "additivity", "summed_columns"]

ColumnRole = Literal["additive", "rate", "unit price", "year", "id"]


class NumberFacts(msgspec.Struct, frozen=True):
    """What is known of a column's values: figures of whole numbers alone.

    Args:
        count: How many there are.
        minimum: The least; None where it is not known.
        maximum: The greatest.
        total: Their sum.
        is_percent: Whether they were written with percent signs.
    """

    count: int = 0
    minimum: int | None = None
    maximum: int | None = None
    total: int | None = None
    is_percent: bool = False


class Additivity(msgspec.Struct, frozen=True):
    """What the numbers of a column are, and what says so."""

    role: ColumnRole
    reason: str = ""


_ADDITIVE = Additivity("additive")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_TOTALS = _words(
    "total totals totale gesamt summe sum amount betrag umsatz line extended montant importe "
    "somme suma anzahl count quantity menge"
)
_IDS = _words(
    "id ids key code codes nr no num number nummer numero kennung kennzahl sku ean gtin isbn plz "
    "zip zipcode postcode phone telefon tel telephone telefono fax iban account konto compte "
    "cuenta ref reference referenz index rownum matricule codigo schluessel"
)
_ID_FIRST = _words("id code codigo")
_ID_ENDS = ("nummer", "nr", "number", "schluessel", "kennziffer", "leitzahl")
_YEARS = _words("year years yr jahr jahre annee annees ano anos anno fy exercice")
_YEAR_ENDS = ("jahr", "year")
_RATES = _words(
    "rate rates ratio percent percentage pct prozent quote satz anteil share margin marge taux "
    "tasa porcentaje kurs average avg mean median durchschnitt mittelwert moyenne promedio score "
    "rating temperature temperatur"
)
_RATE_ENDS = ("quote", "satz", "anteil", "prozent", "kurs", "rate")
_PRICES = _words("price prices preis preise prix precio precios prezzo unitprice")
_PRICE_ENDS = ("preis", "price")
_UNITS = _words("unit stueck einzel unitaire unitario unidad piece")
_COSTS = _words("cost costs kosten cout costo coste wert value valeur valor")
_PER = re.compile(r".+(\b(per|pro|je|par|por)\b|/).+")

_YEAR_BOUNDS = (1000, 2999)
_LIKELY_YEARS = (1900, 2100)
_MIN_VALUES = 5
"""Fewer values are like years, or count up by one, by chance."""


def additivity(name: str, type_: ColumnType, facts: NumberFacts) -> Additivity:
    """Return what the numbers of a column are; everything is additive that nothing speaks against.

    Args:
        name: The column's.
        type_: Its type; what is no number is additive, for nobody adds it up.
        facts: Its values.
    """
    if type_ not in ("integer", "float"):
        return _ADDITIVE
    plain = _plain(name)
    words = re.findall(r"[a-z]+", plain)
    by_name = _by_name(plain, words, facts, is_whole=type_ == "integer")
    if by_name is not None:
        return Additivity(by_name, "by its name")
    if facts.is_percent:
        return Additivity("rate", "its values are percentages")
    if type_ == "integer" and not _TOTALS.intersection(words):
        return _by_values(facts)
    return _ADDITIVE


def _by_name(
    plain: str, words: list[str], facts: NumberFacts, *, is_whole: bool
) -> ColumnRole | None:
    """Return what a column is by its name, None if that says nothing."""
    is_total = bool(_TOTALS.intersection(words)) or any(word.startswith("gesamt") for word in words)
    if is_whole and _YEARS.union(_YEAR_ENDS).intersection(words) | _ended(words, _YEAR_ENDS):
        return "year" if _are_between(facts, *_YEAR_BOUNDS) else None
    if not words or is_total:
        return None
    if "%" in plain or _RATES.intersection(words) or _ended(words, _RATE_ENDS):
        return "rate"
    is_price = _PRICES.intersection(words) or _ended(words, _PRICE_ENDS)
    if is_price or (_UNITS.intersection(words) and _COSTS.intersection(words)):
        return "unit price"
    if _PER.fullmatch(plain):
        return "unit price" if _COSTS.intersection(words) else "rate"
    if is_whole and (words[-1] in _IDS or words[0] in _ID_FIRST or _ended(words[-1:], _ID_ENDS)):
        return "id"
    return None


def _by_values(facts: NumberFacts) -> Additivity:
    """Return what whole numbers are by their values."""
    low, high, total = facts.minimum, facts.maximum, facts.total
    if facts.count < _MIN_VALUES or low is None or high is None or total is None:
        return _ADDITIVE
    # Twice the sum of consecutive numbers is their count times the two ends.
    if high - low + 1 == facts.count and 2 * total == (low + high) * facts.count and low in (0, 1):
        return Additivity("id", "its values count up by one")
    if _are_between(facts, *_LIKELY_YEARS):
        return Additivity("year", "its values are all between 1900 and 2100")
    return _ADDITIVE


def _are_between(facts: NumberFacts, low: int, high: int) -> bool:
    if facts.minimum is None or facts.maximum is None:
        return False
    return low <= facts.minimum and facts.maximum <= high


def _ended(words: list[str], ends: tuple[str, ...]) -> set[str]:
    """Return the words that are compounds with one of some ends, as in German."""
    return {word for word in words if word.endswith(ends) and word not in ends}


def _plain(name: str) -> str:
    """Return a name in small letters without accents, its words apart."""
    apart = re.sub(r"(?<=[a-zäöüß])(?=[A-Z])", " ", name).replace("_", " ").replace("°", "o")
    spelt = apart.lower().replace("ä", "ae").replace("ö", "oe").replace("ü", "ue")
    return unicodedata.normalize("NFKD", spelt).encode("ascii", "ignore").decode()


def summed_columns(sql: str, names: list[str]) -> list[str]:
    """Return the columns that a statement sums as they are, of some."""
    return [
        name
        for name in names
        if re.search(
            rf'\bsum\s*\(\s*(?:"?data"?\.)?(?:"{re.escape(name)}"|{re.escape(name)})\s*\)',
            sql,
            re.IGNORECASE,
        )
    ]
