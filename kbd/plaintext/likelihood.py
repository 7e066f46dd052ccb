"""How likely words are, as their logarithm: by the letters of a language, or by its characters.

A model of a language is made of its words in `languages`: what letter follows which two. It is
small, so what it has not seen costs some, and what its language does not write costs much. The
numbers are measured on words of 31 languages that are not among those.
"""

import math
import re
import unicodedata
from collections import Counter, defaultdict
from functools import cache
from itertools import pairwise

import msgspec

from kbd.plaintext.ideographs import HANGUL, KANJI, SIMPLIFIED, TRADITIONAL
from kbd.plaintext.languages import LANGUAGES, Language

__all__ = [
    "IDEOGRAPHIC",
    "LanguageModel",
    "Token",
    "form_cost",
    "ideographic_cost",
    "is_common_mark",
    "is_letter",
    "language_models",
    "mark_cost",
    "tokens_of",
]

_ASCII_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz")
_TOKEN = re.compile("[A-Za-z\x80-\U0010ffff]*[\x80-\U0010ffff][A-Za-z\x80-\U0010ffff]*")
_ASCII_LETTER = re.compile("[A-Za-z]")
_NOT_LATIN = re.compile("[\u0250-\u02ff\u0370-\u1dff\u2e80-\ufffc]")
_MAX_TOKEN_CHARS = 48
"""Longer ones are cut: a line of ideographs has no blanks."""

_LETTER = 3.4
"""What a letter costs about which nothing is known."""

_FOREIGN = 9.0
"""What a letter costs beside that if its language does not write it."""

_LONE = 5.0
"""What a letter costs that is a word of its own, but not one of its language."""

_BESIDE_LETTERS = 4.0
"""What an ideograph costs beside a letter of the English alphabet."""

_MIXED_SCRIPTS = 15.0
"""What a word costs that has letters of the English alphabet and such of another script."""

_WRONG_CASE = 5.0
"""What a capital costs behind a small letter, or a small letter among capitals."""


class Token(msgspec.Struct, frozen=True):
    """Letters and signs between blanks, some beyond ASCII.

    Args:
        text: As it stands there.
        before: The character before it; a blank at the beginning of a text.
        after: The character behind it.
    """

    text: str
    before: str
    after: str


def tokens_of(text: str) -> list[Token]:
    """List the distinct tokens of a text that have characters beyond ASCII, in order."""
    found: dict[Token, None] = {}
    for match in _TOKEN.finditer(text):
        start, end = match.span()
        while start < end:
            stop = min(end, start + _MAX_TOKEN_CHARS)
            piece = text[start:stop]
            if not piece.isascii():
                token = Token(piece, _context(text, start - 1), _context(text, stop))
                found.setdefault(token)
            start = stop
    return list(found)


def _context(text: str, place: int) -> str:
    """Return what stands beside a token; all digits are one, so that tokens stay few."""
    beside = text[place] if 0 <= place < len(text) else " "
    return "0" if beside in "0123456789" else beside


class LanguageModel:
    """A language as what letter follows which two.

    Args:
        language: Its words and letters.
    """

    def __init__(self, language: Language) -> None:
        self.name = language.name
        letters = frozenset(language.letters)
        self.is_latin = not any(ord(letter) > 0x24F for letter in letters - frozenset("i̇"))
        self._letters = letters | _ASCII_LETTERS if self.is_latin else letters
        self._threes: Counter[str] = Counter()
        self._twos: Counter[str] = Counter()
        self._ones: Counter[str] = Counter()
        # What follows one letter and two.
        self._after: defaultdict[str, int] = defaultdict(int)
        for word in language.words.split():
            text = f"\n{word.lower()}\n"
            for place in range(1, len(text)):
                one, two, three = (
                    text[place],
                    text[place - 1 : place + 1],
                    text[place - 2 : place + 1],
                )
                self._ones[one] += 1
                self._twos[two] += 1
                self._after[two[0]] += 1
                if place > 1:
                    self._threes[three] += 1
                    self._after[three[:2]] += 1
        self._total = sum(self._ones.values())
        self._alone = {word for word in language.words.split() if len(word) == 1}
        self._words: dict[str, float] = {}

    def cost(self, word: str) -> float:
        """Return the negative logarithm of a word's likelihood; words are in lower case."""
        known = self._words.get(word)
        if known is None:
            known = self._words[word] = self._cost(word)
        return known

    def _cost(self, word: str) -> float:
        if not self._letters.issuperset(word):
            foreign = sum(letter not in self._letters for letter in word)
            return len(word) * _LETTER + foreign * _FOREIGN
        total = 0.0
        text = f"\n{word}\n"
        for place in range(1, len(text)):
            one, two = text[place], text[place - 1 : place + 1]
            likely = 0.97 * self._ones[one] / self._total + 0.03 / len(self._letters)
            likely = (self._twos[two] + 4 * likely) / (self._after[two[0]] + 4)
            if place > 1:
                three = text[place - 2 : place + 1]
                likely = (self._threes[three] + 4 * likely) / (self._after[three[:2]] + 4)
            total -= math.log(likely)
        return total + (_LONE if len(word) == 1 and word not in self._alone else 0.0)


@cache
def language_models() -> tuple[LanguageModel, ...]:
    """Return the models of all languages, made when first asked for."""
    return tuple(LanguageModel(language) for language in LANGUAGES)


def form_cost(word: str) -> float:
    """Return what letters beyond ASCII cost that do not suit those beside them: script and case."""
    if _ASCII_LETTER.search(word) and _NOT_LATIN.search(word):
        return _MIXED_SCRIPTS
    if word.islower() or word.isupper() or (word[:1].isupper() and word[1:].islower()):
        return 0.0
    # All capitals but for some letters beyond ASCII: "MüLLER".
    plain = [letter for letter in word if letter.isascii()]
    if len(plain) > 1 and all(letter.isupper() for letter in plain):
        return _WRONG_CASE * sum(not letter.isascii() and letter.islower() for letter in word)
    return _WRONG_CASE * sum(
        one.islower() and two.isupper() and not (one.isascii() and two.isascii())
        for one, two in pairwise(word)
    )


# Signs and where they stand: "o" opens (behind a blank), "c" closes (behind something), "b" stands
# between, "n" beside a figure, "w" between letters, "s" is a blank.
_PLACES = {
    **dict.fromkeys("“‘«„‹¿¡", "o"),
    **dict.fromkeys("”»›", "c"),
    "’": "cw",
    **dict.fromkeys("–—", "bn"),
    **dict.fromkeys("€£¥", "n"),
    "°": "nc",
    **dict.fromkeys("ºª", "n"),
    **dict.fromkeys("²³", "c"),
    **dict.fromkeys("¼½¾±", "n"),
    **dict.fromkeys("×÷", "bn"),
    **dict.fromkeys("§©®™•…†‡№", "bc"),
    "·": "bw",
    "\xa0": "s",
    "\u00ad": "w",
    **dict.fromkeys("¢µ‰¹¶", "n"),
}
_COMMON = frozenset("“”‘’«»„–—€£°º…§®©№\xa0¿¡")


def mark_cost(mark: str, before: str, after: str) -> float:
    """Return what a sign costs that is no letter, by what stands beside it."""
    if mark == "\ufffd":
        return 14.0
    code = ord(mark)
    is_beside = before.isalpha() or after.isalpha()
    if code < 0xA0 or 0xE000 <= code < 0xF900:
        return 13.0
    if 0x2500 <= code < 0x25A0:
        # Frames of DOS: lines go on.
        return 3.0 if before == mark or after == mark else 9.0 if not is_beside else 14.0
    places = _PLACES.get(mark)
    if places is None:
        return 10.0
    is_word = before.isalpha() and after.isalpha()
    fits = (
        ("o" in places and not before.isalnum() and not after.isspace())
        or ("c" in places and not before.isspace() and not after.isalpha())
        or ("b" in places and not before.isalnum() and not after.isalnum())
        or ("s" in places and not before.isspace() and (after.isalnum() or after in "€%«»:!?"))
        or ("n" in places and (before.isdigit() or after.isdigit()))
        or ("w" in places and is_word)
    )
    # Before a word these open it; behind one they may close it.
    is_free = mark in "€£¥°§©•" and not before.isalpha()
    if not fits and not is_free:
        return 12.0
    return 4.0 if mark in _COMMON else 6.0


def is_common_mark(mark: str) -> bool:
    """Tell whether a sign is one that texts of many languages have."""
    return mark in _PLACES


IDEOGRAPHIC = {
    "cp932": "Japanese",
    "euc_jp": "Japanese",
    "gb18030": "Chinese",
    "big5": "traditional Chinese",
    "cp949": "Korean",
}
"""Codecs of two bytes a character, each with the language that it is of."""

_COMMON_CHARACTERS = {
    "Japanese": (KANJI, "euc_jp", 0xB0, 0xCF),
    "Chinese": (SIMPLIFIED, "gb2312", 0xB0, 0xD7),
    "traditional Chinese": (TRADITIONAL, "big5", 0xA4, 0xC6),
    "Korean": (HANGUL, "euc_kr", 0xB0, 0xC8),
}


@cache
def _rarity(language: str, character: str) -> float:
    """Return what an ideograph or syllable costs by the tier of its standard that it is in."""
    common, codec, first, last = _COMMON_CHARACTERS[language]
    if character in common:
        return 6.3
    try:
        lead = character.encode(codec)[0]
    except UnicodeEncodeError:
        return 14.0
    return 9.6 if first <= lead <= last else 12.5


def ideographic_cost(language: str, token: Token) -> float:
    """Return the negative logarithm of a token's likelihood in an East Asian language."""
    total = 0.0
    text = f"{token.before}{token.text}{token.after}"
    for before, character, after in zip(text, text[1:], text[2:], strict=False):
        code = ord(character)
        total += _BESIDE_LETTERS * (before.isascii() and before.isalpha() and code > 0x7F)
        total += _BESIDE_LETTERS * (after.isascii() and after.isalpha() and code > 0x7F)
        if code < 0x80:
            total += _LETTER + 1
        elif 0x3041 <= code <= 0x30FF:
            total += (4.4 if code != 0x30FB else 6.0) if language == "Japanese" else 12.0
        elif 0x3000 <= code <= 0x301F or code in (
            0xFF08,
            0xFF09,
            0xFF0C,
            0xFF1A,
            0xFF1B,
            0xFF01,
            0xFF1F,
        ):
            total += 6.0
        elif 0xFF10 <= code <= 0xFF5A:
            total += 7.5
        elif 0xFF61 <= code <= 0xFF9F:
            beside = any(0xFF61 <= ord(one) <= 0xFF9F for one in (before, after))
            total += (4.6 if beside else 9.0) if language == "Japanese" else 14.0
        elif 0x4E00 <= code <= 0x9FFF or 0xAC00 <= code <= 0xD7A3:
            total += _rarity(language, character)
        else:
            total += mark_cost(character, before, after) + 3
    return total


def is_letter(character: str) -> bool:
    """Tell whether a character is part of words: a letter, or a mark on one."""
    return unicodedata.category(character)[0] in "LM" and character not in "ºª"
