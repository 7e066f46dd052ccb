"""Mentions of columns and values in a request: by names, parts of them, other words, misspellings.

A column's own name goes before a part of one, and that before another word for it. Of two that fit
equally well both are returned: whoever needs one asks.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from kbd_offline.facts import KnownColumn, KnownTable
from kbd_offline.lexicon import LEXICON
from kbd_offline.names import distance, fold, singular, stem, tokens
from kbd_offline.request_tokens import RequestToken

__all__ = ["BESIDE", "SAME", "SYNONYM", "ColumnMention", "ValueMention", "Vocabulary"]

SAME, STEM, PART, COMPOUND, SYNONYM = range(5)
"""How a column is named: in full, but for its ending, by a part, within a compound, otherwise."""

_FORMS: tuple[tuple[int, Callable[[str], str]], ...] = (
    (SAME, str), (SAME, singular), (STEM, stem),
)  # fmt: skip
"""Forms in which words are compared, with how near that is."""

_MAX_WORDS = 8
_NUMBERS = frozenset(
    ("money", "revenue", "cost", "quantity", "unit_price", "salary", "donation", "hours",
     "distance", "weight", "stock")
)  # fmt: skip
_SUMS = frozenset(("money", "revenue", "cost"))
_BESIDE_TEXT = """
discount discounts rabatt tax taxes vat mwst ust steuer shipping versand fee fees tip tips gebuhr
rate quote
"""
BESIDE = frozenset(_BESIDE_TEXT.split())
"""Words of names of money that is not what something brings or costs."""
_FUNCTIONS = (
    "sum", "average", "count", "minimum", "maximum", "median", "distinct", "how_many", "by",
    "filler",
    "last", "this", "top", "bottom", "largest", "smallest", "newest", "oldest", "and", "or", "only",
    "except", "descending", "ascending", "year", "month", "quarter", "week", "weekday", "det",
    "sort", "more", "less", "between", "since", "before", "after", "until", "share", "where",
    "select", "split", "running", "row_noun", "add_column", "half", "convert", "replace", "join",
    "union", "lacks", "has_any", "contains", "each_own",
)  # fmt: skip


def _function_words() -> frozenset[str]:
    found = {
        word
        for phrase in LEXICON.phrases
        if phrase.concept in _FUNCTIONS
        for word in phrase.single_words()
    }
    return frozenset(word for word in found if singular(word) not in LEXICON.meanings)


_FUNCTION_WORDS = _function_words()
_KINDS = frozenset(
    ["gehalt", "betrag", "betrage", "wert", "werte", "preis", "summe", "kosten", "lohn", "datum",
     "anzahl", "zahl", "menge", "satz", "name", "namen"]
)  # fmt: skip
"""Last parts of compounds that say what kind of value the first part is: "Nettogehalt"."""
_REFUSED = ("chart", "translate", "prose", "forecast", "style", "documents", "money_change")
_MENDED = frozenset(
    word for phrase in LEXICON.phrases if phrase.concept not in _REFUSED for word in phrase.words()
)
"""Words of the language that a misspelled one may be."""


class ColumnMention(msgspec.Struct, frozen=True):
    """Columns that a place may mean, and how they are named; it ends before a token."""

    columns: tuple[KnownColumn, ...]
    start: int
    end: int
    level: int


class ValueMention(msgspec.Struct, frozen=True):
    """Columns that have a value which a place names, each with its spellings."""

    found: tuple[tuple[KnownColumn, tuple[str, ...]], ...]
    start: int
    end: int
    is_plain: bool
    """Whether its words mean nothing else."""


class Vocabulary:
    """Names and values of a table, as they may stand in a request."""

    def __init__(self, table: KnownTable) -> None:
        self.columns = table.columns
        self._words = {column.name: tokens(column.name) for column in table.columns}
        self._keys = [self._by_key(form) for _, form in _FORMS]
        self._values: dict[str, list[tuple[tuple[str, ...], KnownColumn, str]]] = {}
        for column in table.columns:
            for value in column.values:
                words = tokens_of_value(value)
                if words:
                    self._values.setdefault(stem(words[0]), []).append((words, column, value))

    def _by_key(self, form: Callable[[str], str]) -> dict[str, tuple[KnownColumn, ...]]:
        found: dict[str, tuple[KnownColumn, ...]] = {}
        for column in self.columns:
            key = "".join(form(word) for word in self._words[column.name])
            found[key] = (*found.get(key, ()), column)
        return found

    def column_at(self, request: Sequence[RequestToken], start: int) -> ColumnMention | None:
        """Return the columns that are named from a token on, by the longest and nearest name."""
        if start >= len(request):
            return None
        if request[start].kind == "quoted":
            return self._quoted(request[start].text, start)
        words = self._run(request, start)
        if not words:
            return None
        return (
            self._whole(request, words, start)
            or self._part(words, start)
            or self._compound(words[0], start)
            or self._other(words[0], start)
        )

    def synonym_at(self, request: Sequence[RequestToken], start: int) -> ColumnMention | None:
        """Return the columns that a word means otherwise than by their names."""
        words = self._run(request, start)
        return self._other(words[0], start) if words else None

    def value_at(self, request: Sequence[RequestToken], start: int) -> ValueMention | None:
        """Return the columns with the longest value that stands from a token on."""
        if start >= len(request):
            return None
        token = request[start]
        if token.kind == "quoted":
            return self.quoted_value(token.text, start)
        if token.kind in ("sign", "file"):
            return None
        words = [one.word for one in request[start : start + _MAX_WORDS]]
        best: list[tuple[KnownColumn, str]] = []
        length = 0
        others = LEXICON.values.get(words[0]) or LEXICON.values.get(stem(words[0]), frozenset())
        for value_words, column, value in self._values.get(stem(words[0]), ()):
            size = len(value_words)
            if length <= size <= len(words) and all(map(_alike, words, value_words)):
                best = [*(best if size == length else ()), (column, value)]
                length = size
        if not best:
            # "Stornierte" where the value is Cancelled.
            best = [
                (column, value) for other in sorted(others)
                for value_words, column, value in self._values.get(stem(other), ())
                if value_words == (other,)
            ]  # fmt: skip
            length = 1
        if not best:
            return None
        exact = [one for one in best if tokens_of_value(one[1]) == tuple(words[:length])]
        exact, behind = _as_signed(exact or best, request, start + length)
        text = " ".join(words[:length])
        is_plain = length > 1 or (text not in LEXICON.words and len(text) > 2)
        return ValueMention(_by_column(exact), start, behind, is_plain)

    def quoted_value(self, text: str, start: int) -> ValueMention | None:
        """Return the columns with a value that stands in quotes."""
        wanted = " ".join(text.split()).casefold()
        found = [
            (column, value)
            for column in self.columns
            for value in column.values
            if " ".join(value.split()).casefold() == wanted
        ]
        return ValueMention(_by_column(found), start, start + 1, is_plain=True) if found else None

    def meaning(self, *meanings: str) -> tuple[KnownColumn, ...]:
        """Return the columns of numbers whose names mean one of some things."""
        return tuple(one for one in self.columns if one.is_number and self.is_of(one, *meanings))

    def is_of(self, column: KnownColumn, *meanings: str) -> bool:
        """Tell whether the name of a column means one of some things."""
        words = self._words[column.name]
        return any(LEXICON.means(singular(word), one) for word in words for one in meanings)

    def corrected(self, word: str) -> str:
        """Return the only word near one that nothing is called by, else the word itself."""
        allowed = 0 if len(word) < 5 else 1 if len(word) < 9 else 2
        if not allowed or self.knows(word):
            return word
        names = {part for words in self._words.values() for part in words}
        known = {one for one in names | _MENDED if len(one) >= 4 and one[0] == word[0]}
        known |= {"".join(words) for words in self._words.values()}
        spoken = (*LEXICON.months, *(one for one in LEXICON.meanings if self._other(one, 0)))
        known |= {one for one in spoken if len(one) >= 5 and one[0] == word[0]}
        near = sorted((distance(word, one), one) for one in known if abs(len(one) - len(word)) <= 2)
        near = [one for one in near if one[0] <= allowed]
        # What the table has goes before what the language has.
        near = [one for one in near if one[0] == near[0][0] and one[1] in names] or near
        best = {stem(one) for far, one in near if far == near[0][0]}
        return near[0][1] if len(best) == 1 else word

    def knows(self, word: str) -> bool:
        """Tell whether a word is one of the language, of a name or of a value."""
        if word in LEXICON.words or singular(word) in LEXICON.meanings or word in LEXICON.months:
            return True
        if word in LEXICON.weekdays or word in LEXICON.numerals or stem(word) in LEXICON.values:
            return True
        parts = {stem(part) for words in self._words.values() for part in words}
        parts |= {stem("".join(words)) for words in self._words.values()}
        if stem(word) in parts or any(len(word) >= 4 and word in part for part in parts):
            return True
        return any(
            _alike(word, part)
            for some in self._values.values()
            for words, _, _ in some
            for part in words
        )

    def _run(self, request: Sequence[RequestToken], start: int) -> list[str]:
        words: list[str] = []
        for token in request[start : start + _MAX_WORDS]:
            # A sign ends a name, for it parts the columns of a list.
            if token.kind == "quoted" and words and token.text.isalnum():
                # A part of a name may stand in quotes: Width "net".
                words.append(fold(token.text))
                continue
            if token.kind not in ("word", "number"):
                break
            words.append(token.word.removesuffix("'s"))
        return words

    def _quoted(self, text: str, start: int) -> ColumnMention | None:
        alike = tuple(column for column in self.columns if fold(column.name) == fold(text))
        spelt = tuple(column for column in alike if column.name == text)
        return ColumnMention(spelt or alike, start, start + 1, SAME) if alike else None

    def _whole(
        self, request: Sequence[RequestToken], words: Sequence[str], start: int
    ) -> ColumnMention | None:
        for place, (level, form) in enumerate(_FORMS):
            best: ColumnMention | None = None
            key = ""
            for size, word in enumerate(words, 1):
                # Without blanks, "order date" is OrderDate as well as order_date.
                key += form(word)
                named = self._keys[place].get(key) if key else None
                if named:
                    best = ColumnMention(named, start, start + size, level)
            if best is not None:
                return self._with_signs(request, best)
        return None

    def _with_signs(self, request: Sequence[RequestToken], mention: ColumnMention) -> ColumnMention:
        """Return a mention to the end of a name that signs follow: "Price (€)"."""
        signs = list(_signs_behind(mention.columns[0].name))
        end = mention.end + len(signs)
        if [token.text for token in request[mention.end : end]] != signs:
            return mention
        return msgspec.structs.replace(mention, end=end)

    def _part(self, words: Sequence[str], start: int) -> ColumnMention | None:
        for size in range(len(words), 0, -1):
            wanted = [stem(word) for word in words[:size]]
            if size == 1 and words[0] in _FUNCTION_WORDS:
                return None
            found = tuple(
                column
                for column in self.columns
                if _holds([stem(word) for word in self._words[column.name]], wanted)
            )
            if found:
                return ColumnMention(found, start, start + size, PART)
        return None

    def _compound(self, word: str, start: int) -> ColumnMention | None:
        """Return columns whose name is a compound with a word: "Datum" of "Bestelldatum"."""
        if len(word) < 4 or word in _FUNCTION_WORDS:
            return None
        root = stem(word)
        found = tuple(
            column
            for column in self.columns
            if any(
                len(part) > len(root) + 2 and (part.startswith(root) or part.endswith((word, root)))
                for part in self._words[column.name]
            )
        )
        for column in () if found else self.columns:
            first, *others = self._words[column.name] or ("",)
            rest = word.removeprefix(first)
            if len(first) >= 4 and not others and rest != word and rest in _KINDS:
                # "Nettogehalt" of a column Netto.
                found = (*found, column)
        return ColumnMention(found, start, start + 1, COMPOUND) if found else None

    def _other(self, word: str, start: int) -> ColumnMention | None:
        meanings = LEXICON.meanings.get(singular(word)) or LEXICON.meanings.get(word, frozenset())
        if not meanings:
            return None
        fitting = [c for c in self.columns if any(self._fits(c, one) for one in meanings)]
        whole = tuple(c for c in fitting if len(self._words[c.name]) == 1)
        found = whole or tuple(fitting)
        if not found and meanings & _SUMS:
            # What brings money in is the one column of money that there is.
            found = tuple(
                column
                for column in self.columns
                if column.adds_up and not self._fits(column, "quantity")
                and not BESIDE & set(self._words[column.name])
                and not (column.type == "integer" and not self.is_of(column, *_SUMS))
            )  # fmt: skip
            found = found if len(found) == 1 else ()
        return ColumnMention(found, start, start + 1, SYNONYM) if found else None

    def _fits(self, column: KnownColumn, meaning: str) -> bool:
        """Tell whether a column is what a word means: nobody spends a category."""
        if meaning in _NUMBERS:
            is_kind = column.is_number
        elif meaning == "moment":
            is_kind = column.is_moment
        else:
            is_kind = not column.is_moment and (not column.is_number or column.role == "id")
        is_beside = not column.adds_up or BESIDE & set(self._words[column.name])
        if not is_kind or (meaning in _SUMS and is_beside):
            return False
        return self.is_of(column, meaning)


def tokens_of_value(value: str) -> tuple[str, ...]:
    """Return the words of a value, folded; a name like McDonald is one, as in a request."""
    return tokens(value.lower())


def _alike(word: str, part: str) -> bool:
    return (
        word == part
        or (len(word) > 3 and singular(word) == singular(part))
        or (len(word) > 5 and stem(word) == stem(part))
    )


def _as_signed(
    found: Sequence[tuple[KnownColumn, str]], request: Sequence[RequestToken], end: int
) -> tuple[list[tuple[KnownColumn, str]], int]:
    """Return the values that end as a request does, and where: A+ is no A-, and both are no A."""
    by_signs: dict[tuple[str, ...], list[tuple[KnownColumn, str]]] = {}
    for one in found:
        by_signs.setdefault(tuple(_signs_behind(one[1])), []).append(one)
    for signs in sorted(by_signs, key=len, reverse=True):
        written = tuple(token.text for token in request[end : end + len(signs)])
        if written == signs and (not signs or request[end].start == request[end - 1].end):
            return by_signs[signs], end + len(signs)
    return list(found), end


def _by_column(
    found: Sequence[tuple[KnownColumn, str]],
) -> tuple[tuple[KnownColumn, tuple[str, ...]], ...]:
    spelt: dict[str, list[str]] = {}
    columns: Mapping[str, KnownColumn] = {column.name: column for column, _ in found}
    for column, value in found:
        spelt.setdefault(column.name, []).append(value)
    return tuple((columns[name], tuple(values)) for name, values in spelt.items())


def _holds(words: Sequence[str], wanted: Sequence[str]) -> bool:
    size = len(wanted)
    return any(list(words[at : at + size]) == list(wanted) for at in range(len(words) - size + 1))


def _signs_behind(name: str) -> Iterator[str]:
    """Yield the signs and words from the first sign behind a name's words to its end."""
    for at in range(len(name) - 1, -1, -1):
        if name[at].isalnum():
            yield from (sign for sign in name[at + 1 :] if not sign.isspace() and sign != "_")
            return
