"""Documents, decks and texts that are made to do harm are read rightly or refused, at little cost.

Each is opened in a child of 1.5 GiB and 20 s, in which all is done to it that a handler can.
"""

import json
import random
import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec
import pytest

from confined import Confined, confined
from kbd.formats import FormatHandler
from kbd_docx import DocxFormat
from kbd_odt import OdtFormat
from kbd_pptx import PptxFormat
from odt_texts import content, text_file
from office_packages import rich_deck, rich_document
from zipforge import Member, deflated, forge, members

Parts = dict[str, bytes]

MOST_BYTES = 400 << 20
"""What all that is done to one file may take; a worker has 1,536 MiB."""

TYPES, RELATIONS = "[Content_Types].xml", "_rels/.rels"
KINDS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


class Sample(msgspec.Struct, frozen=True):
    """A format: its handler, a good file's parts, where its text is, and a word in it."""

    handler: type[FormatHandler]
    name: str
    parts: Parts
    main: str
    word: str


def _text_parts(folder: Path) -> Parts:
    path = text_file(folder / "good", "<text:p>The apple harvest</text:p>")
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module", params=["docx", "pptx", "odt"])
def sample(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Sample:
    """Each of the formats."""
    match request.param:
        case "docx":
            return Sample(DocxFormat, "a.docx", rich_document(), "word/document.xml", "apple")
        case "pptx":
            return Sample(PptxFormat, "a.pptx", rich_deck(), "ppt/slides/slide1.xml", "apple")
        case _:
            parts = _text_parts(tmp_path_factory.mktemp("odt"))
            return Sample(OdtFormat, "a.odt", parts, "content.xml", "apple")


@pytest.fixture(scope="module")
def ward(sample: Sample) -> Iterator[Confined]:
    """Where hostile files are opened."""
    with confined(sample.handler, ("all",)) as found:
        yield found


def tried(ward: Confined, sample: Sample, folder: Path, data: bytes) -> dict[str, str]:
    """Do all to a file, and see that nothing went out of hand."""
    path = folder / "blob"
    path.write_bytes(data)
    answer = ward.run(path, sample.name, ("all",))["all"]
    assert answer.kind == "returned", answer
    assert str(folder) not in answer.text
    assert answer.peak_bytes <= MOST_BYTES, answer
    found: dict[str, str] = json.loads(answer.text)
    assert set(found) >= {"map", "read", "passages"}
    return found


def names(found: dict[str, str], words: str, sample: Sample) -> bool:
    """Whether what is wrong was named; readings of a deck may tell it of one slide only."""
    told = [found[name] for name in ("map", "read", "objects", "passages") if name in found]
    if sample.handler is PptxFormat:
        return found["apply"].startswith("refused") and words in "".join([*told, found["apply"]])
    told.append(found.get("apply", told[0]))
    return all(each.startswith("refused") and words in each for each in told)


def some(names: Iterable[object], *daily: object) -> list[object]:
    """The names as parameters: some are tried every day, all of them in the soak."""
    return [name if name in daily else pytest.param(name, marks=pytest.mark.soak) for name in names]


OLE = bytes.fromhex("d0cf11e0a1b11ae1")
ENCRYPTED = "EncryptedPackage".encode("utf-16-le")


def altered(sample: Sample, **how: object) -> bytes:
    """The zip with the main part's entry told otherwise."""
    found = members(sample.parts)
    at = [member.name for member in found].index(sample.main.encode())
    found[at] = msgspec.structs.replace(found[at], **how)
    return forge(found)


def with_main(sample: Sample, data: bytes) -> bytes:
    """The file with another main part."""
    return forge(members({**sample.parts, sample.main: data}))


def grown(sample: Sample, size: int) -> bytes:
    """The main part with blanks before its end."""
    data = sample.parts[sample.main]
    at = data.rindex(b"</")
    return data[:at] + b" " * size + data[at:]


def going_on(sample: Sample) -> bytes:
    """A stream that begins as it claims and then unpacks to 60 MB."""
    data = sample.parts[sample.main]
    return altered(sample, packed=deflated(data + b" " * (60 << 20)))


PACKAGES: dict[str, tuple[Callable[[Sample], bytes], str]] = {
    "the same bytes twice": (
        lambda s: forge(
            [*members(s.parts), msgspec.structs.replace(members(s.parts)[0], offset=0)]
        ),
        "damaged",
    ),
    "two names by case": (
        lambda s: forge([*members(s.parts), Member(name=s.main.upper().encode())]), "one name",
    ),
    "a name upwards": (
        lambda s: forge([*members(s.parts), Member(name=b"../../a.xml")]), "leaves",
    ),
    "less than it says": (lambda s: altered(s, size=99_999), "damaged"),
    "more than it says": (lambda s: altered(s, size=50), "damaged"),
    "far more than it says": (going_on, "more than it says"),
    "a wrong sum": (lambda s: altered(s, crc=1), "damaged"),
    "another method": (lambda s: altered(s, method=12), "compressed in a way"),
    "an encrypted entry": (lambda s: altered(s, flags=1), "encrypted"),
    "40 MB of blanks": (lambda s: with_main(s, grown(s, 40 << 20)), "unpacks to"),
    "a part of 151 MiB": (
        lambda s: forge(
            [*members(s.parts), Member(name=b"m.bin", packed=bytes(200_000), size=151 << 20)]
        ),
        "too large",
    ),
    "nothing": (lambda _: b"", "is empty"),
    "a zip of other things": (lambda _: forge([Member(name=b"a.txt", data=b"a")]), "zip archive"),
    "cut in half": (lambda s: forge(members(s.parts))[:700], "damaged"),
    "an old file": (lambda _: OLE + bytes(600), "an old binary Office file"),
    "an encrypted one": (lambda _: OLE + bytes(600) + ENCRYPTED, "encrypted with a password"),
    "a text": (lambda _: b"The apple harvest\n", "it is text"),
}  # fmt: skip


@pytest.mark.parametrize("which", some(PACKAGES, "less than it says", "cut in half"))
def test_packages_made_to_do_harm_are_refused(
    which: str, ward: Confined, sample: Sample, tmp_path: Path
) -> None:
    """What no office program writes is refused by name, whatever is asked of it."""
    build, words = PACKAGES[which]

    found = tried(ward, sample, tmp_path, build(sample))

    assert names(found, words, sample), found


def test_a_good_file_is_served(ward: Confined, sample: Sample, tmp_path: Path) -> None:
    """All that is tried here works on a file that does no harm, so that refusals mean something."""
    found = tried(ward, sample, tmp_path, forge(members(sample.parts)))

    assert not any(told.startswith("refused") for told in found.values()), found
    assert sample.word in found["read"]


LAUGHS = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10 if n else "ha"}">' for n in range(10))
DECLARED = {
    "billion laughs": f"<!DOCTYPE x [{LAUGHS}]>",
    "a local file": '<!DOCTYPE x [<!ENTITY a9 SYSTEM "file:///etc/passwd">]>',
    "an address": '<!DOCTYPE x SYSTEM "http://127.0.0.1:9/x.dtd">',
    "after comments": f"<!--{'x' * 300}--> " * 40 + f"<!DOCTYPE x [{LAUGHS}]>",
}


@pytest.mark.parametrize("encoding", some(["utf-8", "utf-16"], "utf-16"))
@pytest.mark.parametrize("which", some(DECLARED, "after comments"))
def test_document_types_are_refused(
    which: str, encoding: str, ward: Confined, sample: Sample, tmp_path: Path
) -> None:
    """A declaration before the main part's root is found; what it names is never read."""
    body = sample.parts[sample.main].decode().split("?>\n", 1)[-1]
    body = body.replace(sample.word, f"{sample.word}&a9;", 1)
    head = "" if encoding == "utf-16" else '<?xml version="1.0" encoding="utf-8"?>'
    data = (head + DECLARED[which] + body).encode(encoding)

    found = tried(ward, sample, tmp_path, with_main(sample, data))

    assert names(found, "document type", sample), found


def repeated(text: str, times: int, closing: str = "") -> Callable[[Sample], bytes]:
    """The main part with something repeated right before its first word."""

    def build(sample: Sample) -> bytes:
        data = sample.parts[sample.main].decode()
        at = data.index(sample.word)
        return (data[:at] + text * times + closing * times + data[at:]).encode()

    return build


W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
DEEP: dict[str, Callable[[Sample], bytes]] = {
    "20,000 levels": repeated("<x>", 20_000, "</x>"),
    "240 levels": repeated("<x>", 240, "</x>"),
    "200,000 siblings": repeated("<x/>", 200_000),
    "a word of 9 MB": repeated("a" * 1_000, 9_000),
    "a word of 12 MB": repeated("a" * 1_000, 12_000),
    "half a part": lambda s: s.parts[s.main][:-200],
    "no XML": lambda s: bytes(range(256)) * 40,
    "nothing": lambda s: b"",
    "another root": lambda s: b"<a/>",
    "UTF-7": lambda s: b'<?xml version="1.0" encoding="UTF-7"?>+ADw-x/+AD4-',
    "UTF-32": lambda s: "<a/>".encode("utf-32"),
    "a character that none is": lambda s: s.parts[s.main].replace(s.word.encode(), b"&#1;", 1),
    "an attribute of 8 MB": repeated(f'<x a="{"b" * 1_000_000}"/>', 8),
}


@pytest.mark.parametrize(
    "which", some(DEEP, "240 levels", "20,000 levels", "half a part", "a character that none is")
)
def test_odd_parts_are_read_or_refused(
    which: str, ward: Confined, sample: Sample, tmp_path: Path
) -> None:
    """Deep, wide, long, cut and foreign XML costs no more than it may."""
    tried(ward, sample, tmp_path, with_main(sample, DEEP[which](sample)))


def nested_blocks(sample: Sample, depth: int) -> bytes:
    """Tables in tables, groups in groups, frames in frames."""
    data = sample.parts[sample.main].decode()
    match sample.handler.name:
        case "docx":
            start, end = "<w:tbl><w:tr><w:tc>", "<w:p/></w:tc></w:tr></w:tbl>"
            return data.replace("<w:sectPr>", f"{start * depth}{end * depth}<w:sectPr>", 1).encode()
        case "pptx":
            start = (
                '<p:grpSp><p:nvGrpSpPr><p:cNvPr id="9" name=""/><p:cNvGrpSpPr/><p:nvPr/>'
                "</p:nvGrpSpPr><p:grpSpPr/>"
            )
            nested = start * depth + "</p:grpSp>" * depth
            return data.replace("</p:spTree>", f"{nested}</p:spTree>", 1).encode()
        case _:
            start = "<text:p><draw:frame><draw:text-box>"
            end = "</draw:text-box></draw:frame></text:p>"
            return content(f"{start * depth}<text:p>deep</text:p>{end * depth}").encode()


@pytest.mark.parametrize("depth", some([20, 60, 80, 2_000], 80))
def test_what_stands_in_itself_is_read_or_refused(
    depth: int, ward: Confined, sample: Sample, tmp_path: Path
) -> None:
    """Tables in tables, groups in groups, frames in frames, deeper than a parser goes."""
    found = tried(ward, sample, tmp_path, with_main(sample, nested_blocks(sample, depth)))

    if depth == 20:
        assert not found["read"].startswith("refused"), found


def circle(target: str) -> bytes:
    """Relations of every kind that lead to one part."""
    kinds = (
        "image", "chart", "slideLayout", "slideMaster", "slide", "notesSlide", "header", "footer",
        "styles", "numbering", "comments", "footnotes", "theme", "diagramData", "hyperlink",
    )  # fmt: skip
    entries = "".join(
        f'<Relationship Id="rId{n}" Type="{KINDS}/{kind}" Target="{target}"/>'
        for n, kind in enumerate(kinds, 1)
    )
    names = "http://schemas.openxmlformats.org/package/2006/relationships"
    return f'<Relationships xmlns="{names}">{entries}</Relationships>'.encode()


def rels_of(part: str) -> str:
    """The part that holds a part's relations."""
    folder, _, name = part.rpartition("/")
    return f"{folder}/_rels/{name}.rels"


LED: dict[str, Callable[[Sample], Parts]] = {
    "to itself": lambda s: {**s.parts, rels_of(s.main): circle(f"/{s.main}")},
    "to a part that is not there": lambda s: {**s.parts, rels_of(s.main): circle("/nowhere.xml")},
    "out of the package": lambda s: {**s.parts, rels_of(s.main): circle("../../../../etc/passwd")},
    "to the table of types": lambda s: {**s.parts, rels_of(s.main): circle(f"/{TYPES}")},
    "without relations": lambda s: {n: d for n, d in s.parts.items() if n != rels_of(s.main)},
    "without a table of types": lambda s: {n: d for n, d in s.parts.items() if n != TYPES},
    "with a table of nothing": lambda s: {**s.parts, TYPES: b"<Types/>"},
    "without relations of the package": lambda s: {
        n: d for n, d in s.parts.items() if n != RELATIONS
    },
    "with broken relations": lambda s: {**s.parts, rels_of(s.main): b"<Relationships"},
    "with two of one id": lambda s: {
        **s.parts,
        rels_of(s.main): s.parts.get(rels_of(s.main), b"").replace(b"rId3", b"rId2"),
    },
}


@pytest.mark.parametrize("which", some(LED, "to itself", "without a table of types"))
def test_relations_that_mislead_are_read_or_refused(
    which: str, ward: Confined, sample: Sample, tmp_path: Path
) -> None:
    """Circles, dead ends, ways out, and tables that are missing."""
    tried(ward, sample, tmp_path, forge(members(LED[which](sample))))


def flipped(data: bytes, seed: int) -> bytes:
    """The bytes with some bits the other way round."""
    chance = random.Random(seed)
    found = bytearray(data)
    for _ in range(8):
        found[chance.randrange(len(found))] ^= 1 << chance.randrange(8)
    return bytes(found)


@pytest.mark.parametrize("seed", some(range(40), 0))
def test_flipped_bits_are_read_or_refused(
    seed: int, ward: Confined, sample: Sample, tmp_path: Path
) -> None:
    """In the zip, and in each part of XML, where sums are right again."""
    tried(ward, sample, tmp_path, flipped(forge(members(sample.parts)), seed))
    parts = {name: flipped(data, seed) if data else data for name, data in sample.parts.items()}
    readable = sorted(name for name in parts if name.endswith((".xml", ".rels")))
    one = readable[seed % len(readable)]
    tried(ward, sample, tmp_path, forge(members({**sample.parts, one: parts[one]})))
