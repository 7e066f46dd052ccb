"""Words: how text becomes terms of an index, and what somebody asks a safe expression over them.

FTS5 is given terms that are made here, one blank between two, so its own tokenizer has nothing to
decide: it is `ascii`, for which every character beyond ASCII belongs to a word. What is indexed
then depends on no version of SQLite, and a query knows the terms it asks for as they stand in the
index.

A term is a word without its case, its marks and its endings (`stems`); a number without what
groups its digits; what hyphens and the like join (`INV-2024-001`) is there as a whole and in its
parts. Scripts that put no blanks between words are cut into overlapping pairs of characters.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

import msgspec

from kbd.core.workspace.stems import BINDING, stem, stemmer, stems, tongue

__all__ = [
    "COLUMNS",
    "TOKENIZER",
    "WEIGHTS",
    "WORDS_EDITION",
    "Query",
    "ask",
    "indexed",
    "snippet",
]

WORDS_EDITION = "1"
"""Goes up when the same text would be indexed as other terms; an index of another one is made
anew."""

COLUMNS = ("title", "body")
"""The columns of the FTS5 table, in this order."""

TOKENIZER = "ascii"
"""Its `tokenize` option."""

WEIGHTS = (1.0, 1.0)
"""What `bm25()` is given for its columns."""

MOST_CHARACTERS = 4_000
"""So much of a query is looked at; nobody asks for more than a page."""

MOST_WORDS = 48
"""So many different words of a query are looked for, the first ones."""

LONGEST_TERM = 64
"""Longer ones are cut: nobody types them, and they are no words."""

_MARK = re.compile("[\u0300-\u036f\u0591-\u05c7\u064b-\u065f]+")
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
_BINDING = frozenset().union(*BINDING.values())


class Query(msgspec.Struct, frozen=True):
    """What somebody asks for.

    Args:
        match: The FTS5 expression, to be bound as a parameter; "" if nothing can be looked for.
        terms: The words asked for, each as the terms that stand for it in the index.
    """

    match: str
    terms: tuple[tuple[str, ...], ...]


def ask(text: str) -> Query:
    """Return what to look for; any text at all is fine.

    Words are joined by OR, words that only bind others are left out where any other is there,
    and quotations and joined words count once more as phrases.
    """
    text = text[:MOST_CHARACTERS]
    # The last character of a run is in the pair before it.
    alone = {run for run in _RUN.findall(_fold(text)) if len(run) == 1}
    found = [token for token in _tokens(text) if not _is_single(token) or token in alone]
    meant = [token for token in found if token not in _BINDING] or found
    terms = tuple(stems(token) for token in dict.fromkeys(meant))[:MOST_WORDS]
    parts = [f'"{term}"' for term in dict.fromkeys(term for word in terms for term in word)]
    parts += dict.fromkeys(_phrases(text))
    # A single character of an unspaced script begins a pair of the index.
    parts += [f'"{word[0]}" *' for word in terms if _is_single(word[0])]
    return Query(" OR ".join(parts), terms)


def indexed(title: str, text: str) -> tuple[str, str]:
    """Return what the index is given of a piece: a value for each of `COLUMNS`.

    Args:
        title: What names the piece: its file's name, its place.
        text: The piece.
    """
    named, body = _tokens(_HUMPS.sub(" ", title)), _tokens(text)
    stemmed = stemmer(tongue(body))
    return " ".join(map(stemmed, named)), " ".join(map(stemmed, body))


def snippet(text: str, query: str, most_characters: int = 200) -> str:
    """Return the part of a piece that says most of what was asked, as one line.

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
    start = _best_start(line, ask(query), room)
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
        for term in _terms(pair):
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
def _terms(word: str) -> tuple[str, ...]:
    """Return what a word, or the pair of characters that begins one, may stand as in an index."""
    return tuple(term for token in _tokens(word) for term in stems(token))


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
            folded = _NUMBER.sub(_number, folded)
        those = _ASCII_JOINED if folded.isascii() else _JOINED
        joined = [found for found in those.findall(folded) if _JOINS.search(found)]
    found = _words(folded)
    found += ["".join(_WORD.findall(each)) for each in joined]
    if not folded.isascii():
        found += [run[at : at + 2] for run in _RUN.findall(folded) for at in range(len(run))]
    return [token[:LONGEST_TERM] for token in found]


def _words(folded: str) -> list[str]:
    """Return what `_WORD` finds, the fastest way for the text."""
    if folded.isascii():
        return folded.translate(_ASCII_BLANKS).split()
    return (_WORD if _SIGN.search(folded) else _PLAIN_WORD).findall(folded)


def _number(match: re.Match[str]) -> str:
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
    for phrase in (*_QUOTED.findall(text), *joined)[:MOST_WORDS]:
        words = _WORD.findall(_NUMBER.sub(_number, _fold(phrase)))[:MOST_WORDS]
        if len(words) > 1:
            for language in BINDING:
                yield '"' + " ".join(stem(word[:LONGEST_TERM], language) for word in words) + '"'
