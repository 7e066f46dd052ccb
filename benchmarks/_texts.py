"""Texts for benchmarks of search: seeded, with the word frequencies of natural language.

Function words are English ones, all others are made of syllables; how often each comes follows
Zipf's law; one in forty is a figure. Each document has some words of its own, so that questions
have answers.
"""

import itertools
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

__all__ = ["CHUNK_WORDS", "COMMON", "FILE_CHUNKS", "made_texts", "questions", "write_texts"]

CHUNK_WORDS = 120
FILE_CHUNKS = 40

_FREQUENT = """
the of and to in a is that for it was on are as with they be at this have from or by one had
not but what all were when we there can an your which their if will each about how up out
them then many some so these would other into has more her two like him see time could no
make than first been its who now people my made over did down only way find use may
"""
COMMON = tuple(_FREQUENT.split())
"""Words that only bind others, the most frequent first."""

_MADE_WORDS = 30_000
_ONSETS = ("b", "c", "d", "f", "g", "h", "l", "m", "n", "p", "r", "s", "t", "v", "st", "tr", "pl")
_VOWELS = ("a", "e", "i", "o", "u", "ea", "io")
_ENDS = ("", "", "", "n", "s", "ing", "ed", "tion", "er", "ly")
_FIGURES = ("{}", "{}.50", "PO-2024-{}", "INV-{}", "well-known")
_TOPIC_WORDS = 15
_SENTENCE_WORDS = (8, 22)
_STEPS = ("what", "which", "how", "when")


def made_texts(count: int, seed: int = 1) -> list[str]:
    """Return so many chunks of text, `CHUNK_WORDS` words each, a paragraph each."""
    chance = random.Random(seed)
    words = [*COMMON, *_made_words(random.Random(0))]
    weights = list(itertools.accumulate(1 / (place + 2.7) for place in range(len(words))))
    texts: list[str] = []
    while len(texts) < count:
        topic = chance.sample(words[1_000:], _TOPIC_WORDS)
        for _ in range(min(FILE_CHUNKS, count - len(texts))):
            found = chance.choices(words, cum_weights=weights, k=CHUNK_WORDS)
            for place in chance.sample(range(CHUNK_WORDS), CHUNK_WORDS // 10):
                found[place] = chance.choice(topic)
            for place in chance.sample(range(CHUNK_WORDS), CHUNK_WORDS // 40):
                found[place] = chance.choice(_FIGURES).format(chance.randrange(10_000))
            texts.append(" ".join(_sentences(found, chance)))
    return texts


def write_texts(folder: Path, texts: Sequence[str]) -> None:
    """Write chunks as text files of `FILE_CHUNKS` each, an empty line between two."""
    folder.mkdir(parents=True)
    for number, begin in enumerate(range(0, len(texts), FILE_CHUNKS)):
        text = "\n\n".join(texts[begin : begin + FILE_CHUNKS]) + "\n"
        (folder / f"report {number:04}.txt").write_text(text, encoding="utf-8")


def questions(texts: Sequence[str], count: int, seed: int = 2) -> dict[str, list[str]]:
    """Return so many queries of each kind, made of words that stand in the texts."""
    chance = random.Random(seed)
    found: dict[str, list[str]] = {"words": [], "phrases": [], "questions": []}
    for text in chance.choices(texts, k=count):
        words = text.replace(".", "").replace(",", "").lower().split()
        content = [word for word in words if word.isalpha() and word not in COMMON]
        at = chance.randrange(len(words) - 3)
        found["words"].append(chance.choice(content))
        found["phrases"].append(f'"{" ".join(words[at : at + 3])}"')
        one, two, three = chance.sample(content, 3)
        step = chance.choice(_STEPS)
        found["questions"].append(f"{step} was said about {one} and {two} in {three}?")
    return found


def _made_words(chance: random.Random) -> Iterator[str]:
    """Yield made words, short ones first, as they are the frequent ones."""
    known = set(COMMON)
    while len(known) < len(COMMON) + _MADE_WORDS:
        most = 2 + len(known) // 8_000
        syllables = chance.randint(1, most)
        word = "".join(chance.choice(_ONSETS) + chance.choice(_VOWELS) for _ in range(syllables))
        word += chance.choice(_ENDS)
        if word not in known:
            known.add(word)
            yield word


def _sentences(words: Sequence[str], chance: random.Random) -> Iterator[str]:
    at = 0
    while at < len(words):
        end = min(at + chance.randint(*_SENTENCE_WORDS), len(words))
        sentence = " ".join(words[at:end])
        if end - at > _SENTENCE_WORDS[0]:
            comma = sentence.index(" ", len(sentence) // 2)
            sentence = f"{sentence[:comma]},{sentence[comma:]}"
        yield f"{sentence[:1].upper()}{sentence[1:]}."
        at = end
