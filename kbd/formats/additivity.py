"""Additivity of a column's numbers: whether their sum is a figure, or means nothing. Pure.

A sum of unit prices, rates, years or keys is a number all the same, and looks like a result. So the
column says what it is, by its name in the languages that kbd knows, and by its values.
"""

import re
import unicodedata
from typing import Literal

import msgspec

from kbd.formats.records import ColumnType
from kbd.formats.total_labels import total_label

__all__ = [
    "Additivity",
    "ColumnRole",
    "NumberFacts",
    "additivity",
    "is_balance_name",
    "is_quantity_name",
    "is_rate_name",
    "sum_sentence",
]

ColumnRole = Literal["additive", "rate", "unit price", "year", "period", "id", "level", "balance"]


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


def _plain(name: str) -> str:
    """Return a name in small letters without accents, its words apart."""
    # A small letter before a capital ends a word; with other marks of words taken as blanks.
    apart = re.sub(r"(?<=[^\W\d_A-Z])(?=[A-Z])", " ", name).replace("_", " ").replace("°", "o")
    spelt = apart.casefold()
    for letter, instead in (("ä", "ae"), ("ö", "oe"), ("ü", "ue"), ("ł", "l"), ("đ", "d")):
        spelt = spelt.replace(letter, instead)
    folded = unicodedata.normalize("NFKD", spelt)
    return "".join(each for each in folded if not unicodedata.combining(each))


def _words(text: str) -> frozenset[str]:
    return frozenset(_plain(text).split())


def _ends(text: str) -> tuple[str, ...]:
    return tuple(_plain(text).split())


_TOTALS = _words(
    "total totals totale gesamt summe sum amount amounts betrag umsatz line extended montant "
    "importe somme suma anzahl count quantity menge importo valore belopp belob belop bedrag "
    "kwota iznos сумма количество celkem summa ukupno quantite cantidad quantita revenue sales "
    "turnover subtotal"
)
_QUANTITIES = _words(
    "quantity quantities qty qnty menge anzahl stueckzahl stueck stck stk count units pieces pcs "
    "number cantidad cant quantite qte nombre quantita qta quantidade qtd aantal hoeveelheid ilosc "
    "liczba mnozstvi pocet mnozstvo kolicina kol количество кол кількість antal mangd maara kogus "
    "daudzums kiekis mennyiseg darab cantitate adet miktar ποσοτητα 数量 수량 количина jumlah "
    "hours hrs stunden std heures horas ore uren godziny kg weight gewicht poids peso km "
    "kilometer miles litres liters liter litros tage nights naechte"
)
_BALANCES = _words(
    "balance saldo kontostand solde salden balans zustatek egyenleg saldi остаток bakiye 残高 余额"
)
_IDS = _words(
    "id ids key code codes nr no num number nummer numero kennung kennzahl sku ean gtin isbn plz "
    "zip zipcode postcode phone telefon tel telephone telefono fax iban account konto compte "
    "cuenta ref reference referenz index rownum matricule codigo schluessel codice conto "
    "nummeret numer kod cislo broj kljuc номер код індекс индекс numarasi αριθμος numar szam "
    "番号 编号 編號 번호 pin bic serial"
)
_ID_FIRST = _words("id code codigo codice kod номер 编号")
_ID_ENDS = _ends(
    "nummer nr number schluessel kennziffer leitzahl nummeret numer 番号 编号 編號 번호"
)
_BALANCE_ENDS = _ends("saldo balance stand")
_YEARS = _words(
    "year years yr jahr jahre annee annees ano anos anno anni fy exercice jaar rok rocznik lata "
    "godina god год рік година ar vuosi aasta gads metai yil ετος έτος 年 年度 연도 năm tahun"
)
_YEAR_ENDS = _ends("jahr year jaar aasta 年")
_PERIODS: tuple[tuple[frozenset[str], int, int], ...] = (
    (_words("month monat mois mes mese maand miesiac mesic mjesec mesec месяц місяць kuukausi "
            "manad maned kuu menesis menuo honap luna ay μηνας 月 월 thang bulan"), 1, 12),
    (_words("week woche kalenderwoche semaine semana settimana tydzien tyden tjedan nedelja "
            "неделя viikko vecka uge uke het hafta εβδομαδα 周 週 주 weeknumber"), 1, 53),
    (_words("quarter quartal trimestre trimester kwartal kvartal ctvrtleti квартал neljannes"),
     1, 4),
    (_words("day tag jour dia giorno dag dzien dan день paiva weekday wochentag 日 일"), 0, 31),
)  # fmt: skip
"""Words for numbers of the calendar, with the least and the greatest; plurals are lengths."""

_YEAR_MONTHS = (190001, 210012)
_WEEK = re.compile(r"\b(?:KW|CW|Wk)\b")
_RATES = _words(
    "rate rates ratio percent percentage pct prozent quote satz anteil share taux tasa porcentaje "
    "kurs average avg mean median durchschnitt mittelwert moyenne promedio score rating tasso "
    "percentuale taxa percentagem porcentagem procent percentuage stawka srednia prumer prosjek "
    "ставка процент курс среднее средний відсоток gemiddelde keskiarvo medelvarde gennemsnit "
    "szazalek atlag ortalama yuzde oran ctr cpc cpm cpa cpl cpv cvr roas "
    "acos 率 割合 比率 比例 平均 평균 비율"
)
_RATE_ENDS = _ends("quote satz anteil prozent kurs rate procent prosentti 率 比率 比例")
_LEVELS = _words(
    "temperature temperatur temperatura temp age alter idade edad eta leeftijd wiek vek "
    "latitude longitude lat lon lng breitengrad laengengrad rank rang ranking humidity "
    "возраст температура 年齢 年龄"
)
_PRICES = _words(
    "price prices preis preise prix precio precios prezzo prezzi unitprice preco precos prijs "
    "prijzen cena ceny cijena cijene цена ціна pris priser hinta hinnat hind kaina egysegar pret "
    "preturi fiyat birimfiyat τιμη harga ราคา سعر מחיר 单价 單價 単価 价格 價格 価格 단가 가격"
)
_PRICE_ENDS = _ends("preis preise price prijs pris hinta 单价 單價 単価 价格 價格 価格 단가 가격")
_PRICE_PHRASES = ("don gia",)
_UNITS = _words("unit stueck einzel unitaire unitario unitaria unidad piece jednostkowa jednotkova")
_COSTS = _words("cost costs kosten cout costo coste wert value valeur valor custo koszt naklady")
_PER = re.compile(r".+\b(per|pro|je|par|por)\b.+")
_PER_UNIT = re.compile(
    r".+/\s*(1|100|1000)?\s*(h|hr|hour|std|stunde|kg|g|l|m|m2|m3|qm|km|stk|st|stueck|units?|piece|pcs?|"
    r"day|d|tag|month|monat|mo|year|yr|jahr|week|woche|person|kopf|head|item|user|min|s|sec|kwh|mwh|"
    r"ton|t|lb|oz|sqft|acre|ha|night|nacht)\b.*"
)

_YEAR_BOUNDS = (1000, 2999)
_LIKELY_YEARS = (1900, 2100)
_MIN_VALUES = 5
"""Fewer values are like years, or count up by one, by chance."""
_MIN_RUN = 20
"""So many values count up by one from any number, as those of receipts do, by no chance."""


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
    words = _words_of(plain)
    by_name = _by_name(name, plain, words, facts, is_whole=type_ == "integer")
    if by_name is not None:
        return Additivity(by_name, "by its name")
    if facts.is_percent:
        return Additivity("rate", "its values are percentages")
    if type_ == "integer" and not _TOTALS.intersection(words):
        return _by_values(facts)
    return _ADDITIVE


def is_quantity_name(name: str) -> bool:
    """Tell whether a column's name says that it counts or measures: what a price is for."""
    plain = _plain(name)
    return bool(_QUANTITIES.intersection(_words_of(plain))) and not _is_per(plain)


def is_rate_name(name: str) -> bool:
    """Tell whether a name says that its figures are rates: so much in a hundred, or for each."""
    plain = _plain(name)
    words = _words_of(plain)
    if "%" in plain or _is_total(name, words):
        return "%" in plain
    return bool(_RATES.intersection(words) or _ended(words, _RATE_ENDS)) or _is_per(plain)


def is_balance_name(name: str) -> bool:
    """Tell whether a name may be that of a running balance; the values have to prove it."""
    words = _words_of(_plain(name))
    return bool(_BALANCES.intersection(words)) or bool(_ended(words, _BALANCE_ENDS))


_WHAT: dict[ColumnRole, str] = {
    "additive": "a figure like others",
    "rate": "a rate or an average",
    "unit price": "a price for one piece",
    "year": "a year",
    "period": "a number of the calendar",
    "id": "a number that names something",
    "level": "a level that does not add up",
    "balance": "a running balance",
}


def sum_sentence(name: str, found: Additivity, *, was: str = "was summed") -> str:
    """Return the sentence on the sum of a column that is not additive.

    Args:
        name: The column's.
        found: What it is.
        was: What was done, or not done, with it.
    """
    return f"{name} {was}; it is {_WHAT[found.role]} ({found.reason})"


def _words_of(plain: str) -> list[str]:
    return re.findall(r"[^\W\d_]+", plain)


def _by_name(
    name: str, plain: str, words: list[str], facts: NumberFacts, *, is_whole: bool
) -> ColumnRole | None:
    """Return what a column is by its name, None if that says nothing."""
    if is_whole and (_YEARS.intersection(words) or _ended(words, _YEAR_ENDS)):
        return "year" if _are_between(facts, *_YEAR_BOUNDS) else None
    if not words or _is_total(name, words):
        return None
    if is_whole and _is_period(name, words, facts):
        return "period"
    if "%" in plain or _RATES.intersection(words) or _ended(words, _RATE_ENDS):
        return "rate"
    is_price = bool(_PRICES.intersection(words) or _ended(words, _PRICE_ENDS))
    if (
        is_price
        or any(phrase in plain for phrase in _PRICE_PHRASES)
        or (_UNITS.intersection(words) and _COSTS.intersection(words))
    ):
        return "unit price"
    if _is_per(plain):
        return "unit price" if _COSTS.intersection(words) else "rate"
    if _LEVELS.intersection(words):
        return "level"
    if is_whole and (words[-1] in _IDS or words[0] in _ID_FIRST or _ended(words[-1:], _ID_ENDS)):
        return "id"
    return None


def _is_total(name: str, words: list[str]) -> bool:
    """Tell whether a name says that its figures are amounts or sums, whatever else it says."""
    if _TOTALS.intersection(words) or any(word.startswith("gesamt") for word in words):
        return True
    label = total_label(name)
    return label is not None and label.kind == "sum"


def _is_per(plain: str) -> bool:
    """Tell whether a name says so much for each of something."""
    return _PER.fullmatch(plain) is not None or _PER_UNIT.fullmatch(plain) is not None


def _is_period(name: str, words: list[str], facts: NumberFacts) -> bool:
    """Tell whether whole numbers are those of months, weeks, quarters or days, by both."""
    if _WEEK.search(name) and _are_between(facts, 1, 53):
        return True
    for known, low, high in _PERIODS:
        # "Month" or "birth month"; a month's sales are no months, nor are "months".
        if words[-1] in known or words == ["month", "number"]:
            is_month = high == 12 and _are_between(facts, *_YEAR_MONTHS)
            return is_month or _are_between(facts, low, high)
    return False


def _by_values(facts: NumberFacts) -> Additivity:
    """Return what whole numbers are by their values."""
    low, high, total = facts.minimum, facts.maximum, facts.total
    if facts.count < _MIN_VALUES or low is None or high is None or total is None:
        return _ADDITIVE
    # Twice the sum of consecutive numbers is their count times the two ends.
    is_run = high - low + 1 == facts.count and 2 * total == (low + high) * facts.count
    if is_run and (low in (0, 1) or facts.count >= _MIN_RUN):
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
