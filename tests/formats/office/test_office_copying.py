"""What `copy_assets` of every office format keeps to: no macros, and no parts without an end."""

import itertools
import zipfile
from pathlib import Path

import pytest

import styled_documents
from format_cases import OfficeCase, names
from kbd.errors import ValidationFailed
from kbd.formats import AssetPick, Source
from kbd.office.assets import MAX_DEPTH, MAX_PARTS
from kbd.opc.package import relations_part
from kbd.opc.rewriter import Rewriting
from office_formats import OFFICE

_KINDS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_BOOK = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_MACRO_BOOK = "application/vnd.ms-excel.sheet.macroEnabled.12"
_MACROS = "application/vnd.ms-office.vbaProject"


@pytest.fixture(params=OFFICE, ids=names)
def subject(request: pytest.FixtureRequest) -> OfficeCase:
    """Each format in its turn."""
    found: OfficeCase = request.param
    return found


def label(subject: OfficeCase) -> str:
    """How the picture is called in its file."""
    return subject.picture.rpartition(":")[2].rpartition("/")[2]


def copied(subject: OfficeCase, folder: Path, parts: dict[str, bytes], *, into: bool) -> set[str]:
    """Copy the picture of a file that has more parts; return the parts that come of it.

    Args:
        subject: The format.
        folder: Where to work.
        parts: Parts that the file has beside its own.
        into: Whether it goes into a file that is there, not into a new one.
    """
    suffix = subject.suffix
    plain, path = folder / f"made{suffix}", folder / f"source{suffix}"
    other, target = folder / f"other{suffix}", folder / f"target{suffix}"
    for each in (plain, other):
        subject.branded(each)
    types = (
        f'<Default Extension="xlsx" ContentType="{_BOOK}"/>'
        f'<Default Extension="xlsm" ContentType="{_MACRO_BOOK}"/>'
        f'<Default Extension="vba" ContentType="{_MACROS}"/>'
    )
    with zipfile.ZipFile(plain) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "[Content_Types].xml":
                data = data.replace(b"</Types>", f"{types}</Types>".encode())
            new.writestr(name, data)
        for name, data in parts.items():
            new.writestr(name, data)
    receiving = Source(other, other.name) if into else None
    picks = (AssetPick(subject.picture),)
    subject.handler.copy_assets(Source(path, path.name), receiving, picks, target)
    with zipfile.ZipFile(target) as result:
        return set(result.namelist())


def relations(*rows: tuple[str, str]) -> bytes:
    """Return the part that holds relations: the kind and the absolute target of each."""
    entries = "".join(
        f'<Relationship Id="r{at}" Type="{_KINDS}/{kind}" Target="/{target}"/>'
        for at, (kind, target) in enumerate(rows)
    )
    space = "http://schemas.openxmlformats.org/package/2006/relationships"
    return f'<Relationships xmlns="{space}">{entries}</Relationships>'.encode()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("into", [False, True], ids=["new", "there"])
@pytest.mark.parametrize("suffix", ["xlsm", "vba"])
def test_macros_are_refused(subject: OfficeCase, tmp_path: Path, into: bool, suffix: str) -> None:
    """An embedded workbook with macros, or macros alone, go into no file; a plain one does."""
    rels = relations_part(subject.media)
    plain = {rels: relations(("package", "embeddings/a.xlsx")), "embeddings/a.xlsx": b"PK"}
    (tmp_path / "plain").mkdir()
    came = copied(subject, tmp_path / "plain", plain, into=into)
    name = f"embeddings/a.{suffix}"

    assert any(each.endswith(".xlsx") for each in came)
    with pytest.raises(ValidationFailed, match="holds macros, which are never copied") as refused:
        copied(subject, tmp_path, {rels: relations(("package", name)), name: b"PK"}, into=into)
    assert label(subject) in str(refused.value)
    assert not list(tmp_path.glob("target.*"))


def chain(subject: OfficeCase, count: int) -> dict[str, bytes]:
    """Return pictures that lead from the asset's one to the next, and to the next."""
    names = [subject.media, *(f"chained/p{number}.png" for number in range(count - 1))]
    parts = {
        relations_part(one): relations(("image", other)) for one, other in itertools.pairwise(names)
    }
    return parts | {name: b"\x89PNG" + name.encode() for name in names[1:]}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("count", [MAX_DEPTH + 1, 600])
def test_a_chain_of_parts_is_refused(subject: OfficeCase, tmp_path: Path, count: int) -> None:
    """Parts that lead on and on are refused, and the asset is named; a few of them come along."""
    (tmp_path / "few").mkdir()
    few = copied(subject, tmp_path / "few", chain(subject, MAX_DEPTH), into=True)

    assert sum("chained" in name and name.endswith(".png") for name in few) == MAX_DEPTH - 1
    with pytest.raises(ValidationFailed, match="leads from part to part") as refused:
        copied(subject, tmp_path, chain(subject, count), into=True)
    assert label(subject) in str(refused.value)
    assert not list(tmp_path.glob("target.*"))


def fan(media: str, count: int, folder: str = "fanned") -> dict[str, bytes]:
    """Return pictures that the asset's one leads to, all of them, each of another size."""
    found = {
        f"{folder}/p{number}.png": b"\x89PNG" + folder.encode() + b"." * number
        for number in range(count)
    }
    return {relations_part(media): relations(*(("image", name) for name in found)), **found}


def test_very_many_parts_are_refused(subject: OfficeCase, tmp_path: Path) -> None:
    """As many parts as the limit allows come along with an asset; one more is refused."""
    (tmp_path / "most").mkdir()
    most = copied(subject, tmp_path / "most", fan(subject.media, MAX_PARTS - 1), into=True)

    assert sum("fanned" in name for name in most) == MAX_PARTS - 1
    with pytest.raises(ValidationFailed, match=f"more than {MAX_PARTS} parts along"):
        copied(subject, tmp_path, fan(subject.media, MAX_PARTS), into=True)


def test_pictures_of_one_size_are_compared_by_their_bytes(
    subject: OfficeCase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Types of parts are not asked for each pair of pictures: all types are parsed for each."""
    asked: list[str] = []
    plain = Rewriting.content_type

    def counted(rewriting: Rewriting, part: str) -> str:
        asked.append(part)
        return plain(rewriting, part)

    monkeypatch.setattr(Rewriting, "content_type", counted)
    count = 60
    names = [f"fanned/p{number:03}.png" for number in range(count)]
    alike = {relations_part(subject.media): relations(*(("image", name) for name in names))}
    parts = {name: b"\x89PNG" + name.encode() for name in names}
    copies = copied(subject, tmp_path, alike | parts, into=True)

    assert sum("fanned" in name for name in copies) == count
    assert len(asked) < 10 * count


def test_the_limit_is_of_one_asset(tmp_path: Path) -> None:
    """Assets that bring many parts each are copied in one call: each is counted on its own."""
    parts = styled_documents.parts_of(styled_documents.brand(tmp_path / "made.docx"))
    for name in ("chart", "logo"):
        parts |= fan(f"word/media/{name}.png", MAX_PARTS - 1, name)
    path = styled_documents.zipped(tmp_path / "source.docx", parts)
    into = styled_documents.plain(tmp_path / "into.docx")
    _, found = styled_documents.copy(path, into, "image:Chart", "image:Logo")

    assert found.applied == 2
