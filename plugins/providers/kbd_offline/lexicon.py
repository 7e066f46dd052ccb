"""Lexicon of requests: phrases by what they mean, of all languages at once. Pure."""

import itertools
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from kbd.jobs.recipes.request_days import MONTH_NUMBERS, WEEKDAY_NUMBERS
from kbd_offline import english, german
from kbd_offline.names import fold, singular
from kbd_offline.request_tokens import word_texts

__all__ = ["LEXICON", "Lexicon"]

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


def _phrases() -> Iterator[tuple[tuple[str, ...], str]]:
    for language in _LANGUAGES:
        for concept, listed in language.PHRASES.items():
            for phrase in listed.split(","):
                for one in _spelt(phrase):
                    if words := tuple(word_texts(fold(one))):
                        yield words, concept


def _spelt(phrase: str) -> Iterator[str]:
    """Yield the phrases that one with alternatives stands for: "split|divide up| by"."""
    for chosen in itertools.product(*(part.split("|") for part in phrase.split())):
        yield " ".join(filter(None, chosen))


def _lexicon() -> Lexicon:
    phrases = defaultdict[str, list[tuple[tuple[str, ...], str]]](list)
    for phrase, concept in dict.fromkeys(_phrases()):
        phrases[phrase[0]].append((phrase, concept))
    numerals: dict[str, int] = {}
    prefixes: dict[str, str] = {}
    meanings = defaultdict[str, set[str]](set)
    for language in _LANGUAGES:
        numerals |= {word: n for n, word in enumerate(language.NUMERALS.split())}
        prefixes |= language.PREFIXES
        for meaning, words in language.MEANINGS.items():
            for word in words.split():
                meanings[singular(fold(word))].add(meaning)
    return Lexicon(
        {first: tuple(some) for first, some in phrases.items()},
        frozenset(word for some in phrases.values() for phrase, _ in some for word in phrase),
        {fold(name): number for name, number in MONTH_NUMBERS.items()},
        WEEKDAY_NUMBERS,
        numerals,
        prefixes,
        {word: frozenset(some) for word, some in meanings.items()},
        {word: frozenset(line.split()) for line in _VALUES.splitlines() for word in line.split()},
        {
            cue: frozenset(fold(f"{english.CUES[cue]} {german.CUES[cue]}").split())
            for cue in english.CUES
        },
    )


LEXICON = _lexicon()
