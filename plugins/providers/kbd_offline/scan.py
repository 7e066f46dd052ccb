"""Scan of a request: its words, with the phrases, columns and values that begin at each place."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from types import MappingProxyType

import msgspec

from kbd_offline.day_ranges import with_months
from kbd_offline.facts import KnownColumn, KnownTable
from kbd_offline.full_names import with_full_names
from kbd_offline.lexicon import LEXICON
from kbd_offline.mentions import COMPOUND, PART, SAME, STEM, ColumnMention, ValueMention, Vocabulary
from kbd_offline.names import fold, singular, split_suffix, stem, tokens
from kbd_offline.request_tokens import RequestToken, with_joined_names

__all__ = [
    "RequestScan", "SeveralError", "UnclearError", "cued", "extended", "is_cue", "quoted",
]  # fmt: skip


class UnclearError(Exception):
    """Unclear request: it has no reading, or more than one, as the message explains."""


class SeveralError(UnclearError):
    """Request with several readings.

    Args:
        text: The question.
        options: The request as it would be for each.
    """

    def __init__(self, text: str, options: Sequence[str]) -> None:
        super().__init__(text)
        self.options = tuple(options)


class RequestScan:
    """A request against one table.

    Args:
        request: Its text.
        request_tokens: Its tokens.
        table: The table.
        today: The day that "last month" goes by.
        nouns: Other words for its rows.
        owners: Words for things of which there may be many rows each, and the column of each.
    """

    def __init__(
        self,
        request: str,
        request_tokens: Sequence[RequestToken],
        table: KnownTable,
        today: date,
        *,
        nouns: Iterable[str] = (),
        owners: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.request = request
        self.table = table
        self.today = today
        self.vocabulary = Vocabulary(table)
        self._owners = owners
        self._mentions: dict[int, ColumnMention | None] = {}
        self._full_names: dict[int, ColumnMention | None] = {}
        self._are_nouns: dict[int, bool] = {}
        name = split_suffix(table.path.rpartition("/")[2])[0]
        self._nouns = {stem(word) for word in (*tokens(name), *tokens(table.sheet))}
        self._nouns |= {stem(word) for word in (*_things(table), *nouns)}
        self._kept = {stem(word) for word in _kept_in(name) if len(word) >= 5}
        self._thing_meanings = _THINGS & frozenset(
            meaning for noun in (*tokens(name), *tokens(table.sheet), *_things(table))
            for meaning in LEXICON.meanings.get(singular(noun), ())
        )  # fmt: skip
        named = with_joined_names(request_tokens, (one.name for one in table.columns), request)
        spread = self._spread(with_full_names(named, table.columns))
        self.tokens = tuple(with_months(spread, request))
        self._words = [token.word for token in self.tokens]
        self._ends = [LEXICON.ends(self._words, at) for at in range(len(self._words))]
        self.corrections: tuple[str, ...] = tuple(
            f'"{token.text}" was read as "{token.word}"'
            for token in self.tokens
            if token.kind == "word" and token.text.casefold()[:1] == token.word[:1]
            and token.word != fold(token.text).replace("’", "'")
        )  # fmt: skip

        self.is_exact = any(self.at(place, "exactly") for place in range(len(self.tokens)))
        self.moment = self._only_moment()

    def _only_moment(self) -> KnownColumn | None:
        """Return the only column of dates that a request names: all days are its."""
        named: dict[str, KnownColumn] = {}
        for place in range(len(self.tokens)):
            mention = self.column(place)
            found = self.dated_by(place)
            if mention is not None and mention.level <= COMPOUND and not (
                self.is_noun(place) and mention.end == place + 1
            ):  # fmt: skip
                moments = [column for column in mention.columns if column.is_moment]
                found = found or (moments[0] if len(moments) == 1 else None)
            if found is not None:
                named[found.name] = found
        return next(iter(named.values())) if len(named) == 1 else None

    def dated_by(self, place: int) -> KnownColumn | None:
        """Return the column of dates that a verb speaks of: "shipped" of a Ship Date."""
        word = self.word(place)
        if self.kind(place) != "word" or len(word) < 5 or not word.endswith(_PARTICIPLES):
            return None
        if self.column(place) is not None or self.is_noun(place):
            return None
        root = word.removeprefix("ge").removesuffix("t").removesuffix("en")
        found = [
            column
            for column in self.table.columns
            if column.is_moment and any(
                (len(part) >= 3 and part not in ("date", "datum")
                 and word.startswith(part.rstrip("e")))
                or (len(root) >= 5 and word.startswith("ge") and part.startswith(root))
                for part in column.name.casefold().replace("_", " ").split()
            )
        ]  # fmt: skip
        return found[0] if len(found) == 1 else None

    def __len__(self) -> int:
        return len(self.tokens)

    def at(self, place: int, *concepts: str) -> int:
        """Return where the longest phrase of some concepts that begins at a place ends, else 0.

        None begins a column's full name that goes on behind it: "maximum temperature" where one is
        called so.
        """
        if not 0 <= place < len(self.tokens):
            return 0
        ends = self._ends[place]
        end = max((ends.get(concept, 0) for concept in concepts), default=0)
        name = self.full_name(place) if end else None
        return 0 if name is not None and name.end > end else end

    def full_name(self, place: int) -> ColumnMention | None:
        """Return the columns that some words are the full name of; a text in quotes is its own."""
        if place not in self._full_names:
            name = self.vocabulary.column_at(self.tokens, place)
            is_full = name is not None and name.level <= SAME and not any(
                self.kind(at) == "quoted" for at in range(place + 1, name.end)
            )  # fmt: skip
            self._full_names[place] = name if is_full else None
        return self._full_names[place]

    def is_word(self, place: int, concept: str) -> bool:
        """Tell whether the one word at a place is a phrase of a concept."""
        return concept in LEXICON.ends((self.word(place),), 0)

    def skip(self, place: int, *concepts: str) -> int:
        """Return the place behind all phrases of some concepts from a place on."""
        while end := self.at(place, *concepts):
            place = end
        return place

    def is_sign(self, place: int, signs: str = ",") -> bool:
        """Tell whether one of some signs stands at a place."""
        return 0 <= place < len(self.tokens) and self._words[place] in tuple(signs)

    def word(self, place: int) -> str:
        """Return the folded word at a place, "" behind the end."""
        return self._words[place] if 0 <= place < len(self.tokens) else ""

    def kind(self, place: int) -> str:
        """Return the kind of the token at a place, "" behind the end."""
        return self.tokens[place].kind if 0 <= place < len(self.tokens) else ""

    def text(self, start: int, end: int) -> str:
        """Return the request from a token to before another, as written."""
        if start >= end:
            return ""
        return self.request[self.tokens[start].start : self.tokens[end - 1].end]

    def rewritten(self, start: int, end: int, text: str) -> str:
        """Return the request with another text in the place of some tokens."""
        first, last = self.tokens[start].start, self.tokens[end - 1].end
        return self.request[:first] + text + self.request[last:]

    def column(self, place: int) -> ColumnMention | None:
        """Return the columns that are named at a place.

        A word for the rows names no column that it is but a part of: "orders" is no Order Date.
        A word for what kind of value it is goes with the name: "net amount", "opened date".
        """
        if place not in self._mentions:
            self._mentions[place] = self._column(place)
        return self._mentions[place]

    def _column(self, place: int) -> ColumnMention | None:
        mention = self.vocabulary.column_at(self.tokens, place)
        owned = self.table.column(self._owners.get(stem(self.word(place)), ""))
        if owned is not None and (mention is None or mention.level > STEM):
            return ColumnMention((owned,), place, place + 1, STEM)
        if mention is None:
            return None
        if mention.level in (PART, COMPOUND) and mention.end == place + 1 and self.is_noun(place):
            summed = tuple(one for one in mention.columns if one.adds_up)
            if mention.level == PART and summed:
                return msgspec.structs.replace(mention, columns=summed)
            return self.vocabulary.synonym_at(self.tokens, place)
        return self._with_kind(mention)

    def _with_kind(self, mention: ColumnMention) -> ColumnMention:
        kinds = _KINDS_OF_DAYS if all(one.is_moment for one in mention.columns) else (
            _KINDS_OF_NUMBERS if all(one.is_number for one in mention.columns) else _KINDS_OF_TEXTS
        )  # fmt: skip
        if mention.level > STEM or self.word(mention.end) not in kinds:
            return mention
        own = self.vocabulary.column_at(self.tokens, mention.end)
        if own is not None and own.level <= STEM:
            return mention
        return msgspec.structs.replace(mention, end=mention.end + 1)

    def value(self, place: int) -> ValueMention | None:
        """Return the columns with a value that stands at a place."""
        return self.vocabulary.value_at(self.tokens, place)

    def is_noun(self, place: int) -> bool:
        """Tell whether a word speaks of the rows: by what the file is called, or as rows."""
        if place not in self._are_nouns:
            self._are_nouns[place] = self._is_noun(place)
        return self._are_nouns[place]

    def _is_noun(self, place: int) -> bool:
        if self.at(place, "row_noun"):
            return True
        word = self.word(place)
        if self.kind(place) != "word" or word in ("", "date", "datum"):
            return False
        meanings = LEXICON.meanings.get(singular(word)) or LEXICON.meanings.get(word, frozenset())
        word = word.removesuffix("en").removesuffix("schaft") if "schaft" in word else word
        if stem(word) in self._nouns or bool(meanings & self._thing_meanings):
            return True
        named = self.vocabulary.column_at(self.tokens, place)
        if named is not None and named.level <= PART:
            return False
        if named is None and stem(word) in self._kept:
            return True
        return _names_rows(word, self.table, () if named is None else named.columns)

    def is_column(self, place: int) -> bool:
        """Tell whether a column is named in full at a place, and not by a word of the language."""
        mention = self.column(place)
        if mention is None or mention.level > SAME:
            return False
        if not self.at(place, "by"):
            return True
        # "by" before a column is the word; written as the column called By it is that.
        text = self.text(place, mention.end)
        return text == mention.columns[0].name or self.column(mention.end) is None

    def behind_det(self, place: int) -> int:
        """Return the place behind small words, none of which is a column's own name."""
        while not self.is_column(place) and (end := self.at(place, "det")):
            place = end
        return place

    def is_called(self) -> bool:
        """Tell whether the request says what the table is called."""
        name = self.table.sheet or split_suffix(self.table.path.rpartition("/")[2])[0]
        said = {
            stem(word) for at, word in enumerate(self._words)
            if self.value(at) is None and self.column(at) is None
        }  # fmt: skip
        words = {stem(word) for word in tokens(name) if not word.isdigit()}
        return bool(words) and words <= said

    def add_column(self, column: KnownColumn) -> None:
        """Let later words name a column that the job makes."""
        others = tuple(one for one in self.table.columns if one.name != column.name)
        self.table = msgspec.structs.replace(self.table, columns=(*others, column))
        self.vocabulary = Vocabulary(self.table)
        self._mentions.clear()
        self._full_names.clear()

    def only(
        self,
        mention: ColumnMention,
        fits: Callable[[KnownColumn], bool] = lambda _: True,
        *,
        is_key: bool = False,
    ) -> KnownColumn:
        """Return the one column that a mention means.

        Args:
            mention: It.
            fits: Whether a column can be what is meant here; where none can, all are.
            is_key: Whether rows are grouped by it.

        Raises:
            SeveralError: More than one may be meant.
        """
        found = tuple(filter(fits, mention.columns)) or mention.columns
        if is_key and len(found) > 1:
            # Of what tells groups apart alike, the one that people read.
            counts = {column.distinct for column in found}
            texts = [column for column in found if column.is_text and column.role != "id"]
            if len(counts) == 1 and len(texts) == 1:
                return texts[0]
        if len(found) > 1:
            raise self._several(mention.start, mention.end, found)
        return found[0]

    def _several(self, start: int, end: int, columns: Sequence[KnownColumn]) -> SeveralError:
        """Return the question which of some columns is meant by some tokens."""
        names = " or ".join(f'"{column.name}"' for column in columns)
        word, ways = self.text(start, end), "two" if len(columns) == 2 else "several"
        return SeveralError(
            f'"{word}" can be read in {ways} ways: {names}',
            [self.rewritten(start, end, quoted(column.name)) for column in columns],
        )

    def column_list(self, place: int, *, exact: bool = False) -> tuple[list[ColumnMention], int]:
        """Return the mentions in a list of columns from a place on, and where it ends."""
        found: list[ColumnMention] = []
        end = place
        while True:
            at = self.skip(place, "det")
            mention = self.column(place) or self.column(at)
            if mention is None or (exact and mention.level > PART):
                return found, end
            found.append(mention)
            end = mention.end
            behind = self.behind_connector(end)
            if self.at(end, "summary_sheet", "totals_row") and not self._is_called(behind):
                # "… and totals" are no column called Total.
                return found, end
            place = behind
            if place == end:
                return found, end

    def _is_called(self, place: int) -> bool:
        """Tell whether a word is a column's name letter by letter, and not its plural."""
        mention = self.column(place) if self.is_column(place) else None
        name = self.text(place, mention.end) if mention is not None else ""
        return any(fold(name) == fold(one.name) for one in (mention.columns if mention else ()))

    def behind_connector(self, place: int) -> int:
        """Return the place behind a comma, an "and" or both."""
        at = place + self.is_sign(place, ",/")
        return self.at(at, "and") or at

    def _spread(self, found: Sequence[RequestToken]) -> list[RequestToken]:
        """Return tokens with small misspellings mended and compound words parted."""
        spread: list[RequestToken] = []
        for token in found:
            word = token.word
            first, rest = self._parted(word) if token.kind == "word" else ("", "")
            if rest:
                size = len(word) - len(rest)
                at = token.start + size
                spread += [
                    RequestToken("word", token.text[:size], first, token.start, at),
                    RequestToken("word", token.text[size:], rest, at, token.end),
                ]
            elif token.kind != "word" or stem(word) in self._nouns:
                spread.append(token)
            else:
                mended = self.vocabulary.corrected(word)
                spread.append(
                    token if mended == word else msgspec.structs.replace(token, word=mended)
                )
        return spread

    def _parted(self, word: str) -> tuple[str, str]:
        """Return the two words that one stands for: "unpaid", "Gesamtumsatz"; "" for none."""
        if (rest := self._denied(word)) is not None:
            return "not", rest
        for prefix, instead in LEXICON.prefixes.items():
            rest = word.removeprefix(prefix)
            if rest != word and len(rest) >= 4 and self._is_name(rest) and not self._is_name(word):
                return instead, rest
        return "", ""

    def _denied(self, word: str) -> str | None:
        """Return what a word denies of a column of yes and no: "unpaid" of a column Paid."""
        for prefix in ("un", "nicht", "non"):
            rest = word.removeprefix(prefix)
            if rest == word or len(rest) < 4:
                continue
            named = self.vocabulary.column_at((RequestToken("word", rest, rest, 0, 0),), 0)
            if named is None:
                continue
            column = named.columns[0]
            is_yes = named.level <= STEM and column.yes is not None
            if is_yes or (named.level <= PART and column.is_moment and len(named.columns) == 1):
                return rest
        return None

    def _is_name(self, word: str) -> bool:
        token = RequestToken("word", word, word, 0, 0)
        return self.vocabulary.column_at((token,), 0) is not None


def _kept_in(name: str) -> Iterator[str]:
    """Yield what is kept in a book or list that a file is called: "Fahrten" in "Fahrtenbuch"."""
    for word in tokens(name):
        for ending in LEXICON.cues["compound_ends"]:
            if word.endswith(ending) and word != ending:
                yield word.removesuffix(ending)


def _things(table: KnownTable) -> Iterator[str]:
    """Yield what rows are called by a column that numbers them: "orders" have an Order ID each."""
    for column in table.columns:
        words = tokens(column.name)
        if not column.distinct == table.rows == column.filled:
            continue
        if len(words) == 2 and words[1] in _NUMBERING:
            yield words[0]
        elif len(words) == 1:
            yield from (thing for thing in _numbered_by(column) if len(thing) >= _WHOLE_WORD)
    moments = [column for column in table.columns if column.is_moment]
    if len(moments) == 1:
        yield from _happening(moments[0], table)
    first = table.columns[0] if table.columns else None
    if first is not None and first.distinct == table.rows == first.filled and not first.is_moment:
        words = tokens(first.name)
        is_key = first.is_text or first.role == "id"
        if len(words) == 1 and is_key and words[0] not in _NOT_THINGS:
            yield words[0]


def _numbered_by(column: KnownColumn) -> Iterator[str]:
    """Yield what the name of a column says that it numbers: "rechnung" of a Rechnungsnr."""
    name = "".join(tokens(column.name))
    for ending in _NUMBERING:
        if name.endswith(ending) and name != ending:
            yield name.removesuffix(ending).removesuffix("s")


def _happening(moment: KnownColumn, table: KnownTable) -> Iterator[str]:
    """Yield what rows are by the only day that they have: "visits" have a Visit Date."""
    words = tokens(moment.name)
    others = {word for one in table.columns if one is not moment for word in tokens(one.name)}
    thing = words[0] if len(words) == 2 and words[1] in ("date", "datum", "day", "tag") else ""
    if len(words) == 1 and words[0].endswith("sdatum"):
        thing = words[0].removesuffix("sdatum")
    if thing and thing not in others | _ENDS:
        yield thing


_ENDS = frozenset(
    ["start", "end", "due", "birth", "ship", "shipping", "hire", "join", "created", "closed",
     "open", "opened", "begin", "entry", "exit", "delivery", "the", "last", "first", "next",
     "geburt", "anfang", "beginn", "ende", "falligkeit", "lieferung", "eintritt", "austritt"]
)  # fmt: skip
"""What a day is of that is but a part of a row's life."""


_NOT_THINGS = frozenset(["id", "name", "email", "mail", "code", "key", "sku", "date", "datum"])

_THINGS = frozenset(("customer", "supplier", "product", "person", "order", "invoice"))
"""What rows may be, by whatever word."""

_KINDS_OF_DAYS = frozenset(["date", "dates", "datum", "day"])
_KINDS_OF_TEXTS = frozenset(["type", "types", "kind", "typ", "art", "column", "field", "spalte"])
_KINDS_OF_NUMBERS = frozenset(["amount", "amounts", "value", "values", "betrag", "betrage", "wert"])

_PARTICIPLES = ("ed", "t", "en", "ing")

_WHOLE_WORD = 4
"""Letters from which on the beginning of a name is a word, and not short for one."""

_NUMBERING = frozenset(["id", "no", "nr", "number", "nummer", "key", "code"])


def _names_rows(word: str, table: KnownTable, named: tuple[KnownColumn, ...]) -> bool:
    """Tell whether a folded word is one for rows, whatever their file is called: "Buchungen".

    Where a column tells which thing a row is of, and has some more than once, the word means that
    column: many rows may be of one customer.
    """
    root = stem(word)
    if any(_repeats(column, table) for column in named):
        return False
    if root in _EVENTS or singular(word) in _EVENTS:
        return True
    return (root in _PEOPLE or singular(word) in _PEOPLE) and _is_of_people(table)


def _repeats(column: KnownColumn, table: KnownTable) -> bool:
    """Tell whether a column tells things apart, and has some more than once."""
    return (column.is_text or column.role == "id") and column.distinct < table.rows


def _is_of_people(table: KnownTable) -> bool:
    names = [column for column in table.columns if _NAMES & set(tokens(column.name))]
    is_keyed = any(column.distinct == table.rows == column.filled for column in table.columns)
    return is_keyed and len(names) == 1 and names[0].distinct >= 0.8 * table.rows


_EVENTS_TEXT = """
transaction booking purchase reading measurement posting payment movement case position sale order
deal buchung transaktion vorgang vorgange posten position messung messwert zahlung verkauf
verkaufe bestellung einkauf einkaufe fall falle book buch bucher item
"""
_EVENTS = frozenset(map(stem, _EVENTS_TEXT.split()))
"""Things that happen: each row is one, if it is of such things at all."""

_PEOPLE_TEXT = """
employee staff worker colleague people person member customer client student mitarbeiter
mitarbeiterin angestellte kollege personen leute mensch mitglied kunde schuler
"""
_PEOPLE = frozenset(map(stem, _PEOPLE_TEXT.split()))
"""Persons: each row is one only where hardly any name is there twice."""

_NAMES = frozenset(["name", "nachname", "surname", "fullname"])


def numbered(scan: RequestScan, place: int) -> KnownColumn | None:
    """Return the column that numbers what a word speaks of: "Order ID", "fid" of films.

    A file of orders may have a row for each of their items, and one of films a row for each actor.
    """
    word = "" if scan.at(place, "row_noun") else scan.word(place)
    for number, column in enumerate(scan.table.columns):
        things = [one for one in _numbered_by(column) if one and word.startswith(one)]
        # Short for a word is only what stands first.
        if any(number == 0 or len(one) >= _WHOLE_WORD for one in things):
            return column
    return None


def quoted(name: str) -> str:
    """Return a name in the quotes that it does not hold itself."""
    return f"'{name}'" if '"' in name else f'"{name}"'


def cued(scan: RequestScan, cue: str, start: int = 0, end: int | None = None) -> list[int]:
    """Return where words stand that tell two meanings apart, from a place on to before another."""
    words, last = LEXICON.cues[cue], len(scan) if end is None else end
    return [at for at in range(start, last) if scan.word(at) in words]


def is_cue(scan: RequestScan, place: int, cue: str) -> bool:
    """Tell whether the word at a place tells two meanings apart."""
    return scan.word(place) in LEXICON.cues[cue]


def extended(scan: RequestScan, text: str) -> str:
    """Return the request with more words at its end."""
    return scan.request.rstrip(" .?!") + text
