"""Lexicon of requests: phrases by what they mean, of all languages at once. Pure."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import msgspec

from kbd.jobs.recipes.request_days import MONTH_NUMBERS, WEEKDAY_NUMBERS
from kbd_offline import english, german
from kbd_offline.names import fold, singular, stem
from kbd_offline.request_tokens import word_texts

__all__ = ["LEXICON", "TABLE_LEXICON", "Lexicon", "PhraseForms"]

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


class PhraseForms(msgspec.Struct, frozen=True):
    """Phrase with alternatives, which stands for all forms that they make.

    Args:
        concept: What it means.
        parts: Its parts in order, each with its alternatives; a part that may be missing has one
            without words.
    """

    concept: str
    parts: tuple[tuple[tuple[str, ...], ...], ...]

    def end(self, words: Sequence[str], start: int) -> int:
        """Return where the longest form of it that begins at a place ends; 0 if there is none."""
        ends = {start}
        for part in self.parts:
            ends = {
                at + len(chosen)
                for at in ends
                for chosen in part
                if tuple(words[at : at + len(chosen)]) == chosen
            }
            if not ends:
                return 0
        return max(ends)

    def first_words(self) -> Iterator[str]:
        """Yield the words that it may begin with."""
        for part in self.parts:
            yield from (chosen[0] for chosen in part if chosen)
            if () not in part:
                return

    def single_words(self) -> Iterator[str]:
        """Yield the words that it may be alone."""
        for place, part in enumerate(self.parts):
            if all(() in other for other in (*self.parts[:place], *self.parts[place + 1 :])):
                yield from (chosen[0] for chosen in part if len(chosen) == 1)

    def words(self) -> Iterator[str]:
        """Yield all words of it."""
        return (word for part in self.parts for chosen in part for word in chosen)


class Lexicon(msgspec.Struct, frozen=True):
    """Phrases of requests.

    Args:
        phrases: All of them.
        by_word: The same by the words that they may begin with.
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

    phrases: tuple[PhraseForms, ...]
    by_word: Mapping[str, tuple[PhraseForms, ...]]
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
        for phrase in self.by_word.get(words[start], ()):
            end = phrase.end(words, start)
            if end > found.get(phrase.concept, start):
                found[phrase.concept] = end
        return found

    def means(self, word: str, meaning: str) -> bool:
        """Tell whether a folded word in the singular may mean a thing."""
        return meaning in self.meanings.get(word, ())


def _phrases(*listings: Mapping[str, str]) -> Iterator[PhraseForms]:
    """Yield the phrases that are listed by concept: "split|divide up| by, each"."""
    for listing in listings:
        for concept, listed in listing.items():
            for phrase in fold(listed).split(","):
                parts = tuple(
                    tuple(tuple(word_texts(chosen)) for chosen in part.split("|"))
                    for part in phrase.split()
                )
                if parts:
                    yield PhraseForms(concept, parts)


def _by_first_word(phrases: Iterable[PhraseForms]) -> dict[str, tuple[PhraseForms, ...]]:
    found = defaultdict[str, list[PhraseForms]](list)
    for phrase in phrases:
        for word in dict.fromkeys(phrase.first_words()):
            found[word].append(phrase)
    return {word: tuple(some) for word, some in found.items()}


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
    phrases = tuple(_phrases(*(language.PHRASES for language in _LANGUAGES)))
    numerals: dict[str, int] = {}
    prefixes: dict[str, str] = {}
    for language in _LANGUAGES:
        numerals |= {word: n for n, word in enumerate(language.NUMERALS.split())}
        prefixes |= language.PREFIXES
    return Lexicon(
        phrases,
        _by_first_word(phrases),
        frozenset(word for phrase in phrases for word in phrase.words()),
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
_TABLE_PHRASES = (
    *LEXICON.phrases, *_phrases(*(language.TABLE_PHRASES for language in _LANGUAGES)),
)  # fmt: skip
TABLE_LEXICON = msgspec.structs.replace(
    LEXICON, phrases=_TABLE_PHRASES, by_word=_by_first_word(_TABLE_PHRASES)
)
"""The same with the phrases of requests about several tables."""
