"""Lexicon of requests: phrases by what they mean, of all languages at once. Pure."""

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import msgspec

from kbd.jobs.recipes.request_days import MONTH_NUMBERS, WEEKDAY_NUMBERS
from kbd_offline import english, german
from kbd_offline.names import fold, singular, stem
from kbd_offline.request_tokens import word_texts

__all__ = ["LEXICON", "TABLE_LEXICON", "Lexicon"]

_LANGUAGES = (english, german)
_VALUES = """\
paid bezahlt
cancelled canceled storniert
open offen
shipped versandt verschickt
delivered geliefert
returned retourniert zuruckgegeben
pending ausstehend
refunded erstattet
overdue uberfallig
active aktiv
inactive inaktiv
closed geschlossen
north northern nord norden
south southern sud suden
east eastern ost osten
west western westen
germany deutschland german
france frankreich french
italy italien italian
spain spanien spanish
austria osterreich austrian
switzerland schweiz swiss
"""
"""Frequent values, on each line words that mean the same."""


class Lexicon(msgspec.Struct, frozen=True):
    """Phrases of requests.

    Args:
        phrases: By their first word the phrases that begin with it, each with its concept.
        words: All words of phrases, folded.
        months: Numbers of months by their names.
        weekdays: Numbers of weekdays, Monday first, by their names.
        numerals: Numbers by their words.
        prefixes: First parts of compound words, each with the word it stands for.
        meanings: By a word, folded and in the singular, the things that it may mean.
        values: By a word for a frequent value the words that mean the same, of all languages.
        cues: Folded words that tell two meanings apart, by what they say.
        deeds: By the stem of a word what is done with things: "ordered" and "orders".
    """

    phrases: Mapping[str, tuple[tuple[tuple[str, ...], str], ...]]
    words: frozenset[str]
    months: Mapping[str, int]
    weekdays: Mapping[str, int]
    numerals: Mapping[str, int]
    prefixes: Mapping[str, str]
    meanings: Mapping[str, frozenset[str]]
    values: Mapping[str, frozenset[str]]
    cues: Mapping[str, frozenset[str]]
    deeds: Mapping[str, frozenset[str]]

    def ends(self, words: Sequence[str], start: int) -> Mapping[str, int]:
        """Return by concept where the longest phrase of it that begins at a place ends.

        Args:
            words: The words of a request, folded.
            start: The place.
        """
        found: dict[str, int] = {}
        for phrase, concept in self.phrases.get(words[start], ()):
            end = start + len(phrase)
            if end > found.get(concept, 0) and tuple(words[start:end]) == phrase:
                found[concept] = end
        return found

    def means(self, word: str, meaning: str) -> bool:
        """Tell whether a folded word in the singular may mean a thing."""
        return meaning in self.meanings.get(word, ())


def _phrases(
    *listings: Mapping[str, str],
) -> dict[str, tuple[tuple[tuple[str, ...], str], ...]]:
    """Return by their first word the phrases that are listed by concept, each once."""
    found: dict[str, dict[tuple[tuple[str, ...], str], None]] = {}
    for listing in listings:
        for concept, listed in listing.items():
            for phrase in listed.split(","):
                for one in _spelt(phrase):
                    if words := tuple(word_texts(fold(one))):
                        found.setdefault(words[0], {})[words, concept] = None
    return {first: tuple(some) for first, some in found.items()}


def _spelt(phrase: str) -> Iterator[str]:
    """Yield the phrases that one with alternatives stands for: "split|divide up| by"."""
    for chosen in itertools.product(*(part.split("|") for part in phrase.split())):
        yield " ".join(filter(None, chosen))


def _by_word(
    listings: Iterable[Mapping[str, str]], form: Callable[[str], str]
) -> dict[str, frozenset[str]]:
    """Return by a form of each word what it is listed for."""
    found = defaultdict[str, set[str]](set)
    for listing in listings:
        for meaning, words in listing.items():
            for word in words.split():
                found[form(fold(word))].add(meaning)
    return {word: frozenset(some) for word, some in found.items()}


def _lexicon() -> Lexicon:
    phrases = _phrases(*(language.PHRASES for language in _LANGUAGES))
    numerals: dict[str, int] = {}
    prefixes: dict[str, str] = {}
    for language in _LANGUAGES:
        numerals |= {word: n for n, word in enumerate(language.NUMERALS.split())}
        prefixes |= language.PREFIXES
    return Lexicon(
        phrases,
        frozenset(word for some in phrases.values() for phrase, _ in some for word in phrase),
        {fold(name): number for name, number in MONTH_NUMBERS.items()},
        WEEKDAY_NUMBERS,
        numerals,
        prefixes,
        _by_word((language.MEANINGS for language in _LANGUAGES), singular),
        {word: frozenset(line.split()) for line in _VALUES.splitlines() for word in line.split()},
        {
            cue: frozenset(fold(f"{english.CUES[cue]} {german.CUES[cue]}").split())
            for cue in english.CUES
        },
        _by_word((language.DEEDS for language in _LANGUAGES), stem),
    )


LEXICON = _lexicon()
TABLE_LEXICON = msgspec.structs.replace(
    LEXICON,
    phrases=_phrases(
        *(one for language in _LANGUAGES for one in (language.PHRASES, language.TABLE_PHRASES))
    ),
)
"""The same with the phrases of requests about several tables."""
