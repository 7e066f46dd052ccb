"""Files in all encodings with names of 31 languages: no wrong letter without a warning."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest
from charset_normalizer import from_bytes

from kbd.plaintext import detect, open_text
from kbd.plaintext.languages import LANGUAGES
from worldwide_files import WorldFile, western_files, world_files
from worldwide_names import WORDS

MOST_WARNED = 0.1
"""What share of western files with five accented words or more may be warned about."""


def outcome(path: Path, file: WorldFile) -> str:
    """How a file is read: right or wrong, and whether its reader is warned."""
    path.write_bytes(file.data)
    encoding = detect(path)
    with open_text(path, encoding, newline="") as opened:
        is_right = opened.read() == file.text
    return ("right" if is_right else "wrong") + (", warned" if encoding.warnings else "")


def peer_outcome(file: WorldFile) -> str:
    """How charset-normalizer alone reads it; it has no warning."""
    best = from_bytes(file.data).best()
    text = "" if best is None else str(best).removeprefix("\ufeff")
    return "right" if text == file.text else "wrong"


def outcomes(tmp_path: Path, files: Iterable[WorldFile]) -> tuple[Counter[str], list[str]]:
    """Count how files are read, and name those that are wrong in silence."""
    found: Counter[str] = Counter()
    silent = []
    for file in files:
        how = outcome(tmp_path / "a.csv", file)
        found[how] += 1
        if how == "wrong":
            silent.append(f"{file.language} in {file.codec}, {file.shape}: {file.text[:200]}")
    return found, silent


def test_no_wrong_letter_is_silent_in_a_sample(tmp_path: Path) -> None:
    """Of 25 files over languages, encodings and shapes each is read rightly, or warned about."""
    found, silent = outcomes(tmp_path, world_files(22, 25))

    assert silent == []
    assert found["right"] >= 18


@pytest.mark.full
def test_no_wrong_letter_is_silent(tmp_path: Path) -> None:
    """Of 2,000 files none has a wrong letter without a warning, and nine of ten need none."""
    files = list(world_files(22, 2000))
    found, silent = outcomes(tmp_path, files)
    peer = Counter(peer_outcome(file) for file in files)
    print(f"\n{len(files):,} files: {dict(found)}; charset-normalizer alone: {dict(peer)}")

    assert silent == []
    assert {file.language for file in files} >= set(WORDS)
    assert found["right"] >= 0.85 * len(files)
    assert found["wrong, warned"] <= 0.02 * len(files)


@pytest.mark.full
def test_western_files_are_seldom_warned_about(tmp_path: Path) -> None:
    """Five accented words in cp1252 are enough nearly always; UTF-8 is never warned about."""
    files = list(western_files(22, 400))
    found, silent = outcomes(tmp_path, files)
    marked, _ = outcomes(tmp_path, (file._replace(data=file.text.encode()) for file in files))
    print(f"\n{len(files):,} western files in cp1252: {dict(found)}; in UTF-8: {dict(marked)}")

    assert silent == []
    assert found["right"] >= (1 - MOST_WARNED) * len(files)
    assert marked == Counter(right=len(files))


def test_the_files_have_words_that_detection_does_not_know() -> None:
    """What is measured is no word of the lists that detection is made of."""
    known = {word.casefold() for language in LANGUAGES for word in language.words.split()}
    found = [word for file in western_files(1, 50) for word in file.text.casefold().split(";")]

    assert len(WORDS) >= 30
    assert not {word for word in found if not word.isascii()} & known
