"""Packages that are made to do harm are read rightly or refused by name, at little cost.

Each is opened in a child of 1.5 GiB and 20 s, in which all is done to it that a handler can.
"""

import json
import random
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest

from confined import Confined, confined
from format_cases import TYPES, PackageCase, Parts, names
from kbd.opc.package import relations_part
from office_formats import PACKAGES
from zipforge import Member, deflated, forge, members

MAX_BYTES = 400 << 20
"""What all that is done to one file may take; a worker has 1,536 MiB."""

LITTLE_BYTES = 48 << 20
"""What it may take where all of it is refused."""

MAX_CPU_S = 10
KINDS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


class Good(NamedTuple):
    """A good file of a format, from which harmful ones are made."""

    case: PackageCase
    parts: Parts

    @property
    def text(self) -> bytes:
        """The part that holds the word."""
        return self.parts[self.case.text_part]


@pytest.fixture(scope="module", params=PACKAGES, ids=names)
def good(request: pytest.FixtureRequest) -> Good:
    """Each of the formats."""
    return Good(request.param, request.param.parts())


@pytest.fixture(scope="module")
def ward(good: Good) -> Iterator[Confined]:
    """Where hostile files are opened."""
    with confined(type(good.case.handler), ("all",), good.case.tried) as found:
        yield found


def tried(
    ward: Confined, good: Good, folder: Path, data: bytes, most_bytes: int = MAX_BYTES
) -> dict[str, str]:
    """Do all to a file, and see that nothing went out of hand."""
    path = folder / "blob"
    path.write_bytes(data)
    answer = ward.run(path, f"a{good.case.suffix}", ("all",))["all"]
    assert answer.kind == "returned", answer
    assert str(folder) not in answer.text
    assert answer.peak_bytes <= most_bytes, answer
    assert answer.cpu_s <= MAX_CPU_S, answer
    found: dict[str, str] = json.loads(answer.text)
    assert set(found) >= {"map", "read", "passages"}
    return found


READINGS = ("map", "read", "objects", "passages", "read_table", "get_styles")


def is_named(found: dict[str, str], words: str, good: Good) -> bool:
    """Whether what is wrong was named; readings may tell it of one part only."""
    told = [found[deed] for deed in READINGS if deed in found]
    changes = [found["apply"]] if good.case.tried else []
    if good.case.tells_parts:
        return all(_is_refused(each, words) for each in changes) and words in "".join(told)
    return all(_is_refused(each, words) for each in [*told, *changes])


def _is_refused(told: str, words: str) -> bool:
    return told.startswith("refused") and words in told


def some(every: Iterable[object], *first: object) -> list[object]:
    """The names as parameters: some in the first tier, the others in the second."""
    return [name if name in first else pytest.param(name, marks=pytest.mark.full) for name in every]


OLE = bytes.fromhex("d0cf11e0a1b11ae1")
ENCRYPTED = "EncryptedPackage".encode("utf-16-le")


Build = Callable[[Good], bytes]


def altered(good: Good, **how: object) -> bytes:
    """The zip with the text part's entry told otherwise."""
    found = members(good.parts)
    at = [member.name for member in found].index(good.case.text_part.encode())
    found[at] = msgspec.structs.replace(found[at], **how)
    return forge(found)


def with_text(good: Good, data: bytes) -> bytes:
    """The file with another text part."""
    return forge(members({**good.parts, good.case.text_part: data}))


def beside(good: Good, *more: Member) -> bytes:
    """The file with more entries."""
    return forge([*members(good.parts), *more])


def grown(good: Good, size: int) -> bytes:
    """The text part with blanks before its end."""
    at = good.text.rindex(b"</")
    return good.text[:at] + b" " * size + good.text[at:]


def going_on(good: Good) -> bytes:
    """A stream that begins as it claims, checksum and all, and then unpacks to 60 MB."""
    return altered(good, packed=deflated(good.text + b" " * (60 << 20)))


def quoted(good: Good) -> bytes:
    """One entry that lies inside of another."""
    inner = Member(name=b"inner.xml", data=b"<a/>")
    outer = Member(name=b"outer.bin", data=forge([inner])[:-80], method=0)
    inside = msgspec.structs.replace(inner, offset=30 + len(outer.name))
    return forge([outer, inside, *members(good.parts)])


def claiming(mib: int) -> Member:
    """A small picture that is said to be large."""
    packed = bytes(100_000) if mib == 140 else bytes(200_000)
    return Member(name=b"m%d.bin" % mib, packed=packed, size=mib << 20)


def names_twice(good: Good, name: bytes) -> bytes:
    """The file with another entry of a name that means the text part's."""
    return beside(good, Member(name=name, data=b"<a/>"))


PACKAGE: dict[str, tuple[Build, str]] = {
    "the same bytes twice": (
        lambda g: beside(g, msgspec.structs.replace(members(g.parts)[0], offset=0)), "damaged",
    ),
    "one entry inside another": (quoted, "overlap"),
    "two of one name": (lambda g: names_twice(g, g.case.text_part.encode()), "one name"),
    "two names by case": (lambda g: names_twice(g, g.case.text_part.upper().encode()), "one name"),
    "two names by slashes": (
        lambda g: names_twice(g, g.case.text_part.replace("/", "\\").upper().encode()), "one name",
    ),
    "a name upwards": (lambda g: beside(g, Member(name=b"../../a.xml")), "leaves"),
    "a name from the root": (lambda g: beside(g, Member(name=b"/etc/a")), "leaves"),
    "a name on a drive": (lambda g: beside(g, Member(name=b"C:\\a")), "leaves"),
    "less than it says": (lambda g: altered(g, size=99_999), "damaged"),
    "more than it says": (lambda g: altered(g, size=50), "damaged"),
    "far more than it says": (going_on, "more than it says"),
    "two sizes": (lambda g: altered(g, local_size=9), "two sizes"),
    "two names of one part": (lambda g: altered(g, local_name=b"x" * len(g.case.text_part)),
                              "two ways"),
    "a wrong sum": (lambda g: altered(g, crc=1), "damaged"),
    "two methods": (lambda g: altered(g, local_method=0), "two ways"),
    "another method": (lambda g: altered(g, method=12), "compressed in a way"),
    "an encrypted entry": (lambda g: altered(g, flags=1), "encrypted"),
    "10,001 entries": (
        lambda g: beside(g, *(Member(name=b"m/%d" % number) for number in range(10_001))), "parts",
    ),
    "fewer entries told": (lambda g: forge(members(g.parts), told=2), "damaged"),
    "a directory elsewhere": (lambda g: forge(members(g.parts), shift=-7), "damaged"),
    "40 MB of blanks": (lambda g: with_text(g, grown(g, 40 << 20)), "unpacks to"),
    "a part of 151 MiB": (lambda g: beside(g, claiming(151)), "too large"),
    "parts of 303 MiB": (lambda g: beside(g, *map(claiming, (100, 101, 102))), "too large"),
    "more than can be": (lambda g: beside(g, claiming(140)), "as large as it says"),
    "self-extracting": (
        lambda g: forge(members(g.parts), prefix=b"MZ" + b"\0" * 500), "something else",
    ),
    "junk before it": (lambda g: forge(members(g.parts), prefix=b"PK\x03\x04junk"), "damaged"),
    "nothing": (lambda _: b"", "is empty"),
    "a zip of nothing": (lambda _: forge([]), "without contents"),
    "a zip of other things": (lambda _: forge([Member(name=b"a.txt", data=b"a")]), "zip archive"),
    "an old file": (
        lambda _: OLE + bytes(600),
        "an old binary Office file; open it in its program and save it as .",
    ),
    "an encrypted one": (lambda _: OLE + bytes(600) + ENCRYPTED, "password, remove that"),
    "a text": (lambda _: b"The apple harvest\n", "it is text"),
    "a web page": (lambda _: b"<html><table><tr><td>1</td></tr></table></html>", "a web page"),
    "an XML file": (lambda _: b"<?xml version='1.0'?><Workbook/>", "an XML file"),
}  # fmt: skip


@pytest.mark.parametrize("which", PACKAGE)
@pytest.mark.sampled(9)
def test_packages_made_to_do_harm_are_refused(
    which: str, ward: Confined, good: Good, tmp_path: Path
) -> None:
    """What no office program writes is refused by name, whatever is asked of it."""
    build, words = PACKAGE[which]

    found = tried(ward, good, tmp_path, build(good), LITTLE_BYTES)

    assert is_named(found, words, good), found


READ: dict[str, Build] = {
    "sizes that follow": lambda g: altered(g, flags=8),
    "a stored part": lambda g: altered(g, method=0),
    "a record of the large kind": lambda g: forge(members(g.parts), is_zip64=True),
    "a comment": lambda g: forge(members(g.parts), comment=b"made by nobody"),
    "extra fields": lambda g: altered(g, extra=b"\xfe\xca\x02\0ab"),
    "entries for folders": lambda g: beside(g, Member(name=b"a/", method=0)),
    "a name of other letters": lambda g: beside(g, Member(name="été.xml".encode())),
    "20 MB in a picture": lambda g: beside(
        g, Member(name=b"media/image9.bmp", data=b"BM" + b" " * (20 << 20))
    ),
}


def test_a_good_file_is_served(ward: Confined, good: Good, tmp_path: Path) -> None:
    """All that is tried here works on a file that does no harm, so that refusals mean something."""
    found = tried(ward, good, tmp_path, forge(members(good.parts)))

    # Of a file that has several sheets the rows of one are asked for by its name.
    found.pop("read_table", None)
    assert not any(told.startswith("refused") for told in found.values()), found
    assert good.case.word in found["read"]


@pytest.mark.parametrize("which", READ)
@pytest.mark.sampled(9)
def test_odd_packages_are_read(which: str, ward: Confined, good: Good, tmp_path: Path) -> None:
    """What some program writes, however oddly, is read and edited."""
    path = tmp_path / "blob"
    path.write_bytes(READ[which](good))
    deeds = ("read", "apply") if good.case.tried else ("read",)
    found = ward.run(path, f"a{good.case.suffix}", deeds)

    assert {answer.kind for answer in found.values()} == {"returned"}, found
    assert good.case.word in found["read"].text


LAUGHS = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10 if n else "ha"}">' for n in range(10))
LAUGHING = f"<!DOCTYPE x [{LAUGHS}]>"
DECLARED = {
    "billion laughs": (LAUGHING, "utf-8"),
    "a local file": ('<!DOCTYPE x [<!ENTITY a9 SYSTEM "file:///etc/passwd">]>', "utf-8"),
    "an address": ('<!DOCTYPE x SYSTEM "http://127.0.0.1:9/x.dtd">', "utf-8"),
    "in UTF-16": (LAUGHING, "utf-16"),
    "in UTF-16 without a mark": (LAUGHING, "utf-16-le"),
    "after comments": (f"<!--{'x' * 300}--> " * 40 + LAUGHING, "utf-8"),
    "after comments in UTF-16": (f"<!--{'x' * 300}--> " * 40 + LAUGHING, "utf-16"),
    "after an instruction": (f"<?{'x' * 9000}?>{LAUGHING}", "utf-8"),
}


def declaring(good: Good, part: str, which: str) -> bytes:
    """The file with something before the root of a part, which its text makes use of."""
    declaration, encoding = DECLARED[which]
    body = good.parts[part].decode().split("?>", 1)[-1].lstrip()
    body = body.replace(good.case.word, f"{good.case.word}&a9;", 1)
    head = '<?xml version="1.0" encoding="utf-8"?>' if encoding == "utf-8" else ""
    data = (head + declaration + body).encode(encoding)
    return forge(members({**good.parts, part: data}))


@pytest.mark.parametrize("which", DECLARED)
@pytest.mark.sampled(9)
def test_document_types_are_refused(which: str, ward: Confined, good: Good, tmp_path: Path) -> None:
    """A declaration is found in any part, encoding and distance; what it names is never read."""
    tables = {TYPES, "_rels/.rels"} & good.parts.keys()
    for part in sorted({good.case.text_part, *good.case.vital, *tables, *good.case.looked_at}):
        found = tried(ward, good, tmp_path, declaring(good, part, which))
        if part in good.case.looked_at:
            # Who does not change looks may do without them.
            found["apply"] = found["read"]

        assert is_named(found, "document type", good), (part, found)
        assert "root:" not in "".join(found.values())


def repeated(text: str, times: int, closing: str = "") -> Build:
    """The text part with something repeated right before its first word."""

    def build(good: Good) -> bytes:
        data = good.text.decode()
        at = data.index(good.case.word)
        return (data[:at] + text * times + closing * times + data[at:]).encode()

    return build


DEEP: dict[str, Build] = {
    "240 levels": repeated("<x>", 240, "</x>"),
    "200,000 siblings": repeated("<x/>", 200_000),
    "a word of 9 MB": repeated("a" * 1_000, 9_000),
    "a word of 12 MB": repeated("a" * 1_000, 12_000),
    "another root": lambda _: b"<a/>",
    "an attribute of 8 MB": repeated(f'<x a="{"b" * 1_000_000}"/>', 8),
}


@pytest.mark.parametrize("which", some(DEEP, "240 levels"))
def test_odd_parts_are_read_or_refused(
    which: str, ward: Confined, good: Good, tmp_path: Path
) -> None:
    """Deep, wide, long and foreign XML costs no more than it may."""
    tried(ward, good, tmp_path, with_text(good, DEEP[which](good)))


UNFIT: dict[str, tuple[Build, str]] = {
    "no XML": (lambda _: bytes(range(256)) * 40, "damaged"),
    "nothing": (lambda _: b"", "damaged"),
    "UTF-7": (lambda _: b'<?xml version="1.0" encoding="UTF-7"?>+ADw-x/+AD4-', "encoding"),
    "UTF-32": (lambda _: "<a/>".encode("utf-32"), "encoding"),
    "20,000 levels": (repeated("<x>", 20_000, "</x>"), "damaged"),
    "half a part": (lambda g: g.text[:-200], "damaged"),
    "a character that none is": (
        lambda g: g.text.replace(g.case.word.encode(), b"&#1;", 1), "damaged",
    ),
}  # fmt: skip
SEARCHED = ("20,000 levels", "half a part", "a character that none is")


@pytest.mark.parametrize("which", UNFIT)
def test_parts_that_are_no_xml_are_refused(
    which: str, ward: Confined, good: Good, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """A part that no parser takes whole is neither read in part nor written back as it is."""
    build, words = UNFIT[which]
    found = tried(ward, good, tmp_path, with_text(good, build(good)))
    if good.case.name == "xlsx" and which in SEARCHED:
        reason = (
            "a sheet is searched, not parsed: it is read as far as it goes, only edits parse it"
        )
        request.applymarker(pytest.mark.xfail(reason=reason))

    assert is_named(found, words, good), found


@pytest.mark.parametrize("depth", some([20, 60, 80, 2_000], 80))
def test_what_stands_in_itself_is_read_or_refused(
    depth: int, ward: Confined, good: Good, tmp_path: Path
) -> None:
    """Tables in tables, groups in groups, frames in frames, deeper than a parser goes."""
    nested = good.case.nested(good.text.decode(), depth).encode()
    found = tried(ward, good, tmp_path, with_text(good, nested))

    if depth == 20:
        assert not found["read"].startswith("refused"), found


def circle(target: str) -> bytes:
    """Relations of every kind that lead to one part."""
    kinds = (
        "image", "chart", "slideLayout", "slideMaster", "slide", "notesSlide", "header", "footer",
        "styles", "numbering", "comments", "footnotes", "theme", "diagramData", "hyperlink",
        "worksheet", "drawing", "table", "pivotTable", "sharedStrings",
    )  # fmt: skip
    rows = "".join(
        f'<Relationship Id="rId{n}" Type="{KINDS}/{kind}" Target="{target}"/>'
        for n, kind in enumerate(kinds, 1)
    )
    space = "http://schemas.openxmlformats.org/package/2006/relationships"
    return f'<Relationships xmlns="{space}">{rows}</Relationships>'.encode()


MISLEADING: dict[str, Callable[[str, bytes], bytes]] = {
    "to itself": lambda part, _: circle(f"/{part}"),
    "to a part that is not there": lambda *_: circle("/nowhere.xml"),
    "out of the package": lambda *_: circle("../../../../etc/passwd"),
    "to the table of types": lambda *_: circle(f"/{TYPES}"),
    "nowhere": lambda *_: b"",
    "brokenly": lambda *_: b"<Relationships",
    "by one id": lambda _, relations: relations.replace(b"rId3", b"rId2"),
}


@pytest.mark.parametrize("which", some(MISLEADING, "to itself", "out of the package"))
def test_relations_that_mislead_are_read_or_refused(
    which: str, ward: Confined, good: Good, tmp_path: Path
) -> None:
    """Circles, dead ends and ways out, of the text part and of those that lead to it."""
    for part in sorted({good.case.text_part, *good.case.vital}):
        rels = relations_part(part)
        relations = MISLEADING[which](part, good.parts.get(rels, b""))
        found = tried(ward, good, tmp_path, forge(members({**good.parts, rels: relations})))

        assert "root:" not in "".join(found.values())


@pytest.mark.parametrize("left", some([TYPES, "_rels/.rels"], TYPES))
def test_missing_tables_are_read_or_refused(
    left: str, ward: Confined, good: Good, tmp_path: Path
) -> None:
    """A package without its table of types or its relations, or with an empty one."""
    kept = {name: data for name, data in good.parts.items() if name != left}
    for parts in (kept, {**kept, left: b"<Types/>"}):
        tried(ward, good, tmp_path, forge(members(parts)))


@pytest.mark.parametrize("every", some([7, 1], 7))
def test_a_file_cut_anywhere_is_refused(
    every: int, ward: Confined, good: Good, tmp_path: Path
) -> None:
    """What is left of a file whose transfer broke off is refused as damaged."""
    whole = forge(members(good.parts))
    for part in range(0, 50, every):
        found = tried(ward, good, tmp_path, whole[: len(whole) * part // 50], LITTLE_BYTES)

        assert is_named(found, "is damaged" if part else "is empty", good), (part, found)


def flipped(data: bytes, seed: int, count: int = 8) -> bytes:
    """The bytes with some bits the other way round."""
    chance = random.Random(seed)
    found = bytearray(data)
    for _ in range(count):
        found[chance.randrange(len(found))] ^= 1 << chance.randrange(8)
    return bytes(found)


@pytest.mark.parametrize("seeds", some([range(8), range(8, 120)], range(8)))
def test_flipped_bits_are_refused_or_do_not_matter(
    seeds: range, ward: Confined, good: Good, tmp_path: Path
) -> None:
    """Of a zip with one bit or some the other way round nothing is read that it did not hold."""
    whole = forge(members(good.parts))
    read = tried(ward, good, tmp_path, whole)["read"]
    for seed in seeds:
        found = tried(ward, good, tmp_path, flipped(whole, seed, 4 if seed % 3 else 1))

        told = found["read"]
        assert good.case.tells_parts or told == read or told.startswith("refused"), (seed, found)


@pytest.mark.parametrize("seed", some(range(40), 0))
def test_flipped_bits_in_parts_are_read_or_refused(
    seed: int, ward: Confined, good: Good, tmp_path: Path
) -> None:
    """In each part of XML, where the sums of the zip are right again."""
    readable = sorted(name for name in good.parts if name.endswith((".xml", ".rels")))
    one = readable[seed % len(readable)]
    parts = {**good.parts, one: flipped(good.parts[one], seed)}

    tried(ward, good, tmp_path, forge(members(parts)))
