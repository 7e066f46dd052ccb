"""A rewriting: what is not named stays byte for byte, what is named is as it was asked for."""

import io
import os
import random
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from kbd.errors import FileReadFailed, KbdError
from kbd.formats import Source
from kbd.opc.guard import part_key, raw_name
from kbd.opc.package import Package, Relation, relations_part
from kbd.opc.rewriter import Rewriting
from zipforge import Member, forge

TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
KINDS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGES = (".xlsx", ".xlsm", ".docx", ".docm", ".pptx", ".potx", ".dotx")


def source(path: Path) -> Source:
    return Source(path, path.name)


def package(path: Path, *more: Member, types: str = "", relations: str = "", x: str = "") -> Source:
    """A package with a main part main/book.xml, and the names of its tables prefixed with `x`."""
    table = (
        f'<{x}Types xmlns{":" + x[:-1] if x else ""}="{TYPES}"><{x}Default Extension="xml" '
        f'ContentType="application/xml"/>{types}</{x}Types>'
    )
    related = (
        f'<{x}Relationships xmlns{":" + x[:-1] if x else ""}="{RELATIONS}"><{x}Relationship '
        f'Id="rId1" Type="{KINDS}/officeDocument" Target="main/book.xml"/>{relations}'
        f"</{x}Relationships>"
    )
    path.write_bytes(
        forge([
            Member(name=b"[Content_Types].xml", data=table.encode()),
            Member(name=b"_rels/.rels", data=related.encode()),
            Member(name=b"main/book.xml", data=b"<a/>"),
            *more,
        ])
    )  # fmt: skip
    return source(path)


def lying(path: Path) -> list[tuple[bytes, bytes, tuple[int, ...]]]:
    """Each entry's name as bytes, its bytes as they lie in the zip, and what is said of it."""
    found: list[tuple[bytes, bytes, tuple[int, ...]]] = []
    with path.open("rb") as file, zipfile.ZipFile(file) as archive:
        for info in archive.infolist():
            file.seek(info.header_offset + 26)
            names, extra = (int.from_bytes(file.read(2), "little") for _ in range(2))
            file.seek(info.header_offset + 30 + names + extra)
            said = (
                info.CRC, info.file_size, info.compress_type, info.flag_bits & 0x800,
                info.external_attr, info.internal_attr, info.create_system, *info.date_time,
            )  # fmt: skip
            found.append((raw_name(info), file.read(info.compress_size), said))
    return found


def real(corpora: Path, each: int) -> list[Path]:
    """Every so many packages of the corpora."""
    folders = ("xlsx", "xlsx_rare", "docx", "pptx")
    paths = sorted(p for name in folders for p in (corpora / name).iterdir())
    return [path for path in paths if path.suffix in PACKAGES][::each]


@pytest.mark.corpora
def test_nothing_named_is_nothing_changed(corpora: Path, tmp_path: Path) -> None:
    """Saved without a change, every entry is as it was: its bytes, its name, its place."""
    saved = 0
    for path in real(corpora, 6):
        target = tmp_path / "saved"
        try:
            with Package(source(path)) as opened:
                Rewriting(opened).save(target)
        except KbdError:
            continue
        assert lying(target) == lying(path), path.name
        with zipfile.ZipFile(target) as archive:
            assert archive.testzip() is None, path.name
        with Package(source(target)):
            saved += 1

    assert saved > 150


@pytest.mark.corpora
def test_only_what_is_named_changes(corpora: Path, tmp_path: Path) -> None:
    """With parts put, added, related and dropped, all others are byte for byte as before."""
    chance = random.Random(1)
    for path in real(corpora, 9):
        target = tmp_path / "saved"
        try:
            with Package(source(path)) as opened:
                parts = [info.filename for info in opened.entries if not info.is_dir()]
                put, dropped = chance.sample([p for p in parts if not p.endswith(".rels")], 2)
                if "[Content_Types].xml" in (put, dropped):
                    continue
                made = Rewriting(opened)
                made.put(put, b"<new/>")
                made.drop(dropped)
                made.add("kbd/new.xml", b"<added/>", "application/x-new")
                made.relate("", "new", "kbd/new.xml")
                made.save(target)
        except KbdError:
            continue
        touched = {part_key(name) for name in (put, dropped, "[Content_Types].xml", "_rels/.rels")}
        touched.add(part_key(relations_part(dropped)))
        after = {name: rest for name, *rest in lying(target)}
        for name, *rest in lying(path):
            if part_key(name.decode()) not in touched:
                assert after[name] == rest, (path.name, name)
        with Package(source(target)) as opened:
            assert opened.read(put) == b"<new/>"
            assert opened.read("kbd/new.xml") == b"<added/>"
            assert opened.content_type("KBD/New.xml") == "application/x-new"
            assert dropped not in opened
            assert [r.kind for r in opened.relations("") if r.target == "kbd/new.xml"] == ["new"]


def test_the_same_changes_give_the_same_bytes(tmp_path: Path) -> None:
    """A rewriting depends on nothing but what it was told."""
    before = package(tmp_path / "a.zip")

    for name in ("one", "two"):
        with Package(before) as opened:
            made = Rewriting(opened)
            made.put("main/book.xml", b"<b>" + b"x" * 10_000 + b"</b>")
            made.add("main/more.xml", b"<c/>", "application/x-c")
            made.save(tmp_path / name)

    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


@pytest.mark.parametrize("size", [0, 1, 1_000, (1 << 18) - 1, 1 << 18, 5_000_000])
def test_new_bytes_of_any_size_are_read_back(size: int, tmp_path: Path) -> None:
    """Small parts are squeezed hard and large ones fast; any reader gets back what was put."""
    words = random.Random(size).randbytes(4_096).hex().encode()
    data = (words * (size // len(words) + 1))[:size]

    with Package(package(tmp_path / "a.zip")) as opened:
        made = Rewriting(opened)
        made.put("main/book.xml", data)
        made.save(tmp_path / "b.zip")

    with zipfile.ZipFile(tmp_path / "b.zip") as archive:
        assert archive.testzip() is None
        assert archive.read("main/book.xml") == data
    with Package(source(tmp_path / "b.zip")) as opened:
        assert opened.read("main/book.xml") == data


ODD = {
    "sizes that follow": Member(name=b"m/a.bin", data=b"abc" * 50, flags=8),
    "stored": Member(name=b"m/a.bin", data=b"abc", method=0),
    "extra fields": Member(name=b"m/a.bin", data=b"abc", extra=b"\xfe\xca\x02\0ab"),
    "letters in UTF-8": Member(name="m/é.bin".encode(), data=b"abc", flags=0x800),
    "letters in UTF-8 unsaid": Member(name="m/é.bin".encode(), data=b"abc"),
    "letters of DOS": Member(name=b"m/\x82.bin", data=b"abc"),
    "a file of DOS": Member(name=b"m/a.bin", data=b"abc", attributes=(0x20, 0)),
    "a file of Unix": Member(name=b"m/a.bin", data=b"abc", attributes=(0o100644 << 16, 3)),
    "a folder": Member(name=b"m/", method=0),
    "backslashes": Member(name=b"m\\a.bin", data=b"abc"),
    "nothing in it": Member(name=b"m/a.bin", data=b""),
    "squeezed hard": Member(name=b"m/a.bin", data=b"abc", flags=2),
}


@pytest.mark.parametrize("which", ODD)
def test_odd_entries_are_copied_as_they_are(which: str, tmp_path: Path) -> None:
    """However an entry was written, its copy has the same name, bytes, time and attributes."""
    before = package(tmp_path / "a.zip", ODD[which])

    with Package(before) as opened:
        made = Rewriting(opened)
        made.put("main/book.xml", b"<b/>")
        made.save(tmp_path / "b.zip")

    assert lying(tmp_path / "b.zip")[3:] == lying(before.path)[3:]
    with Package(source(tmp_path / "b.zip")) as opened:
        assert opened.read("main/book.xml") == b"<b/>"


def test_parts_are_known_by_any_spelling(tmp_path: Path) -> None:
    """Case and backslashes do not make another part; a replaced part keeps its name and place."""
    before = package(tmp_path / "a.zip", Member(name=b"Main\\Media\\A.bin", data=b"abc"))

    with Package(before) as opened:
        made = Rewriting(opened)
        assert made.read("main/media/a.BIN") == b"abc"
        made.put("/main/MEDIA/a.bin", b"new")
        made.put("MAIN/book.XML", b"<b/>")
        made.save(tmp_path / "b.zip")

    with zipfile.ZipFile(tmp_path / "b.zip") as archive:
        assert archive.namelist()[2:] == ["main/book.xml", "Main\\Media\\A.bin"]
        assert archive.read("Main\\Media\\A.bin") == b"new"


def test_a_dropped_part_takes_its_relations_and_its_type_along(tmp_path: Path) -> None:
    """Nothing of it is left; a part that is added in its place has neither."""
    override = '<Override PartName="/main/Book.xml" ContentType="application/x-old"/>'
    related = Member(name=b"main/_rels/book.xml.rels", data=b"<a/>")
    before = package(tmp_path / "a.zip", related, types=override)

    with Package(before) as opened:
        made = Rewriting(opened)
        assert made.content_type("main/book.xml") == "application/x-old"
        made.drop("main/book.xml")
        assert "main/book.xml" not in made
        assert "main/_rels/book.xml.rels" not in made
        assert made.content_type("main/book.xml") == "application/xml"
        with pytest.raises(FileReadFailed, match="no part"):
            made.read("main/book.xml")
        assert made.free_name("main/book{}.xml") == "main/book1.xml"
        made.add("main/book.xml", b"<again/>", "application/x-new")
        made.save(tmp_path / "b.zip")

    with Package(source(tmp_path / "b.zip")) as opened:
        assert opened.read("main/book.xml") == b"<again/>"
        assert opened.content_type("main/book.xml") == "application/x-new"
        assert opened.relations("main/book.xml") == ()


@pytest.mark.parametrize("x", ["", "x:"])
def test_tables_are_added_to_in_their_own_spelling(x: str, tmp_path: Path) -> None:
    """A table whose elements have a prefix gets entries with it, and comments in it do no harm."""
    comment = "<!-- made by hand -->"
    before = package(tmp_path / "a.zip", types=comment, relations=comment, x=x)

    with Package(before) as opened:
        made = Rewriting(opened)
        made.add("main/sheet1.xml", b"<s/>", "application/x-sheet")
        made.set_default_type("PNG", "image/png")
        made.set_default_type("xml", "application/ignored")
        assert made.relate("", "sheet", "main/sheet1.xml") == "rId3"
        made.save(tmp_path / "b.zip")

    with Package(source(tmp_path / "b.zip")) as opened:
        assert opened.content_type("main/sheet1.xml") == "application/x-sheet"
        assert opened.content_type("media/a.png") == "image/png"
        assert opened.content_type("a.xml") == "application/xml"
        assert [r.target for r in opened.relations("")] == ["main/book.xml", "main/sheet1.xml"]
        for table in ("[Content_Types].xml", "_rels/.rels"):
            names = [e.prefix for e in opened.root(table).iter() if isinstance(e.tag, str)]
            assert set(names) == {x[:-1] or None}


@pytest.mark.parametrize(
    ("part", "target", "written"),
    [
        ("", "main/book.xml", "main/book.xml"),
        ("", "/main/book.xml", "main/book.xml"),
        ("main/book.xml", "main/deep/a.xml", "deep/a.xml"),
        ("main/deep/a.xml", "main/book.xml", "../book.xml"),
        ("main/deep/a.xml", "media/b.png", "../../media/b.png"),
        ("root.xml", "main/book.xml", "main/book.xml"),
    ],
)
def test_relations_lead_to_their_targets(
    part: str, target: str, written: str, tmp_path: Path
) -> None:
    """A target is written as seen from its part, and read as the part that it is."""
    before = package(tmp_path / "a.zip")

    with Package(before) as opened:
        made = Rewriting(opened)
        identity = made.relate(part, "test", target)
        found = {relation.id: relation for relation in made.relations(part)}[identity]
        rels = made.root(relations_part(part))

    assert found.target == target.lstrip("/")
    assert found.kind == "test"
    assert [e.get("Target") for e in rels if e.get("Id") == identity] == [written]


def test_addresses_are_related_as_they_are_and_relations_taken_away(tmp_path: Path) -> None:
    """An address is not taken for a part; an id is not used twice."""
    with Package(package(tmp_path / "a.zip")) as opened:
        made = Rewriting(opened)
        first = made.relate("main/book.xml", "hyperlink", "https://a.test/?b=c&d", external=True)
        second = made.relate("main/book.xml", "http://a.test/own/kind", "main/x.xml")
        made.unrelate("main/book.xml", first)
        third = made.relate("main/book.xml", "hyperlink", "../x", external=True)

        found = {relation.id: relation for relation in made.relations("main/book.xml")}

    assert set(found) == {second, third}
    assert (found[third].target, found[third].external) == ("../x", True)
    assert (found[second].type, found[second].kind) == ("http://a.test/own/kind", "kind")


def test_relations_of_the_strict_variant_have_its_names(tmp_path: Path) -> None:
    """A package of the strict variant gets relations of it."""
    strict = "http://purl.oclc.org/ooxml/officeDocument/relationships"
    before = package(tmp_path / "a.zip")
    raw = before.path.read_bytes()
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        related = archive.read("_rels/.rels").replace(KINDS.encode(), strict.encode())
    with Package(before) as opened:
        made = Rewriting(opened)
        made.put("_rels/.rels", related)
        made.save(tmp_path / "b.zip")

    with Package(source(tmp_path / "b.zip")) as opened:
        assert opened.is_strict
        made = Rewriting(opened)
        made.relate("main/book.xml", "image", "media/a.png")
        assert made.relations("main/book.xml")[0].type == f"{strict}/image"


def test_a_rewriting_may_begin_with_nothing(tmp_path: Path) -> None:
    """What is added is all there is, and it is a package."""
    made = Rewriting(None, "new")
    made.set_default_type("xml", "application/xml")
    made.add("main/é.xml", b"<a/>", "application/x-a")
    made.relate("", "officeDocument", "main/é.xml")
    made.save(tmp_path / "a.zip")

    with Package(source(tmp_path / "a.zip")) as opened:
        assert opened.read("main/é.xml") == b"<a/>"
        assert opened.content_type("main/é.xml") == "application/x-a"
        assert opened.relations("")[0].target == "main/é.xml"


@pytest.mark.corpora
@pytest.mark.libreoffice
@pytest.mark.full
def test_saved_packages_open_in_another_program(corpora: Path, tmp_path: Path) -> None:
    """LibreOffice converts a saved package to the same text as the one it was."""
    office = shutil.which("soffice")
    if office is None:
        pytest.skip("LibreOffice is not installed")
    folders = {name: tmp_path / name for name in ("before", "after", "told")}
    for folder in folders.values():
        folder.mkdir()
    names = []
    for path in real(corpora, 60):
        if path.suffix != ".docx" or path.stat().st_size > 200_000:
            continue
        try:
            with Package(source(path)) as opened:
                made = Rewriting(opened)
                made.add("kbd/new.xml", b"<added/>", "application/x-new")
                made.save(folders["after"] / f"a-{path.name}")
        except KbdError:
            continue
        shutil.copy(path, folders["before"] / f"b-{path.name}")
        names.append(path.stem)
    files = [str(p) for name in ("before", "after") for p in folders[name].iterdir()]
    subprocess.run(
        [office, f"-env:UserInstallation=file://{tmp_path}/profile", "--headless", "--convert-to",
         "txt:Text (encoded):UTF8", "--outdir", str(folders["told"]), *files],
        check=True, capture_output=True, timeout=170, env={**os.environ, "HOME": str(tmp_path)},
    )  # fmt: skip

    assert len(names) >= 3
    for name in names:
        before, after = (folders["told"] / f"{which}-{name}.txt" for which in "ba")
        assert before.exists() == after.exists(), name
        if before.exists():
            assert before.read_text("utf-8") == after.read_text("utf-8"), name


def test_what_nothing_was_done_to_is_the_same_file(tmp_path: Path) -> None:
    """Not a likeness of it: also what stands beside the entries is the file's own."""
    original = package(tmp_path / "a.xlsx")
    with zipfile.ZipFile(original.path, "a") as archive:
        archive.comment = b"a remark"

    with Package(original) as opened:
        Rewriting(opened).save(tmp_path / "b.xlsx")

    assert (tmp_path / "b.xlsx").read_bytes() == original.path.read_bytes()


def test_relations_given_at_once(tmp_path: Path) -> None:
    """A part's relations are replaced by those given, under their ids; parts tell their sizes."""
    rows = (
        Relation("a7", "image", "main/media/p.bin", external=False, type=f"{KINDS}/image"),
        Relation("b", "hyperlink", "http://far/", external=True, type=f"{KINDS}/hyperlink"),
    )
    with Package(package(tmp_path / "a.zip")) as opened:
        rewriting = Rewriting(opened)
        rewriting.relate("main/book.xml", "styles", "main/styles.xml")
        rewriting.put_relations("main/book.xml", rows)
        rewriting.put("main/media/p.bin", b"12345")

        assert rewriting.relations("main/book.xml") == rows
        assert b'Target="media/p.bin"' in rewriting.read("main/_rels/book.xml.rels")
        assert rewriting.size("main/media/p.bin") == 5
        assert rewriting.size("main/book.xml") == len(opened.read("main/book.xml"))


def test_relations_have_a_type_and_those_of_a_dropped_part_have_none(tmp_path: Path) -> None:
    """Some programs give each part of relations a type of its own, and have none for others."""
    kind = "application/vnd.openxmlformats-package.relationships+xml"
    found = package(
        tmp_path / "a.docx",
        Member(name=b"main/part.xml", data=b"<a/>"),
        Member(name=b"main/_rels/part.xml.rels", data=f'<R xmlns="{RELATIONS}"/>'.encode()),
        types=f'<Override PartName="/main/_rels/part.xml.rels" ContentType="{kind}"/>',
    )
    with Package(found) as opened:
        edit = Rewriting(opened)
        edit.drop("main/part.xml")
        edit.relate("main/book.xml", "image", "main/book.xml")
        edit.save(tmp_path / "b.docx")
    with zipfile.ZipFile(tmp_path / "b.docx") as archive:
        types = archive.read("[Content_Types].xml").decode()
    assert "part.xml.rels" not in types
    assert f'Extension="rels" ContentType="{kind}"' in types
