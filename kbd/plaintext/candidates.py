"""Encodings that a text without a mark may be in, from the likeliest on.

A text in each of them is judged as words: by the letters of the language that they fit best, by
where letters and signs stand, by how common its ideographs are. What two encodings read alike they
are one candidate for.
"""

import re
import unicodedata
from collections import Counter
from functools import cache

import msgspec

from kbd.plaintext.languages import LANGUAGES
from kbd.plaintext.likelihood import (
    IDEOGRAPHIC,
    Token,
    form_cost,
    ideographic_cost,
    is_common_mark,
    is_letter,
    language_models,
    mark_cost,
    tokens_of,
)

__all__ = ["CODECS", "RankedEncoding", "is_usual", "ranked", "utf8_cost"]

_PRIORS = {
    "cp1252": 0.0, "latin-1": 0.7, "iso8859-15": 1.0, "cp1250": 1.0, "iso8859-2": 1.5,
    "cp1251": 1.0, "koi8-r": 2.0, "koi8-u": 2.8, "cp866": 4.0, "iso8859-5": 4.5,
    "mac_cyrillic": 5.0, "cp1253": 1.0, "iso8859-7": 2.3, "cp1254": 1.2, "cp1257": 1.2,
    "cp1255": 1.5, "cp1256": 1.5, "iso8859-6": 4.0, "cp874": 1.5, "cp850": 3.5, "cp437": 3.8,
    "cp852": 4.5, "cp857": 5.5, "cp775": 5.5, "mac_roman": 3.8, "mac_latin2": 6.0,
    "cp932": 1.0, "gb18030": 1.0, "big5": 1.2, "cp949": 1.0, "euc_jp": 1.5,
}  # fmt: skip
"""What an encoding costs for being rare; of two that read a text alike the cheaper one is named."""

CODECS = tuple(sorted(_PRIORS, key=lambda name: _PRIORS[name]))
"""All of them, the commonest first."""

_WORD = re.compile(rb"[A-Za-z\x80-\xff]*[\x80-\xff][A-Za-z\x80-\xff]*")
_FIRST_TOKENS = 60
_MOST_WORDS = 300
_WORDS_OF_A_BYTE = 8
_IDEOGRAPHIC_BYTES = 4 * 1024
_HOPELESS = 60.0
"""Of what is behind by this after the first tokens no more is looked at."""

_MOST_BROKEN = 0.1
"""How many characters of two bytes may be broken ones, as a share: more is another encoding."""

_OTHER_LANGUAGE = 5.0
"""What a word costs in a language that is not that of the others."""


_USUAL_LETTER = 3.4
_USUAL_IDEOGRAPH = 8.0
_ODD = 12.0
"""What a word costs more than its letters usually do, if it is of no language known here."""

_ODD_ALONE = 6.0
"""The same for a letter alone: a list of letters is of no language."""

_LACKING_LETTER = 2.0
"""What a language costs in an encoding for a letter that the encoding lacks; at most for two."""


class RankedEncoding(msgspec.Struct, frozen=True):
    """An encoding and how well a text fits it.

    Args:
        name: Its codec.
        language: The language that most words are of.
        cost: The negative logarithm of its likelihood; smaller is likelier.
        token_costs: The same for each token.
        tokens: What was judged.
        odd_tokens: How many of them are words of no language, by its letters.
    """

    name: str
    language: str
    cost: float
    token_costs: tuple[float, ...]
    tokens: tuple[Token, ...]
    odd_tokens: int


def ranked(sample: bytes, present: bytes) -> tuple[RankedEncoding, ...]:
    """Rank the encodings that read a text's bytes differently, the likeliest first.

    Args:
        sample: Lines of the text that have bytes beyond ASCII.
        present: The bytes beyond ASCII that the whole text has, each once.
    """
    costs: dict[str, tuple[float, ...]] = {}
    tokens = {name: tokens_of(text) for name, text in _texts(sample, present).items()}
    first = [_judged(name, found[:_FIRST_TOKENS], costs) for name, found in tokens.items()]
    limit = min(each.cost for each in first) + _HOPELESS
    near = [each for each in first if each.cost <= limit]
    whole = [_judged(each.name, tokens[each.name], costs) for each in near]
    best = min(whole, key=lambda each: each.cost)
    whole += _ideographic(_cut(sample), best, costs)
    # Kana, say, are the same bytes in EUC-JP and GB18030: the likelier language remains.
    unlike: dict[tuple[Token, ...], RankedEncoding] = {}
    for each in sorted(whole, key=lambda each: each.cost):
        unlike.setdefault(each.tokens, each)
    return tuple(unlike.values())


def _ideographic(
    sample: bytes, best: RankedEncoding, costs: dict[str, tuple[float, ...]]
) -> list[RankedEncoding]:
    """Judge encodings of two bytes a character, against the best of one on the same lines."""
    words = tokens_of(_thinned(_words(sample)).decode(best.name, "replace"))
    ahead = best.cost - _judged(best.name, words, costs).cost
    texts = {name: sample.decode(name, "replace") for name in IDEOGRAPHIC}
    found = [
        _judged(name, tokens_of(text), costs)
        for name, text in texts.items()
        if text.count("\ufffd") <= _MOST_BROKEN * sum(not one.isascii() for one in text)
    ]
    return [msgspec.structs.replace(each, cost=each.cost + ahead) for each in found]


def utf8_cost(sample: bytes) -> float:
    """Return what a text costs that is read as UTF-8, to be set against those of `ranked`.

    Args:
        sample: Lines of it, as they are given there.
    """
    tokens = tokens_of(_thinned(_words(sample)).decode("utf-8", "replace"))
    if not tokens:
        return 0.0
    _, letters = _in_languages("utf-8", tokens, {})
    languages = dict.fromkeys(IDEOGRAPHIC.values())
    signs = (sum(ideographic_cost(one, token) for token in tokens) for one in languages)
    return min(sum(letters), *signs)


def is_usual(characters: str) -> bool:
    """Tell whether each character is a letter of some language, or a sign of its texts."""
    return all(
        any(one in language.letters for language in LANGUAGES)
        or is_common_mark(one)
        or _is_usual_sign(one)
        for one in characters.lower()
    )


def _is_usual_sign(character: str) -> bool:
    """Tell whether a character is a figure, or a sign of a page that only UTF-8 writes so.

    The pages are those of punctuation, currencies and signs of mathematics, and of pictures: in
    other encodings their bytes are signs amid letters. A mark that replaced something is one, too,
    and so are signs of full width, the marks of Arabic numbers, and a byte order mark.
    """
    code = ord(character)
    is_sign = (
        0x2000 <= code < 0x2300
        or 0xFF01 <= code < 0xFF5F
        or code >= 0x1F000
        or character in "\ufffd\ufe0f\u200d\ufeff٪٫٬"
    )
    return is_sign or unicodedata.category(character) == "Nd"


def _texts(sample: bytes, present: bytes) -> dict[str, str]:
    """Read a sample in each encoding of one byte, those out that a likelier one reads alike."""
    found: dict[str, str] = {}
    seen: set[str] = set()
    # Single bytes stand for letters alike in all of them: they are cut to words once.
    words = _thinned(_words(sample))
    for name in CODECS:
        if name in IDEOGRAPHIC:
            continue
        key = present.decode(name, "replace")
        if key not in seen:
            seen.add(key)
            found[name] = words.decode(name, "replace")
    return found


def _cut(sample: bytes) -> bytes:
    """Return lines of a sample's start and end, where what came late is; of ideographs few tell."""
    if len(sample) <= 2 * _IDEOGRAPHIC_BYTES:
        return sample
    start, end = sample[:_IDEOGRAPHIC_BYTES], sample[-_IDEOGRAPHIC_BYTES:]
    return (start[: start.rfind(b"\n") + 1] or start) + end.partition(b"\n")[2]


def _words(sample: bytes) -> list[bytes]:
    """List the distinct words with bytes beyond ASCII, each with what stands beside it."""
    places = (match.span() for match in _WORD.finditer(sample))
    return list(dict.fromkeys(sample[max(0, start - 1) : end + 1] for start, end in places))


def _thinned(words: list[bytes]) -> bytes:
    """Join so many words that time is bounded, but some for each byte."""
    kept = words[:_MOST_WORDS]
    counts = Counter(byte for word in kept for byte in set(word))
    for word in words[_MOST_WORDS:]:
        fresh = [byte for byte in set(word) if byte > 127 and counts[byte] < _WORDS_OF_A_BYTE]
        if fresh and len(kept) < 2 * _MOST_WORDS:
            kept.append(word)
            counts.update(fresh)
    return b"\n".join(kept)


def _judged(name: str, tokens: list[Token], costs: dict[str, tuple[float, ...]]) -> RankedEncoding:
    if name in IDEOGRAPHIC:
        language = IDEOGRAPHIC[name]
        each = [ideographic_cost(language, token) for token in tokens]
        usual = _USUAL_IDEOGRAPH
    else:
        language, each = _in_languages(name, tokens, costs)
        usual = _USUAL_LETTER
    odd = sum(
        cost > usual * len(token.text) + (_ODD if len(token.text) > 1 else _ODD_ALONE)
        for token, cost in zip(tokens, each, strict=True)
    )
    total = sum(each) + _PRIORS[name]
    return RankedEncoding(name, language, total, tuple(each), tuple(tokens), odd)


def _in_languages(
    name: str, tokens: list[Token], costs: dict[str, tuple[float, ...]]
) -> tuple[str, list[float]]:
    """Return the language that fits most words, and what each token costs in it."""
    models = language_models()
    parts = [_parts(token) for token in tokens]
    for _, words in parts:
        for word in words:
            if word not in costs:
                costs[word] = tuple(model.cost(word) for model in models)
    best = {word: min(costs[word]) + _OTHER_LANGUAGE for _, words in parts for word in words}
    sums = [
        sum(min(costs[word][place], best[word]) for _, words in parts for word in words)
        + _lacking(name, place)
        for place in range(len(models))
    ]
    place = min(range(len(models)), key=sums.__getitem__)
    each = [
        fixed + sum(min(costs[word][place], best[word]) for word in words) for fixed, words in parts
    ]
    each[0] += _lacking(name, place)
    return models[place].name, each


@cache
def _lacking(codec: str, place: int) -> float:
    """Return what a language costs in an encoding that lacks some of its letters."""
    encoded = LANGUAGES[place].letters.encode(codec, "replace")
    return min(2, encoded.count(b"?")) * _LACKING_LETTER


def _parts(token: Token) -> tuple[float, list[str]]:
    """Return what a token's signs and capitals cost, and its words in lower case."""
    fixed = 0.0
    words: list[str] = []
    word = ""
    text = token.text
    for place, one in enumerate(text):
        if one.isascii() or is_letter(one):
            word += one
            continue
        fixed += mark_cost(
            one,
            text[place - 1] if place else token.before,
            text[place + 1 : place + 2] or token.after,
        )
        if word:
            fixed += form_cost(word)
            words.append(word.lower())
        word = ""
    if word:
        fixed += form_cost(word)
        words.append(word.lower())
    return fixed, words
