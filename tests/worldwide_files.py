"""Small tables with names of 31 languages, written in every encoding that has their letters."""

import random
from collections.abc import Iterator
from typing import NamedTuple

from kbd.plaintext.languages import LANGUAGES
from worldwide_names import CODECS, WORDS

__all__ = ["SHAPES", "WorldFile", "western_files", "world_files"]

SHAPES = {"one name": 1, "few rows": 3, "some rows": 8, "sparse": 5, "many rows": 80, "mixed": 12}
"""How a file looks, and how many of its rows have a name beyond ASCII."""

_PLAIN = ("Smith", "Berlin", "Anna Miller", "Madrid", "open", "paid", "Oslo", "Robert Brown")
_NATIVE_SHARE = 0.7
"""A language is written in an encoding that has so many of its words."""

_WESTERN = ("French", "German", "Spanish", "Portuguese", "Italian", "Swedish", "Danish", "Finnish")


class WorldFile(NamedTuple):
    """A generated file: what it is, its text as it was meant, and its bytes."""

    language: str
    codec: str
    shape: str
    text: str
    data: bytes


def _unknown_words() -> dict[str, list[str]]:
    """Return the words of each language that detection does not know itself."""
    known = {word.casefold() for language in LANGUAGES for word in language.words.split()}
    return {
        language: [
            word
            for word in words.split()
            if not word.isascii() and not known & set(word.casefold().split("-"))
        ]
        for language, words in WORDS.items()
    }


def _encodable(words: list[str], codec: str) -> list[str]:
    return [word for word in words if word.encode(codec, "ignore").decode(codec) == word]


def _table(draw: random.Random, words: list[str], shape: str) -> str:
    rows = [
        f"{draw.randint(1, 9999)};{draw.choice(words)};{draw.choice(_PLAIN)};{number % 97}.50"
        for number in range(SHAPES[shape])
    ]
    if shape == "sparse":
        plain = [f"{draw.randint(1, 9999)};{draw.choice(_PLAIN)};x;1.5" for _ in range(300)]
        rows += plain
        draw.shuffle(rows)
    end = draw.choice(("\n", "\r\n"))
    return end.join(("id;name;city;amount", *rows)) + end


def _kinds() -> list[tuple[str, str, list[str]]]:
    """List what may be written: language, codec, and the words that the codec has."""
    found = []
    for language, words in _unknown_words().items():
        for codec in CODECS[language]:
            fit = _encodable(words, codec)
            if len(fit) >= _NATIVE_SHARE * len(words):
                found.append((language, codec, fit))
    return found


def world_files(seed: int, count: int) -> Iterator[WorldFile]:
    """Yield files over all languages, encodings and shapes, each as often as the others."""
    draw = random.Random(seed)
    kinds = _kinds()
    western = [word for language in _WESTERN for word in _unknown_words()[language]]
    shapes = list(SHAPES)
    for number in range(count):
        if number % len(kinds) == 0:
            draw.shuffle(kinds)
        language, codec, words = kinds[number % len(kinds)]
        shape = draw.choice(shapes)
        if shape == "mixed":
            language, codec = "western ones", draw.choice(("cp1252", "mac_roman", "cp850", "utf-8"))
            words = _encodable(western, codec)
        text = _table(draw, words, shape)
        yield WorldFile(language, codec, shape, text, text.encode(codec))


def western_files(seed: int, count: int) -> Iterator[WorldFile]:
    """Yield files in cp1252 with at least five different words of one western language."""
    draw = random.Random(seed)
    for number in range(count):
        language = _WESTERN[number % len(_WESTERN)]
        words = _encodable(_unknown_words()[language], "cp1252")
        chosen = draw.sample(words, draw.randint(5, 12))
        rows = [f"{draw.randint(1, 9999)};{word};{draw.choice(_PLAIN)};1.50" for word in chosen]
        text = "\n".join(("id;name;city;amount", *rows)) + "\n"
        yield WorldFile(language, "cp1252", "western", text, text.encode("cp1252"))
