"""Encodings of text files: what is found, what is said, and what the reader is told of either."""

from pathlib import Path

import pytest

from kbd.errors import ValidationFailed
from kbd.formats.table_reading import TableReading
from kbd.plaintext import (
    LOW_CONFIDENCE,
    Encoding,
    RivalEncoding,
    detect,
    encoding_question,
    open_text,
    said_encoding,
    with_encoding,
)

RUSSIAN = "имя;город\nЖуравлёв;Рязань\nЩербаков;Элиста\nЮдин;Тверь\n"
GREEK = "όνομα;πόλη\nΞανθόπουλος;Τρίκαλα\nΨαρράς;Σέρρες\n"
JAPANESE = "氏名;市\n渡部さくら;名古屋市\n上田陽子;さいたま市\nコーヒー;椅子\n"
CHINESE = "客户名称;城市\n张伟杰;杭州西湖\n陈丽娟;深圳南山\n牛奶;桌子\n"
TAIWANESE = "客戶名稱;城市\n張偉傑;臺北市大安區\n陳麗娟;高雄市\n麵包;鑰匙\n"
KOREAN = "고객이름;도시\n김민준;서울특별시\n정예은;부산광역시\n우유;책상\n"
TURKISH = "adı;şehir\nFıstıkçı;Gümüşhane\nAğaoğlu;Iğdır\nTaşçı;Muş\n"
LATVIAN = "vārds;pilsēta\nĶēniņš;Ādaži\nBērziņa;Krāslava\nSiliņš;Līvāni\n"
CZECH = "jméno;město\nDvořáček;Břeclav\nŘehák;Těšín\nŽižka;Mělník\nKřížek;Říčany\n"
SPANISH = "nombre;ciudad\nPeñalver;Mazatlán\nCañizares;Popayán\nDurán;Ibagué\nOrdóñez;Cádiz\n"
FRENCH = "prénom;ville\nMaëlys;Mâcon\nInès;Alès\nLefèvre;Angoulême\nGaétan;Besançon\n"


def written(tmp_path: Path, data: bytes) -> Path:
    path = tmp_path / "a.csv"
    path.write_bytes(data)
    return path


def text_of(path: Path, encoding: Encoding) -> str:
    with open_text(path, encoding, newline="") as file:
        return file.read()


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("text", "codec", "reason"),
    [
        (FRENCH, "utf-8", "valid UTF-8"),
        (FRENCH, "utf-8-sig", "byte order mark"),
        (FRENCH, "utf-16", "byte order mark"),
        (FRENCH, "cp1252", "the letters of French in cp1252"),
        (FRENCH, "mac_roman", "the letters of French in mac_roman"),
        (SPANISH, "cp1252", "the letters of Spanish in cp1252"),
        (SPANISH, "cp850", "the letters of Spanish in cp850"),
        (CZECH, "cp1250", "the letters of Czech in cp1250"),
        (CZECH, "iso8859-2", "the letters of Czech in iso8859-2"),
        (TURKISH, "cp1254", "the letters of Turkish in cp1254"),
        (LATVIAN, "cp1257", "the letters of Latvian in cp1257"),
        (RUSSIAN, "cp1251", "the letters of Russian in cp1251"),
        (RUSSIAN, "koi8-r", "the letters of Russian in koi8-r"),
        (GREEK, "cp1253", "the letters of Greek in cp1253"),
        (JAPANESE, "cp932", "Japanese text in valid Shift-JIS"),
        (JAPANESE, "euc_jp", "Japanese text in valid EUC-JP"),
        (CHINESE, "gb18030", "Chinese text in valid GB18030"),
        (TAIWANESE, "big5", "traditional Chinese text in valid Big5"),
        (KOREAN, "cp949", "Korean text in valid cp949"),
        ("a,b\n1,2\n", "ascii", "ASCII"),
    ],
)
def test_letters_and_reason(tmp_path: Path, text: str, codec: str, reason: str) -> None:
    """Three rows with names are enough to read them as written; the reason says how it was told."""
    path = written(tmp_path, text.encode(codec))
    found = detect(path)

    assert (text_of(path, found), found.reason, found.warnings) == (text, reason, ())


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("text", [FRENCH, RUSSIAN, GREEK, JAPANESE, CHINESE, KOREAN])
def test_wide_text_without_a_mark(tmp_path: Path, codec: str, text: str) -> None:
    """UTF-16 and UTF-32 are found without a byte order mark, in scripts with few zeros, too."""
    path = written(tmp_path, text.encode(codec))
    found = detect(path)

    assert (found.name, text_of(path, found)) == (codec, text)


@pytest.mark.parametrize("text", [FRENCH, RUSSIAN, CHINESE, "id,name,v\n"])
@pytest.mark.parametrize("odd", ["\0", "\x01", "\x1a", "\0\0\0\0"])
def test_lone_controls_do_not_derail(tmp_path: Path, text: str, odd: str) -> None:
    """Zeros and control characters among text of single bytes leave its encoding as it is."""
    text = text + "1,a" + odd + "b,2\n"
    path = written(tmp_path, text.encode())

    assert (detect(path).name, text_of(path, detect(path))) == ("utf-8", text)


def test_a_choice_names_its_rival(tmp_path: Path) -> None:
    """One name that two languages could have: the letters are told, each encoding by its name."""
    found = detect(written(tmp_path, "id;name\n1;Loïc\n".encode("cp1252")))

    assert found.rivals
    assert found.rivals[0].word != found.rivals[0].instead
    assert {found.rivals[0].word, found.rivals[0].instead} == {"Loïc", "Loďc"}
    assert found.rivals[0].instead in found.warnings[0]
    assert f"read as {found.name}: {found.rivals[0].word}; as" in found.warnings[0]


def test_equal_letters_are_no_rivals(tmp_path: Path) -> None:
    """What cp1252, latin-1, iso8859-15 and cp1250 read alike is not told as a choice."""
    text = "id;name\n1;José\n2;André\n3;Gérard\n4;Hervé\n5;Éric\n"
    found = detect(written(tmp_path, text.encode("cp1252")))

    assert (found.name, found.rivals, found.warnings) == ("cp1252", (), ())


@pytest.mark.parametrize(
    "sign", ["5 €", "“quoted”", "don’t", "2019–2020", "Acme®", "«mot»", "§ 12"]
)
def test_signs_alone_are_read_as_signs(tmp_path: Path, sign: str) -> None:
    """A table with a euro or quotes of cp1252 and no accents is read so, without a warning."""
    text = f"id;note\n1;{sign};plain\n2;{sign}\n"
    path = written(tmp_path, text.encode("cp1252"))
    found = detect(path)

    assert (text_of(path, found), found.warnings) == (text, ())


def test_a_letter_far_down_counts(tmp_path: Path) -> None:
    """A byte that first turns up megabytes behind the start decides between encodings."""
    rows = "1;Kovács József\n2;Tóth Éva\n" * 60_000
    text = rows + "3;Kőszegi Gergő\n4;Szűcs Jenő\n5;Erdős Győző\n" + rows
    path = written(tmp_path, text.encode("cp1250"))
    found = detect(path)

    assert text_of(path, found) == text


def test_stray_bytes_are_counted(tmp_path: Path) -> None:
    """UTF-8 with bytes of cp1252 keeps every letter, with or without a mark, and says how many."""
    for mark in (b"", b"\xef\xbb\xbf"):
        path = written(tmp_path, mark + "größe;naïve;über\n".encode() * 9 + b"caf\xe9;ma\xdf\n")
        found = detect(path)

        assert text_of(path, found).endswith("café;maß\n")
        assert found.warnings == ("2 places are not valid UTF-8; stray bytes were read as cp1252.",)


def test_what_does_not_fit_is_counted(tmp_path: Path) -> None:
    """A sign for lost bytes never comes alone: their number is a warning."""
    path = written(tmp_path, JAPANESE.encode("euc_jp") + b"a\xff;b\xff\n")
    found = detect(path)

    assert text_of(path, found).count("\ufffd") == 2
    assert found.warnings == (
        "2 places are not valid euc_jp; what stands there is shown as \ufffd.",
    )


@pytest.mark.parametrize(
    ("said", "codec"),
    [
        ("cp1250", "cp1250"),
        ("Windows-1252", "cp1252"),
        (" LATIN1 ", "latin-1"),
        ("macintosh", "mac_roman"),
        ("UTF8", "utf-8"),
        ("sjis", "shift_jis"),
        ("KOI8-R", "koi8-r"),
    ],
)
def test_a_said_encoding_is_taken(said: str, codec: str) -> None:
    """Any name that Python knows is one codec, sure because it was said."""
    assert said_encoding(said) == Encoding(codec, 1.0, reason="said")


@pytest.mark.parametrize(
    ("said", "near"),
    [
        ("cp12522", "cp1252"),
        ("windows-1525", "cp125"),
        ("ansi", "cp1252"),
        ("base64", "utf-8"),
        ("rot13", "utf-8"),
        ("unicode_escape", "utf-"),
        ("idna", "utf-8"),
        ("undefined", "utf-8"),
        ("a\0b", "utf-8"),
        ("", "utf-8"),
        ("../../etc", "utf-8"),
        ("x" * 100_000, "utf-8"),
    ],
)
def test_an_unknown_encoding_is_refused(said: str, near: str) -> None:
    """What is no encoding of text is refused, with names that are spelt alike."""
    with pytest.raises(ValidationFailed, match="no encoding called") as refused:
        said_encoding(said)

    assert near in refused.value.message
    assert len(refused.value.message) < 300


def test_a_said_encoding_wins(tmp_path: Path) -> None:
    """What a person said is read so, whatever detection takes it for, and without a warning."""
    path = written(tmp_path, SPANISH.encode("cp1252"))
    found = detect(path, "cp1250")

    assert (found.name, found.reason, found.warnings) == ("cp1250", "said", ())
    assert "Peńalver" in text_of(path, found)


@pytest.mark.parametrize(
    ("said", "data", "name", "text", "warning"),
    [
        ("utf-8", FRENCH.encode("utf-8-sig"), "utf-8-sig", FRENCH, ""),
        ("utf-16-le", FRENCH.encode("utf-16"), "utf-16", FRENCH, ""),
        ("utf-16", FRENCH.encode("utf-16-be"), "utf-16-be", FRENCH, ""),
        ("utf-16", FRENCH.encode("utf-16-le"), "utf-16-le", FRENCH, ""),
        ("utf-8", b"caf\xe9\n", "utf-8", "café\n", "1 place is not valid UTF-8"),
        ("ascii", b"caf\xe9\n", "ascii", "caf\ufffd\n", "1 place is not valid ascii"),
        ("cp1253", b"a\xaab\xd2c\n", "cp1253", "a\ufffdb\ufffdc\n", "2 places are not valid"),
        ("cp1252", b"\xef\xbb\xbfa\n", "cp1252", "ï»¿a\n", "byte order mark of utf-8-sig"),
    ],
)
def test_what_was_said_and_does_not_fit_is_told(
    tmp_path: Path, said: str, data: bytes, name: str, text: str, warning: str
) -> None:
    """A byte order mark is no letter, and bytes that are not in the encoding are counted."""
    path = written(tmp_path, data)
    found = detect(path, said)

    assert (found.name, text_of(path, found)) == (name, text)
    assert warning in " ".join(found.warnings)
    assert bool(found.warnings) == bool(warning)


def test_a_few_bytes_that_are_utf8_by_chance_are_told(tmp_path: Path) -> None:
    """Two bytes of Chinese that happen to be valid UTF-8 are not taken for it in silence."""
    data = (
        "id;名\n".encode("gb18030").replace("名".encode("gb18030"), b"name") + b"1;\xd2\xbb\xb4\n"
    )
    assert detect(written(tmp_path, data)).warnings
    lone = "id;name\n1;一\n".encode("gb18030")
    assert lone.decode() == "id;name\n1;һ\n"

    found = detect(written(tmp_path, lone))

    assert [rival.instead for rival in found.rivals] == ["一"]


@pytest.mark.parametrize(
    "word", ["20元", "小计", "總計", "円", "원", "Siân", "Ŵyn", "Llŷr", "－12", "١٢٫٥", "室", "कुल"]
)
def test_a_few_letters_of_utf8_are_sure(tmp_path: Path, word: str) -> None:
    """One word whose bytes are likelier letters in UTF-8 than in any other is not asked about."""
    path = written(tmp_path, f"Item;Note\nA;{word}\nB;2\n".encode())
    found = detect(path)

    assert (found.name, found.warnings, found.rivals) == ("utf-8", (), ())


@pytest.mark.parametrize("header", ["Temp °C", "Temp (°C)", "°C", "°F"])
def test_degrees_in_a_header_are_no_ideograph(tmp_path: Path, header: str) -> None:
    """A lone sign of degrees in cp1252 needs no question, and what else it may be is told."""
    path = written(tmp_path, f"Room;{header}\nA;12.5\n".encode("cp1252"))
    found = detect(path)

    assert found.name == "cp1252"
    assert found.confidence >= LOW_CONFIDENCE
    assert found.warnings


def test_the_reading_of_a_table_has_it() -> None:
    """The name, the confidence and the reason; other fields and questions stay."""
    plain = Encoding("cp1252", 0.93, reason="the letters of Spanish in cp1252")
    found = with_encoding(TableReading(delimiter=";"), plain)

    assert found == TableReading(
        encoding="cp1252",
        encoding_confidence=0.93,
        encoding_reason="the letters of Spanish in cp1252",
        delimiter=";",
    )


def test_a_question_only_where_it_is_unsure() -> None:
    """Below the low confidence, with a rival, the file's words are the options; else none."""
    rivals = (RivalEncoding("cp1250", "Peña", "Peńa"), RivalEncoding("cp850", "Málaga", "Mßlaga"))
    unsure = Encoding("cp1252", LOW_CONFIDENCE - 0.01, rivals=rivals)
    found = with_encoding(TableReading(), unsure)

    assert encoding_question(Encoding("cp1252", LOW_CONFIDENCE, rivals=rivals)) is None
    assert encoding_question(Encoding("cp1252", 0.1)) is None
    assert found.questions == (encoding_question(unsure),)
    question = found.questions[0]
    assert (question.about, question.columns) == ("encoding", ())
    assert [(each.value, each.meaning) for each in question.options] == [
        ("cp1252", "Peña, Málaga"),
        ("cp1250", "Peńa"),
        ("cp850", "Mßlaga"),
    ]
    assert "Peńa (cp1250)" in question.text


def test_lone_letters_are_no_words(tmp_path: Path) -> None:
    """A list of all letters of a code page is of no language, and its reader is told so."""
    data = b"letter\n" + b"".join(bytes([byte]) + b"\n" for byte in range(0xA1, 0x100))
    found = detect(written(tmp_path, data))

    assert found.warnings
    assert found.confidence < LOW_CONFIDENCE
