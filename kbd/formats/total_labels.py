"""Labels of rows that sum others up ("Total", "Zwischensumme", "小計"), in many languages. Pure.

And of rows that remark on a total ("Soll", "davon MwSt", "Budget").

A label alone proves nothing, for a vendor may be called "Total": whoever asks looks at the figures
of the row as well.
"""

import re
import unicodedata
from typing import Literal

import msgspec

__all__ = [
    "COUNT_PATTERN",
    "STATISTIC_LABELS",
    "TOTAL_STEMS",
    "WEAK_STEMS",
    "YEAR_PATTERN",
    "TotalLabel",
    "count_label",
    "remarks_on_total",
    "statistic_label",
    "total_label",
    "weak_label",
    "year_label",
]

TotalKind = Literal[
    "sum", "carried", "average", "minimum", "maximum", "count", "median", "deviation", "variance"
]

_SUMS = (
    "total", "totals", "sum", "sums", "subtotal", "subtotals", "sub total", "sub totals",
    "grand total", "grand totals", "overall", "overall total", "total general", "total général",
    "gran total", "sous total", "somme", "summe", "summen", "gesamt", "gesamtsumme",
    "gesamtbetrag", "gesamtergebnis", "insgesamt", "zwischensumme", "endsumme", "teilsumme",
    "totale", "totali", "totale generale", "subtotale", "totaal", "totalen", "eindtotaal",
    "subtotaal", "suma", "sumy", "suma częściowa", "suma końcowa", "razem", "łącznie", "ogółem",
    "ukupno", "sveukupno", "međuzbroj", "skupaj", "итого", "всего", "сумма", "общий итог",
    "промежуточный итог", "подытог", "итог", "усього", "разом", "общо", "всичко", "укупно",
    "合計", "小計", "総計", "总计", "合计", "小计", "總計", "总和", "합계", "소계", "총계",
    "총합계", "σ", "toplam", "genel toplam", "ara toplam", "celkem", "mezisoučet", "součet",
    "spolu",
    "medzisúčet", "összesen", "részösszeg", "yhteensä", "välisumma", "totalt", "summa", "delsumma",
    "sammanlagt", "i alt", "ialt", "delsum", "kokku", "kopā", "iš viso", "viso", "σύνολο",
    "μερικό σύνολο", "γενικό σύνολο", "المجموع", "الإجمالي", "الاجمالي", "סך הכל", "סה כ", "tổng",
    "tổng cộng", "cộng", "jumlah", "รวม", "รวมทั้งสิ้น", "total parcial", "total geral",
    "total gerai", "suma total", "sum of", "підсумок", "всього", "جمع", "مجموع", "جمع کل", "कुल",
    "योग", "कुल योग", "végösszeg", "összeg", "samtals", "ttl", "tot", "вкупно", "ümumi", "cəmi",
    "jami", "ergebnis", "result", "overall result", "résultat", "résultat global", "resultado",
    "resultado total", "risultato", "risultato globale", "барлығы", "gjithsej",
    "iomlán", "cyfanswm", "sumë", "jumlah besar", "kabuuan",
)  # fmt: skip
_CARRIED = (
    "carried forward", "carry forward", "brought forward", "carried over", "brought over", "c f",
    "b f", "c fwd", "b fwd", "übertrag", "vortrag", "à reporter", "report à nouveau", "riporto",
    "da riportare", "suma y sigue", "suma anterior", "transport", "do przeniesienia",
    "z przeniesienia", "перенос",
)  # fmt: skip
_BALANCES = (
    "opening balance", "closing balance", "ending balance", "beginning balance", "starting balance",
    "final balance", "balance forward", "balance carried forward", "balance brought forward",
    "endsaldo", "anfangssaldo", "schlusssaldo", "abschlusssaldo", "eröffnungssaldo",
    "startsaldo", "saldovortrag", "saldoübertrag", "neuer saldo", "alter saldo", "neuer kontostand",
    "alter kontostand", "endbestand", "anfangsbestand", "schlussbestand", "solde initial",
    "solde final", "ancien solde", "nouveau solde", "saldo inicial", "saldo final",
    "saldo anterior", "saldo iniziale", "saldo finale", "eindsaldo", "beginsaldo",
    "saldo początkowe", "saldo końcowe", "počáteční zůstatek", "konečný zůstatek",
    "начальное сальдо", "конечное сальдо", "входящий остаток", "исходящий остаток",
    "期初余额", "期末余额", "前期繰越",
    "次期繰越",
)  # fmt: skip
_PARTS = (
    "subtotal", "subtotals", "sub total", "sub totals", "sous total", "zwischensumme", "teilsumme",
    "subtotale", "subtotaal", "suma częściowa", "međuzbroj", "промежуточный итог", "подытог",
    "小計", "小计", "소계", "ara toplam", "mezisoučet", "medzisúčet", "részösszeg", "välisumma",
    "delsumma", "delsum", "μερικό σύνολο", "total parcial",
)  # fmt: skip
"""Sums after which rows go on."""
_AVERAGES = (
    "average", "averages", "avg", "mean", "durchschnitt", "mittelwert", "ø", "moyenne", "media",
    "promedio", "gemiddelde", "średnia", "среднее", "平均", "平均值", "평균", "prosjek", "prosek",
    "keskiarvo", "medel", "medelvärde", "gennemsnit", "gjennomsnitt", "průměr", "átlag", "ortalama",
    "média",
)  # fmt: skip

_STATISTICS: dict[TotalKind, tuple[str, ...]] = {
    "minimum": (
        "min", "minimum", "minimal", "minimum value", "min value", "lowest", "kleinster wert",
        "minimalwert", "mínimo", "minimo", "minimi", "мин", "минимум", "мінімум", "最小", "最小值",
        "最小値", "최소", "최솟값",
    ),
    "maximum": (
        "max", "maximum", "maximal", "maximum value", "max value", "highest", "größter wert",
        "maximalwert", "máximo", "maximo", "massimo", "maksimum", "maksimi", "макс", "максимум",
        "最大", "最大值", "最大値", "최대", "최댓값",
    ),
    "count": (
        "count", "row count", "record count", "number of rows", "number of records", "anzahl",
        "anzahl zeilen", "anzahl datensätze", "anzahl einträge", "nombre de lignes", "recuento",
        "número de filas", "conteggio", "numero di righe", "aantal", "aantal rijen", "liczba",
        "liczba wierszy", "antal", "antal rader", "počet", "broj redaka", "количество", "кількість",
        "件数", "计数", "개수",
    ),
    "median": (
        "median", "medián", "médiane", "mediane", "mediana", "mediaan", "mediaani", "medijan",
        "medyan", "zentralwert", "медиана", "медіана", "中央値", "中位数", "中位數", "중앙값",
    ),
    "deviation": (
        "std dev", "stddev", "stdev", "st dev", "standard deviation", "stdabw", "std abw",
        "standardabweichung", "écart type", "ecart type", "desviación estándar",
        "desviación típica", "desvio padrão", "deviazione standard", "scarto tipo",
        "standaarddeviatie", "standaardafwijking", "odchylenie standardowe", "směrodatná odchylka",
        "standardavvikelse", "standardavvik", "standardafvigelse", "keskihajonta", "szórás",
        "standart sapma", "стандартное отклонение", "標準偏差", "标准差", "標準差", "표준편차",
    ),
    "variance": (
        "variance", "varianz", "varianza", "variância", "variantie", "wariancja", "rozptyl",
        "varians", "дисперсия", "分散", "方差", "분산",
    ),
}  # fmt: skip

MAX_LABEL = 80
"""Characters of a label; a longer text is prose."""


class TotalLabel(msgspec.Struct, frozen=True):
    """A text that labels a row of totals.

    Args:
        kind: What its figures are: the sum of others, a sum carried on, an average; of
            `statistic_label` the least or greatest value, how many there are, or how they spread.
        is_whole: Whether the text says nothing else ("Total", not "Total Food").
        is_balance: Whether it says that the figure is what was there, or is left ("Opening
            balance"): no movement is called so, whatever the figure is.
        is_weak: Whether a plain row may be called so as well ("Q1", "Net"): the figures alone tell.
        is_part: Whether it says that it sums up some of the rows ("Subtotal"): more may follow.
        count: How many rows it says there are ("Items: 3"), None where it says nothing of that.
    """

    kind: TotalKind
    is_whole: bool
    is_balance: bool = False
    is_weak: bool = False
    is_part: bool = False
    count: int | None = None


def _plain(text: str) -> str:
    """Return a text in small letters, without signs, blanks single."""
    folded = unicodedata.normalize("NFKC", text).casefold().replace("∑", "σ").replace("ς", "σ")
    return " ".join(re.findall(r"[^\W_]+", folded))


_STANDING = frozenset(_plain(word) for word in _BALANCES)
_OF_PARTS = frozenset(_plain(word) for word in _PARTS)
_KINDS: dict[str, TotalKind] = {
    **dict.fromkeys(_STANDING, "carried"),
    **{_plain(word): "average" for word in _AVERAGES},
    **{_plain(word): "carried" for word in _CARRIED},
    **{_plain(word): "sum" for word in _SUMS},
}
# Alone these are words of a text, or of a name, as often as labels: they label alone only.
_ALONE = frozenset(
    _plain(word)
    for word in (
        "σ", "ø", "c f", "b f", "media", "mean", "transport", "report à nouveau", "sum", "suma",
        "spolu", "viso", "medel", "average", "averages", "avg", "jumlah", "cộng", "vortrag",
        "overall", "tot", "ttl", "összeg", "योग", "ümumi", "jami", "جمع", "ergebnis", "result",
        "résultat", "resultado", "risultato",
    )
)  # fmt: skip
_EDGE = {word: kind for word, kind in _KINDS.items() if word not in _ALONE}
_MOST_WORDS = max(len(word.split()) for word in _KINDS)

_SHORT = ("∑", "c/f", "b/f", "c.f", "b.f", "c f", "b f")
TOTAL_STEMS: tuple[str, ...] = tuple(
    sorted({max(word.split(), key=len) for word in _KINDS if word not in _SHORT} | {*_SHORT})
)
"""Every label has one of these in it, in small letters: what a search for labels begins with."""


def total_label(text: str) -> TotalLabel | None:
    """Return what a text says of the row that it labels, None if it is no such label.

    Signs around it and capitals do not count ("** TOTAL: **"); it may name what is summed up, in
    front or behind ("Total Food", "Food total", "Summe 2024").
    """
    if not 0 < len(text) <= MAX_LABEL:
        return None
    plain = _plain(text)
    kind = _KINDS.get(plain)
    if kind is not None:
        return _labeled(plain, kind, is_whole=True)
    words = plain.split()
    if _names_account(words):
        return TotalLabel("sum", is_whole=False)
    for count in range(min(_MOST_WORDS, len(words) - 1), 0, -1):
        for edge in (" ".join(words[:count]), " ".join(words[-count:])):
            if edge in _EDGE:
                return _labeled(edge, _EDGE[edge], is_whole=False)
    # Without blanks between words: 食品小計.
    for word, found in _EDGE.items():
        if not word.isascii() and len(word) > 1 and word[0] > "\u2e80" and plain.endswith(word):
            return _labeled(word, found, is_whole=False)
    return None


_OF_ACCOUNTS = frozenset(map(_plain, ("sum", "suma", "σ", "összeg", "jumlah")))
"""Words that are labels alone, and beside the number of what they sum up ("Sum 1000 Sales")."""
_LEAST_DIGITS = 3


def _names_account(words: list[str]) -> bool:
    """Tell whether some words are "sum" and, behind it or first, the number of what is summed up.

    A short number alone may be a part of a name ("Sum 41").
    """
    if len(words) < 2:
        return False
    number = words[1] if words[0] in _OF_ACCOUNTS else words[0]
    is_labeled = words[0] in _OF_ACCOUNTS or words[-1] in _OF_ACCOUNTS
    return is_labeled and number.isdecimal() and (len(words) > 2 or len(number) >= _LEAST_DIGITS)


def _labeled(word: str, kind: TotalKind, *, is_whole: bool) -> TotalLabel:
    return TotalLabel(kind, is_whole, is_balance=word in _STANDING, is_part=word in _OF_PARTS)


STATISTIC_LABELS: tuple[str, ...] = tuple(
    sorted(max(word.split(), key=len) for words in _STATISTICS.values() for word in words)
)
"""Every label of a statistic has one of these in it, in small letters."""
_STATISTIC_KINDS: dict[str, TotalKind] = {
    _plain(word): kind for kind, words in _STATISTICS.items() for word in words
}


def statistic_label(text: str) -> TotalLabel | None:
    """Return what a text says of a row of statistics ("Max", "Anzahl:"), None if it is no label.

    It says nothing else. A person may be called Max: the row's figures have to agree, and more
    than that.
    """
    kind = _STATISTIC_KINDS.get(_plain(text)) if 0 < len(text) <= MAX_LABEL else None
    return None if kind is None else TotalLabel(kind, is_whole=True)


_WEAK = re.compile(
    r"(?:(?:q|h) ?[1-4]|[1-4] ?(?:q|h)|[1-4] (?:quartal|quarter|halbjahr|half|trimestre|semestre)"
    r"|(?:quartal|quarter|halbjahr|half|trimestre|semestre) [1-4]|(?:first|second|third|fourth)"
    r" (?:quarter|half)|jahr|year|full year|gesamtjahr|ytd|year to date|annee|année|año|anno"
    r"|netto|brutto|net|gross|nettobetrag|bruttobetrag|net amount|gross amount|rechnungsbetrag"
    r"|all|alle|alles|everything|everyone|todos|tous|tutti|все|all (?:regions|products|shops|ages)"
    r"|both|both sexes|beide|endbetrag|zu zahlen|amount due|balance due|montant ht|montant ttc|ht"
    r"|ttc|importe neto|report)"
    r"(?: (?:19|20)\d\d)?"
)
_STARRED = re.compile(r"\*{1,9}(?:\s*[^\s*].*)?")
WEAK_STEMS = (
    "q1", "q2", "q3", "q4", "h1", "h2", "1q", "2q", "3q", "4q", "1h", "2h", "quart", "half",
    "halb", "trimestre", "semestre", "jahr", "year", "ytd", "ann", "año", "nett", "brutt", "net",
    "gross", "betrag", "zahlen", "due", "montant", "ht", "ttc", "importe", "all", "every", "todos",
    "tous", "tutti", "все", "both", "beide", "report", "[*]",
)  # fmt: skip
"""Every weak label has one of these in it, in small letters."""


def weak_label(text: str) -> TotalLabel | None:
    """Return what a text says of a row that may sum others up as well as be one ("Q1", "Net").

    So are parts of a year called among months, and what is left of an invoice's items. Lists of
    accounts have stars before their sums ("* 4000"), as others have them before remarks.
    """
    if _STARRED.fullmatch(text.strip()) and len(text) <= MAX_LABEL:
        return TotalLabel("sum", is_whole=False, is_weak=True)
    if not 0 < len(text) <= MAX_LABEL or _WEAK.fullmatch(_plain(text)) is None:
        return None
    # "Report" is a sum carried to the next page of a French table.
    kind: TotalKind = "carried" if _plain(text) == "report" else "sum"
    return TotalLabel(kind, is_whole=False, is_weak=True)


_NUMBER = r"[0-9]{1,3}(?:[.,' ][0-9]{3})+|[0-9]{1,9}"
COUNT_PATTERN = (
    rf"^[^0-9]*\pL[^0-9]*[:=(] ?(?:{_NUMBER})[^\pL0-9]*$"
    rf"|^[^\pL0-9]*(?:{_NUMBER}) \pL[^0-9]*$"
)
"""Texts that may say how many rows there are, in the syntax of DuckDB: "Items: 3", "(3 rows)"."""
_COUNT = re.compile(COUNT_PATTERN.replace(r"[^\pL0-9]", r"[\W_]").replace(r"\pL", r"[^\W\d_]"))


def count_label(text: str) -> TotalLabel | None:
    """Return what a text says of a row that may sum others up, by how many they are ("Items: 3").

    A plain row may be called so ("Room (3)", "12 Main Street"): the figures have to agree, and the
    count with how many rows there are.
    """
    if not 0 < len(text) <= MAX_LABEL or _COUNT.search(text) is None:
        return None
    digits = re.sub("[^0-9]", "", text)
    return TotalLabel("sum", is_whole=False, count=int(digits))


YEAR_PATTERN = r"^\s*(19|20)[0-9]{2}\s*$"
"""What is called by a year alone, and may sum up its months."""


def year_label(text: str) -> TotalLabel | None:
    """Return what a year says of the row that it labels: among months it may be their sum."""
    is_year = re.fullmatch(r"(?:19|20)[0-9]{2}", text.strip()) is not None
    return TotalLabel("sum", is_whole=False, is_weak=True) if is_year else None


_REMARKS = (
    "soll", "ist", "plan", "ziel", "vorgabe", "budget", "budgeted", "target", "goal", "planned",
    "actual", "forecast", "prognose", "hochrechnung", "objectif", "obiettivo", "objetivo", "doel",
    "difference", "variance", "delta", "diff", "abw", "rest", "remaining", "remainder", "restant",
    "resto", "tax", "taxes", "steuer", "steuern", "quote", "anteil", "share", "rate",
    "check", "kontrolle", "control", "план", "разница", "目標", "予算", "差額", "差异", "预算",
)  # fmt: skip
"""What remarks on a total where the label says nothing else: a vendor may be "Target Ltd"."""
_REMARK_EDGES = (
    "differenz", "abweichung", "davon", "darin", "enthalten", "of which", "thereof", "dont",
    "di cui", "de los cuales", "waarvan", "w tym", "в том числе", "mwst", "ust", "mehrwertsteuer",
    "umsatzsteuer", "vat", "sales tax", "tva", "iva", "btw", "moms", "ндс", "消費税",
    "sollstunden", "iststunden", "überstunden", "minusstunden",
    "mehrstunden", "fehlstunden", "overtime", "restbudget", "restbetrag", "vorjahr", "vormonat",
    "previous year", "previous month", "prior year", "last year", "last month", "vs budget",
    "vs plan", "vs target", "vs last year", "écart", "scostamento", "diferencia", "verschil",
    "różnica", "inkl", "incl", "zzgl", "exkl", "excl", "netto", "brutto",
)  # fmt: skip
"""What does so at either end of a label."""
_REMARK_WORDS = frozenset(map(_plain, (*_REMARKS, *_REMARK_EDGES)))
_REMARK_ENDS = frozenset(map(_plain, _REMARK_EDGES))
_UNITS = frozenset(("eur", "euro", "usd", "chf", "gbp", "std", "h", "hours", "stunden", "in"))


def remarks_on_total(text: str) -> bool:
    """Tell whether a text says that its row compares a total, or is a part of it.

    Figures and units beside the words do not count ("davon MwSt 19 %", "Soll (h)"). Items may be
    called so as well: it tells something only of a row below a total.
    """
    if not 0 < len(text) <= MAX_LABEL:
        return False
    words = [word for word in _plain(text).split() if not word.isdecimal() and word not in _UNITS]
    if " ".join(words) in _REMARK_WORDS:
        return True
    counts = range(1, min(4, len(words)) + 1)
    ends = {" ".join(part) for n in counts for part in (words[:n], words[-n:])}
    return not ends.isdisjoint(_REMARK_ENDS)
