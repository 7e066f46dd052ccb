"""Tests of files whose only characters beyond ASCII are signs."""

from pathlib import Path

import pytest

from kbd.plaintext import detect
from kbd.plaintext.encodings import LOW_CONFIDENCE
from kbd.plaintext.signs import are_signs


@pytest.mark.parametrize(
    "values",
    [
        ("20 °C", "21 °C"), ("68°F",), ("½", "1½"), ("½ cup",), ("5 ¢",), ("10 × 5",), ("± 5",),
        ("5 €", "6 €"), ("€5",), ("30°N", "4°W"), ("5 µm",), ("1º", "2ª"), ("¼ in", "¾ in"),
        ("µg",), ("in µmol/l",),
    ],
)  # fmt: skip
def test_signs_in_their_places_decide(tmp_path: Path, values: tuple[str, ...]) -> None:
    """Signs beside figures or between blanks are read as such, and nobody is asked."""
    content = "Size,Count\n" + "".join(f"{value},1\n" for value in values)
    path = tmp_path / "sizes.csv"
    path.write_bytes(content.encode("cp1252"))

    found = detect(path)

    assert path.read_bytes().decode(found.name) == content
    assert found.confidence >= LOW_CONFIDENCE


@pytest.mark.parametrize(
    ("text", "codec"),
    [("20 °C", "mac_roman"), ("3 張", "big5"), ("5А\n6Б", "cp866"), ("20 °C, Größe", "cp1252")],
)
def test_other_letters_decide_against_signs(tmp_path: Path, text: str, codec: str) -> None:
    """Letters in the same file, or in the same bytes, are never read as signs without a word."""
    path = tmp_path / "sizes.csv"
    path.write_bytes(f"a,b\n{text},1\n".encode(codec))

    found = detect(path)

    assert path.read_bytes().decode(found.name) == f"a,b\n{text},1\n" or found.warnings


def test_signs_that_only_utf_8_has_are_no_guess(tmp_path: Path) -> None:
    """A minus, a narrow blank, a currency and figures of Arabic are sure in valid UTF-8."""
    for text in ("\u22123", "1\u202f234", "₹5", "١٢", "👍"):
        path = tmp_path / "signs.csv"
        path.write_text(f"a\n{text}\n", "utf-8")
        found = detect(path)
        assert (found.name, found.confidence, found.warnings) == ("utf-8", 1.0, ()), text


def test_no_sign_stands_beside_a_letter() -> None:
    """A sign amid letters is a letter of another encoding, and two signs are an ideograph."""
    assert are_signs("20 °C, 5 €, ½")
    for text in (
        "a°b",
        "±§",
        "±i",
        "5°Cel",
        "5²³",
        "Müller 5 €",
        "€uro",
        "µ g",
        "xµg",
        "µgx",
        "µm alatt",
    ):
        assert not are_signs(text), text
