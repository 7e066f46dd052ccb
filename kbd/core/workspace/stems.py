"""Stems: words cut down to what their forms have in common, by the language of a text.

English is stemmed as M. F. Porter describes ("An algorithm for suffix stripping", 1980). Other
languages lose the endings of their declensions only: enough for a singular to find its plural. A
stem is a key and not a word, and it need not be right, only the same for what is looked for and
what is looked in.
"""

import re
from collections.abc import Callable, Iterable

__all__ = ["BINDING", "stem", "stemmer", "stems", "tongue"]

_BINDING_WORDS = {
    "english": "a about above after again all am an and any are as at be because been before being "
    "between both but by can could did do does doing down during each few for from further had has "
    "have having he her here hers him his how i if in into is it its itself just me more most my "
    "no nor not of off on once only or other our out over own please s same she should so some "
    "such t tell than that the their them then there these they this those through to too under "
    "until up very was we were what when where which while who whom why will with would you your",
    "german": "aber als am an auch auf aus bei bin bis da das dass dem den der des die dies diese "
    "dieser dieses doch du ein eine einem einen einer eines er es fur hat hatte ich ihr im in "
    "ist ja kann kein keine man mein mit muss nach nicht noch nun nur ob oder ohne sehr sein "
    "seine sich sie sind so uber um und uns unter vom von vor war warum was wenn wer werden "
    "wie wir wird wo wurde zu zum zur welche welcher welches",
    "romance": "a ai al alla au aux avec c ce ces che com como con contre cosa cual d da dans de "
    "degli dei del della delle des di do dos du e el elle en entre es est et etre eu fait gli ha "
    "i il ils je l la las le les leur lo los lui mas me mi mit n na nao ne nel no nos nous o oder "
    "on os ou par para pas per perche plus por pour q quais qual que quel quelle quels quem qui "
    "quoi sa se ser ses si sont sua sul sur tres um uma un una une uno vous y",
}
BINDING: dict[str, frozenset[str]] = {
    name: frozenset(words.split()) for name, words in _BINDING_WORDS.items()
}
"""Words that bind others and say nothing of what a text is about, without marks, by language."""
_ALL_BINDING = frozenset().union(*BINDING.values())

_VOWELS = "aeiou"
_KINDS = {code: "v" if chr(code) in _VOWELS else "c" for code in range(ord("a"), ord("z") + 1)}
_SHORT = 2
"""Words of so many letters are left as they are."""

_MOST_KNOWN = 1 << 16
"""So many stems of a language are remembered: some 8 MB."""


def _consonant(word: str, at: int) -> bool:
    if word[at] in _VOWELS:
        return False
    return word[at] != "y" or at == 0 or not _consonant(word, at - 1)


def _kinds(word: str) -> str:
    """Return a word with "v" for each vowel and "c" for each consonant."""
    if "y" not in word:
        return word.translate(_KINDS)
    return "".join("c" if _consonant(word, at) else "v" for at in range(len(word)))


def _measure(word: str) -> int:
    """Return how many times a vowel is followed by a consonant."""
    return _kinds(word).count("vc")


def _has_vowel(word: str) -> bool:
    return "v" in _kinds(word)


def _doubled(word: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and _consonant(word, len(word) - 1)


def _short_syllable(word: str) -> bool:
    """Return whether it ends in consonant, vowel, consonant, the last one not w, x or y."""
    last = len(word) - 1
    return (
        last >= _SHORT
        and _consonant(word, last)
        and not _consonant(word, last - 1)
        and _consonant(word, last - 2)
        and word[last] not in "wxy"
    )


_DERIVED = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize",
    "abli": "able", "alli": "al", "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize",
    "ation": "ate", "ator": "ate", "alism": "al", "iveness": "ive", "fulness": "ful",
    "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble",
}  # fmt: skip
_DERIVED_AGAIN = {
    "icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": "",
}  # fmt: skip
_LAST = (
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ion", "ism", "ate", "iti",
    "ous", "ive", "ize", "al", "er", "ic", "ou",
)  # fmt: skip


def _inflected(word: str) -> str:
    """Return a word without plural, past and progressive (Porter's steps 1a to 1c)."""
    if word.endswith(("sses", "ies")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    if word.endswith("eed"):
        if _measure(word[:-3]) > 0:
            word = word[:-1]
    elif (word.endswith("ed") and _has_vowel(word[:-2])) or (
        word.endswith("ing") and _has_vowel(word[:-3])
    ):
        word = word[:-2] if word.endswith("ed") else word[:-3]
        if word.endswith(("at", "bl", "iz")) or (_measure(word) == 1 and _short_syllable(word)):
            word += "e"
        elif _doubled(word) and word[-1] not in "lsz":
            word = word[:-1]
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    return word


def _ending(word: str, endings: tuple[str, ...]) -> str:
    """Return the first of some endings that a word has, "" if it has none."""
    if not word.endswith(endings):
        return ""
    return next(ending for ending in endings if word.endswith(ending))


def _english(word: str) -> str:
    word = _inflected(word)
    for endings in (_DERIVED, _DERIVED_AGAIN):
        ending = _ending(word, tuple(endings))
        if ending and _measure(word[: -len(ending)]) > 0:
            word = word[: -len(ending)] + endings[ending]
    if ending := _ending(word, _LAST):
        rest = word[: -len(ending)]
        if _measure(rest) > 1 and (ending != "ion" or rest.endswith(("s", "t"))):
            word = rest
    if word.endswith("e"):
        rest = word[:-1]
        if _measure(rest) > 1 or (_measure(rest) == 1 and not _short_syllable(rest)):
            word = rest
    if _doubled(word) and word[-1] == "l" and _measure(word) > 1:
        word = word[:-1]
    return word


def _without(endings: str, least: int) -> Callable[[str], str]:
    """Return what cuts off up to two endings and leaves so many letters at least."""
    cut = re.compile(f"(?<=.{{{least}}})(?:{endings})$")

    def stemmed(word: str) -> str:
        return cut.sub("", cut.sub("", word))

    return stemmed


_STEMMERS: dict[str, Callable[[str], str]] = {
    "english": _english,
    "german": _without("em|er|en|es|nd|e|s|n|t", 4),
    "romance": _without("es|e|a|o|i|s|x", 4),
}
_CYRILLIC = re.compile("[\u0400-\u04ff]")
_CYRILLIC_STEM = _without(
    "иями|ями|ами|ого|его|ому|ему|ыми|ими|иях|ях|ах|ов|ев|ом|ем|ам|ям|ым|им|ых|их|ой|ей|ий|ый|"
    "[аеиоуыэюяьй]",
    3,
)


def stem(word: str, language: str) -> str:
    """Return the stem of a word: lower case, without marks, no blank in it.

    Numbers, and words of scripts that no language here is written in, are their own stems.
    """
    return _KNOWN[language][word]


def stemmer(language: str) -> Callable[[str], str]:
    """Return what `stem` does for the words of a language, for many of them."""
    return _KNOWN[language].__getitem__


class _Known(dict[str, str]):
    """The stems of words of a language, each worked out when it is asked for first.

    A dict is asked in a quarter of the time that `lru_cache` takes.

    Args:
        stemmed: What stems its words.
    """

    def __init__(self, stemmed: Callable[[str], str]) -> None:
        super().__init__()
        self._stemmed = stemmed

    def __missing__(self, word: str) -> str:
        if len(self) >= _MOST_KNOWN:
            self.clear()
        found = self[word] = self._stem(word)
        return found

    def _stem(self, word: str) -> str:
        if len(word) <= _SHORT or not word.isalpha():
            return word
        if word.isascii():
            return self._stemmed(word)
        return _CYRILLIC_STEM(word) if _CYRILLIC.search(word) else word


_KNOWN = {language: _Known(stemmed) for language, stemmed in _STEMMERS.items()}


def stems(word: str) -> tuple[str, ...]:
    """Return what a word may stand as in an index, whatever the language of the text."""
    return tuple(dict.fromkeys(stem(word, language) for language in _STEMMERS))


def tongue(words: Iterable[str]) -> str:
    """Return the language whose binding words are the most among words; English if none are."""
    found = _ALL_BINDING.intersection(words)
    return max(BINDING, key=lambda language: len(found & BINDING[language]))
