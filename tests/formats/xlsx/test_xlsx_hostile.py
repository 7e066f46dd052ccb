"""Packages that are made to do harm: each is read rightly or refused, with a reason and cheaply."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from confined import MODEST_BYTES, Confined, opened, read_rightly, refused
from zipforge import Member, deflated, forge, members

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
WORKSHEET = "xl/worksheets/sheet1.xml"


def replaced(parts: dict[str, bytes], name: str, **how: object) -> list[Member]:
    """The members with one of them told otherwise."""
    found = members(parts)
    place = [member.name for member in found].index(name.encode())
    found[place] = msgspec.structs.replace(found[place], **how)
    return found


OLE = bytes.fromhex("d0cf11e0a1b11ae1")
ENCRYPTED = "EncryptedPackage".encode("utf-16-le")

Build = Callable[[dict[str, bytes]], bytes]


def overlapping(parts: dict[str, bytes], *, is_quoted: bool) -> bytes:
    """Two entries of the directory for the same bytes, or one inside the other."""
    inner = Member(name=b"xl/inner.xml", data=b"<a/>")
    if not is_quoted:
        twice = members(parts)
        return forge([*twice, msgspec.structs.replace(twice[0], offset=0)])
    quoting = Member(name=b"xl/outer.bin", data=forge([inner])[:-80], method=0)
    inside = msgspec.structs.replace(inner, offset=30 + len(quoting.name))
    return forge([quoting, inside, *members(parts)])


def bomb(parts: dict[str, bytes], name: str, size: int) -> bytes:
    """A part of spaces, which unpack to a thousand times their size."""
    kept = {other: data for other, data in parts.items() if other != name}
    start = kept.get(name, b"<a>")
    spaces = Member(name=name.encode(), data=start + b" " * size + b"</a>")
    return forge([*members(kept), spaces])


def claiming(mib: int) -> Member:
    """A small picture that is said to be large."""
    packed = bytes(100_000) if mib == 140 else bytes(200_000)
    return Member(name=b"xl/media/%d.bin" % mib, packed=packed, size=mib << 20)


REFUSED: dict[str, tuple[Build, str]] = {
    "the same bytes twice": (lambda p: overlapping(p, is_quoted=False), "damaged"),
    "one entry inside another": (lambda p: overlapping(p, is_quoted=True), "overlap"),
    "two of one name": (lambda p: forge([*members(p), *members(p)[:1]]), "one name"),
    "two names by case": (lambda p: forge(members(p, XL__WORKBOOK=b"<a/>")), "one name"),
    "two names by slashes": (
        lambda p: forge([*members(p), Member(name=b"xl\\workbook.xml")]), "one name",
    ),
    "a name upwards": (lambda p: forge([*members(p), Member(name=b"../a.xml")]), "leaves"),
    "a name from the root": (lambda p: forge([*members(p), Member(name=b"/etc/a")]), "leaves"),
    "a name on a drive": (lambda p: forge([*members(p), Member(name=b"C:\\a")]), "leaves"),
    "less than it says": (lambda p: forge(replaced(p, WORKSHEET, size=9999)), "damaged"),
    "more than it says": (lambda p: forge(replaced(p, WORKSHEET, size=50)), "damaged"),
    "two sizes": (lambda p: forge(replaced(p, WORKSHEET, local_size=9)), "two sizes"),
    "two names of one part": (
        lambda p: forge(replaced(p, WORKSHEET, local_name=b"xl/worksheets/sheet9.xml")), "two ways",
    ),
    "a wrong checksum": (lambda p: forge(replaced(p, WORKSHEET, crc=1)), "damaged"),
    "two methods": (lambda p: forge(replaced(p, WORKSHEET, local_method=0)), "two ways"),
    "another method": (lambda p: forge(replaced(p, WORKSHEET, method=12)), "compressed in a way"),
    "an encrypted entry": (lambda p: forge(replaced(p, WORKSHEET, flags=1)), "encrypted"),
    "10,001 entries": (
        lambda p: forge([*members(p), *(Member(name=b"m/%d" % n) for n in range(10_001))]), "parts",
    ),
    "fewer entries told": (lambda p: forge(members(p), told=3), "damaged"),
    "a directory elsewhere": (lambda p: forge(members(p), shift=-7), "damaged"),
    "40 MB of spaces": (lambda p: bomb(p, WORKSHEET, 40 << 20), "unpacks to"),
    "a part of 151 MiB": (lambda p: forge([*members(p), claiming(151)]), "too large"),
    "parts of 303 MiB": (
        lambda p: forge([*members(p), *map(claiming, (100, 101, 102))]), "too large",
    ),
    "more than can be": (lambda p: forge([*members(p), claiming(140)]), "as large as it says"),
    "self-extracting": (lambda p: forge(members(p), prefix=b"MZ" + b"\0" * 500), "something else"),
    "junk before it": (lambda p: forge(members(p), prefix=b"PK\x03\x04junk"), "damaged"),
    "nothing": (lambda _: b"", "is empty"),
    "a zip of nothing": (lambda _: forge([]), "without contents"),
    "a zip of other things": (lambda _: forge([Member(name=b"a.txt", data=b"a")]), "other files"),
    "no relations": (
        lambda p: forge([m for m in members(p) if m.name != b"_rels/.rels"]), "main one",
    ),
    "a document of another suite": (
        lambda _: forge([Member(name=b"mimetype", data=b"application/vnd.a.b", method=0)]),
        "application/vnd.a.b",
    ),
    "a text": (lambda _: b"name,amount\n1,2\n", "it is text"),
    "a web page": (lambda _: b"<html><table><tr><td>1</td></tr></table></html>", "a web page"),
    "an XML file": (lambda _: b"<?xml version='1.0'?><Workbook/>", "an XML file"),
    "an old workbook": (lambda _: OLE + bytes(600), "save it as .xlsx"),
    "an encrypted one": (lambda _: OLE + bytes(600) + ENCRYPTED, "remove that"),
}  # fmt: skip


@pytest.mark.parametrize("which", REFUSED)
def test_packages_made_to_do_harm_are_refused(
    which: str, cell: Confined, parts: dict[str, bytes], tmp_path: Path
) -> None:
    """What no office program writes is refused by name, at little cost."""
    build, words = REFUSED[which]

    refused(opened(cell, tmp_path / "blob", build(parts)), words)


READ: dict[str, Build] = {
    "as it is": lambda p: forge(members(p)),
    "sizes that follow": lambda p: forge(replaced(p, WORKSHEET, flags=8)),
    "a stored part": lambda p: forge(replaced(p, WORKSHEET, method=0)),
    "a record of the large kind": lambda p: forge(members(p), is_zip64=True),
    "a comment": lambda p: forge(members(p), comment=b"made by nobody"),
    "extra fields": lambda p: forge(replaced(p, WORKSHEET, extra=b"\xfe\xca\x02\0ab")),
    "entries for folders": lambda p: forge([Member(name=b"xl/", method=0), *members(p)]),
    "a name of other letters": lambda p: forge(members(p, xl__été=b"<a/>")),
    "20 MB in a picture": lambda p: bomb(p, "xl/media/image1.bmp", 20 << 20),
}


@pytest.mark.parametrize("which", READ)
def test_odd_packages_are_read(
    which: str, cell: Confined, parts: dict[str, bytes], tmp_path: Path
) -> None:
    """What some program writes, however oddly, is read with the values that it holds."""
    read_rightly(opened(cell, tmp_path / "blob", READ[which](parts)))


def test_a_part_that_goes_on_past_its_size_is_refused(
    cell: Confined, parts: dict[str, bytes], tmp_path: Path
) -> None:
    """A stream that begins as it claims, checksum and all, and then unpacks to 60 MB is seen."""
    texts = b'<sst xmlns="' + MAIN.encode() + b'"><si><t>x</t></si>'
    packed = deflated(texts + b" " * (60 << 20))
    lying = Member(name=b"xl/sharedStrings.xml", data=texts, packed=packed)
    kept = {name: data for name, data in parts.items() if name != "xl/sharedStrings.xml"}

    found = opened(cell, tmp_path / "blob", forge([*members(kept), lying]))

    for action in ("map", "read", "read_table"):
        assert found[action].kind == "refused", found[action]
        assert "more than it says" in found[action].text
    assert max(answer.peak_bytes for answer in found.values()) <= MODEST_BYTES
