"""Tokenizer: text becomes terms of the full-text index, a query a safe expression over them.

FTS5 is given terms that are made here, one blank between two, so its own tokenizer has nothing to
decide: it is `ascii`, for which every character beyond ASCII belongs to a word. What is indexed
then depends on no version of SQLite, and a query knows the terms it asks for as they stand in the
index.

A term is a word without its case, its marks and its endings (PyStemmer, the stemmers of Snowball);
a number without what groups its digits; what hyphens and the like join (`INV-2024-001`) is there as
a whole and in its parts. Scripts that put no blanks between words are cut into overlapping pairs of
characters.

Kept by hand, for no library does it better: splitting and folding. FTS5's `unicode61` parts
`INV-2024-001` without keeping the whole, and leaves a sentence of Chinese one word; its `trigram`
finds no word of two characters and none in another form; what cuts Chinese, Japanese or Thai into
words is a library with a dictionary for each. Marks are folded before stemming, so that
"organizacion" finds "organización"; stems of words with their marks, folded afterwards, found no
more in the questions of benchmarks/retrieval.py (nDCG@10 .631 both ways).
"""

import re
import threading
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

import msgspec
import Stemmer

from kbd.core.search.stop_words import QUERY_STOP_WORDS, STOP_WORDS

__all__ = [
    "COLUMNS",
    "FTS5_TOKENIZER",
    "TOKENIZER_EDITION",
    "WEIGHTS",
    "Query",
    "index_terms",
    "parse_query",
    "snippet",
    "stem",
]

TOKENIZER_EDITION = f"2 snowball {Stemmer.version()}"
"""Names what decides which terms a text is indexed as: an index of another edition is made anew.
The library's version is in it, for a new one may stem some words otherwise; the number goes up with
a change here."""

COLUMNS = ("title", "body")
"""The columns of the FTS5 table, in this order."""

FTS5_TOKENIZER = "ascii"
"""Its `tokenize` option."""

WEIGHTS = (1.0, 1.0)
"""What `bm25()` is given for its columns."""

MAX_QUERY_CHARACTERS = 4_000
"""So much of a query is looked at; nobody asks for more than a page."""

MAX_QUERY_WORDS = 48
"""So many different words of a query are looked for, the first ones."""

MAX_TERM_CHARACTERS = 64
"""Longer ones are cut: nobody types them, and they are no words."""

MAX_CACHED_STEMS = 1 << 16
"""So many stems of a language are remembered: some 8 MB."""

_SHORT = 2
"""Words of so many letters are left as they are."""

_LATIN_LANGUAGES = ("english", "german", "french", "spanish", "portuguese", "italian")
"""Those of texts in Latin letters; one in which no stop word stands is taken as English.

A query is asked for by the stems of them all, so each more makes finding the others a little worse:
with Dutch and Polish as well, words alone put the answer first for .920 of the exact questions of
benchmarks/retrieval.py, with these for .928.
"""

# But not the breve of й, a letter of its own by whose endings Russian is stemmed.
_MARK = re.compile("(?<![иИ])\u0306|[\u0300-\u0305\u0307-\u036f\u0591-\u05c7\u064b-\u065f]+")
_ASCII_BLANKS = {code: " " for code in range(128) if not chr(code).isalnum()}
_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ħ": "h", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d"}
)
_LETTER_MARK = re.compile("[øłđħıæœþð]")
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
)
_LETTER = f"(?:[^\\W_{_UNSPACED}]|[\u0900-\u0dff])"
_WORD = re.compile(f"{_LETTER}++")
# In two thirds of the time, where no vowel sign of India can be.
_PLAIN_WORD = re.compile(f"[^\\W_{_UNSPACED}]++")
_SIGN = re.compile("[\u0900-\u0dff]")
_FIRST_UNSPACED = _UNSPACED[0]
_RUN = re.compile(f"[{_UNSPACED}]++")
_SPOT = re.compile(f"{_LETTER}++|[{_UNSPACED}]")
# A hyphen at the end of a line may have cut a word in two.
_JOINED = re.compile(rf"\b{_LETTER}++(?:(?:[-_./@:+\u2010\u2011]|-[ \t]?\n[ \t]?){_LETTER}++)++")
_ASCII_JOINED = re.compile(_JOINED.pattern.replace(_LETTER, "[a-z0-9]"))
_JOINS = re.compile(r"[-_@\u2010\u2011\d]")
_NUMBER = re.compile(r"(?<![\w.,])\d++(?:[.,]\d++)++(?![\w]|[-_/:@]\w)")
_FRACTION = re.compile(r"\d[.,]\d")
_GROUPED = re.compile(r"[1-9]\d{0,2}(?:([.,])\d{3})(?:\1\d{3})*(?:[.,]\d+)?")
_HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_QUOTED = re.compile('["\u201c\u201d\u201e\u00ab\u00bb]([^"\u201c\u201d\u201e\u00ab\u00bb]+)')


class Query(msgspec.Struct, frozen=True):
    """A parsed query.

    Args:
        match: The FTS5 expression, to be bound as a parameter; "" if nothing can be looked for.
        terms: The words asked for, each as the terms that stand for it in the index.
    """

    match: str
    terms: tuple[tuple[str, ...], ...]


def parse_query(text: str) -> Query:
    """Parse a query; any text at all is one.

    Words are joined by OR, words that only bind others are left out where any other is there,
    and quotations and joined words count once more as phrases.
    """
    text = text[:MAX_QUERY_CHARACTERS]
    # The last character of a run is in the pair before it.
    alone = {run for run in _RUN.findall(_fold(text)) if len(run) == 1}
    found = [token for token in _tokens(text) if not _is_single(token) or token in alone]
    meant = [token for token in found if token not in _QUERY_STOP_WORDS] or found
    terms = tuple(_possible_stems(token) for token in dict.fromkeys(meant))[:MAX_QUERY_WORDS]
    parts = [f'"{term}"' for term in dict.fromkeys(term for word in terms for term in word)]
    parts += dict.fromkeys(_phrases(text))
    # A single character of an unspaced script begins a pair of the index.
    parts += [f'"{word[0]}" *' for word in terms if _is_single(word[0])]
    return Query(" OR ".join(parts), terms)


def index_terms(title: str, text: str) -> tuple[str, str]:
    """Return the terms of a piece for the index: a value for each of `COLUMNS`.

    Args:
        title: What names the piece: its file's name, its place.
        text: The piece.
    """
    named, body = _tokens(_HUMPS.sub(" ", title)), _tokens(text)
    stemmed = _STEM_CACHES[_language(body)].__getitem__
    return " ".join(map(stemmed, named)), " ".join(map(stemmed, body))


def snippet(text: str, query: str, most_characters: int = 200) -> str:
    """Return the part of a piece that has most words of a query, as one line.

    Args:
        text: The piece.
        query: What was asked, as it was asked.
        most_characters: How long it may be, with the dots that stand for what is left out.
    """
    line = " ".join(text.split())
    if not line.isprintable():
        line = " ".join("".join(c if c.isprintable() else " " for c in line).split())
    if len(line) <= most_characters:
        return line
    room = max(most_characters - 4, 1)
    start = _best_start(line, parse_query(query), room)
    before = "… " if start else ""
    end = start + most_characters - len(before)
    if end >= len(line):
        return before + line[start:]
    end -= 2
    # Whole words, unless the only one is longer than the room.
    cut = line.rfind(" ", start + room // 2, end + 1)
    return before + line[start : cut if cut > 0 else end].rstrip() + " …"


def _best_start(line: str, query: Query, room: int) -> int:
    """Return where to begin: where most words asked for follow, the first such place."""
    asked = {term: at for at, word in enumerate(query.terms) for term in word}
    # A stem begins as its word does; most words of a text begin otherwise than those asked for.
    heads = {head for term in asked for head in (term[0], term[0].upper())}
    spots: list[tuple[int, int]] = []
    for match in _SPOT.finditer(line):
        if match[0][0] not in heads and match[0].isascii():
            continue
        is_run = match[0] >= _FIRST_UNSPACED and _RUN.match(match[0])
        pair = line[match.start() : match.start() + 2] if is_run else match[0]
        for term in _query_terms(pair):
            if term in asked:
                spots.append((match.start(), asked[term]))
                break
    most, best = 0, 0
    for first, (begin, _) in enumerate(spots):
        told = {known for at, known in spots[first:] if at < begin + room}
        if len(told) > most:
            most, best = len(told), begin
    # A little of what goes before is shown, and nothing is wasted at the end.
    start = min(best - room // 8, len(line) - room)
    return line.find(" ", start - 1, best) + 1 if start > 0 else 0


@lru_cache(maxsize=1 << 14)
def _query_terms(word: str) -> tuple[str, ...]:
    """Return the terms by which an index may have a word, or the character pair that begins one."""
    return tuple(term for token in _tokens(word) for term in _possible_stems(token))


def _fold(text: str) -> str:
    """Return text without case and marks, each character in its usual form."""
    if text.isascii():
        return text.lower()
    plain = _MARK.sub("", unicodedata.normalize("NFKD", text)).casefold()
    if _LETTER_MARK.search(plain):
        plain = plain.translate(_LETTERS)
    return unicodedata.normalize("NFC", plain)


def _tokens(text: str) -> list[str]:
    """Return the words of a text, not stemmed yet; what is joined follows after its parts."""
    folded = _fold(text)
    joined: list[str] = []
    if _JOINS.search(folded):
        # What the longer searches would find is seldom there, and soon seen.
        if _FRACTION.search(folded):
            folded = _NUMBER.sub(_normalize_number, folded)
        those = _ASCII_JOINED if folded.isascii() else _JOINED
        joined = [found for found in those.findall(folded) if _JOINS.search(found)]
    found = _words(folded)
    found += ["".join(_WORD.findall(each)) for each in joined]
    if not folded.isascii():
        found += [run[at : at + 2] for run in _RUN.findall(folded) for at in range(len(run))]
    return [token[:MAX_TERM_CHARACTERS] for token in found]


def _words(folded: str) -> list[str]:
    """Return what `_WORD` finds, the fastest way for the text."""
    if folded.isascii():
        return folded.translate(_ASCII_BLANKS).split()
    return (_WORD if _SIGN.search(folded) else _PLAIN_WORD).findall(folded)


def _normalize_number(match: re.Match[str]) -> str:
    """Return a number without what groups its digits: 12,500.00, 12.500,00 and 12500 are one."""
    text = match[0]
    whole, decimals = text, ""
    if _GROUPED.fullmatch(text):
        separator = next(c for c in text if c in ".,")
        last = max(text.rfind("."), text.rfind(","))
        if text[last] != separator:
            whole, decimals = text[:last], text[last + 1 :]
    elif text.count(".") + text.count(",") == 1:
        whole, decimals = re.split("[.,]", text)
    decimals = decimals.rstrip("0")
    return re.sub("[.,]", "", whole) + (f"d{decimals}" if decimals else "")


def _is_single(term: str) -> bool:
    return len(term) == 1 and _RUN.match(term) is not None


def _phrases(text: str) -> Iterator[str]:
    """Yield quotations and joined words as phrases of the index, as any language has them."""
    joined = [found for found in _JOINED.findall(_fold(text)) if _JOINS.search(found)]
    for phrase in (*_QUOTED.findall(text), *joined)[:MAX_QUERY_WORDS]:
        words = _WORD.findall(_NUMBER.sub(_normalize_number, _fold(phrase)))[:MAX_QUERY_WORDS]
        if len(words) > 1:
            for language in _LATIN_LANGUAGES:
                yield (
                    '"'
                    + " ".join(stem(word[:MAX_TERM_CHARACTERS], language) for word in words)
                    + '"'
                )


class _StemCache(dict[str, str]):
    """The stems of words of a language, each worked out when it is first asked for.

    A dict is asked in a quarter of the time that `lru_cache` takes, and in a tenth of the stemmer's
    own.

    Args:
        language: Whose stemmer is asked for words in Latin letters.
    """

    def __init__(self, language: str) -> None:
        super().__init__()
        self._latin, self._cyrillic = Stemmer.Stemmer(language, 0), Stemmer.Stemmer("russian", 0)
        # The library allows one thread at a time in a stemmer: it works in a buffer of its own.
        self._lock = threading.Lock()

    def __missing__(self, word: str) -> str:
        if len(word) <= _SHORT or not word.isalpha():
            return word
        if len(self) >= MAX_CACHED_STEMS:
            self.clear()
        stemmer = self._cyrillic if _CYRILLIC.match(word) else self._latin
        with self._lock:
            found = self[word] = str(stemmer.stemWord(word))
        return found


_CYRILLIC = re.compile("[\u0400-\u04ff]")
_STEM_CACHES = {language: _StemCache(language) for language in _LATIN_LANGUAGES}
_FOLDED = {language: frozenset(map(_fold, STOP_WORDS[language])) for language in _LATIN_LANGUAGES}
_ALL_FOLDED = frozenset().union(*_FOLDED.values())
# Of those that no other language here writes, all.
_QUERY_STOP_WORDS = QUERY_STOP_WORDS.union(map(_fold, STOP_WORDS["russian"]))


def stem(word: str, language: str) -> str:
    """Return the stem of a word as it stands in an index: lower case, without marks or blanks.

    Words of Cyrillic letters are stemmed as Russian in any language; numbers, and words of scripts
    that its stemmer does not know, are their own stems.

    Args:
        word: The word, folded.
        language: One of `STOP_WORDS`, in Latin letters.
    """
    return _STEM_CACHES[language][word]


def _possible_stems(word: str) -> tuple[str, ...]:
    """Return the stems by which an index may have a word, in whatever language."""
    return tuple(dict.fromkeys(stem(word, language) for language in _LATIN_LANGUAGES))


def _language(words: list[str]) -> str:
    """Return the language whose stop words are the most among words; English if none are."""
    found = _ALL_FOLDED.intersection(words)
    return max(_LATIN_LANGUAGES, key=lambda language: len(found & _FOLDED[language]))
