"""What a suffix promises of an office file is kept: macros, templates, and the type of its part."""

from collections.abc import Iterator
from functools import partial
from itertools import product
from pathlib import Path

import pytest

from format_cases import TYPES, OfficeCase, Parts, applied, entries, names
from kbd.errors import FileReadFailed, ValidationFailed
from kbd.formats import AssetPick, Region, Source
from kbd.opc.package import relations_part
from office_formats import OFFICE
from office_packages import pack

UNTOLD = pytest.mark.xfail(reason="the map of a workbook has no such warning, its reading has")

each_format = pytest.mark.parametrize("case", OFFICE, ids=names)

VBA = "http://schemas.microsoft.com/office/2006/relationships/vbaProject"


def has_macros(suffix: str) -> bool:
    """Whether files of a suffix have macros: its last letter says so in all formats."""
    return suffix.endswith("m")


def is_template(case: OfficeCase, suffix: str) -> bool:
    """Whether files of a suffix are templates."""
    return "template" in case.types[suffix]


def of_kind(case: OfficeCase, suffix: str, path: Path) -> Source:
    """Write the good file as one of a suffix, with macros where these belong to it."""
    parts = case.retyped(case.types[suffix])
    if has_macros(suffix):
        parts |= with_macros(case, parts)
    return case.packed(path, parts)


def with_macros(case: OfficeCase, parts: Parts) -> Parts:
    """Return what more parts there are, and which are otherwise, where there are macros."""
    rels = relations_part(case.main)
    related = f'<Relationship Id="rV" Type="{VBA}" Target="vbaProject.bin"/></Relationships>'
    typed = '<Override PartName="/{}" ContentType="application/vnd.ms-office.vbaProject"/></Types>'
    name = f"{case.main.partition('/')[0]}/vbaProject.bin"
    return {
        rels: case.parts()[rels].replace(b"</Relationships>", related.encode()),
        TYPES: parts[TYPES].replace(b"</Types>", typed.format(name).encode()),
        name: b"macros",
    }


@each_format
def test_files_of_each_suffix_are_read_and_stay_what_they_are(
    case: OfficeCase, tmp_path: Path
) -> None:
    """Under its suffix nothing is told of a file's type, and an edit keeps type and macros."""
    assert set(case.types) == set(case.handler.suffixes)
    for suffix in case.types:
        source = of_kind(case, suffix, tmp_path / f"a{suffix}")
        out = tmp_path / f"out{suffix}"
        mapped, reading = case.handler.map(source), case.handler.read(source, Region())
        applied(case, source, out, case.edit)

        before, after = entries(source.path), entries(out)
        assert "refuse" not in f"{mapped.get('warnings')} {reading.warnings}"
        assert case.word in reading.text
        assert {name for name in after if after[name] != before.get(name)} == case.touched
        assert ("vbaProject.bin" in str(list(after))) == has_macros(suffix)


@each_format
def test_a_file_becomes_what_its_suffix_says(case: OfficeCase, tmp_path: Path) -> None:
    """A template is made an ordinary file, and the reverse; macros are not dropped nor promised."""
    for number, (old, new) in enumerate(product(case.types, case.types)):
        source, out = (
            of_kind(case, old, tmp_path / f"{number}{old}"),
            tmp_path / f"out{number}{new}",
        )
        if has_macros(old) == has_macros(new):
            applied(case, source, out, case.edit)
            assert case.types[new].encode() in entries(out)[TYPES]
            continue
        words = "has macros, which" if has_macros(old) else f"has no macros, which {new} promises"
        with pytest.raises(ValidationFailed, match=words):
            applied(case, source, out, case.edit)
        assert not out.exists()


def misnamed(case: OfficeCase, folder: Path) -> Iterator[Source]:
    """Yield files under suffixes that are not those of their types."""
    suffixes = list(case.types)
    for old, new in ((case.suffix, suffixes[2]), (suffixes[1], case.suffix)):
        yield of_kind(case, old, folder / f"a{new}")


@each_format
def test_another_suffix_than_that_of_its_type_is_told(case: OfficeCase, tmp_path: Path) -> None:
    """Office programs refuse such a file: it is read with a warning."""
    for source in misnamed(case, tmp_path):
        reading = case.handler.read(source, Region())

        assert f"Office programs refuse {source.name}" in "".join(reading.warnings)


MAPS = [pytest.param(case, marks=UNTOLD if case.name == "xlsx" else ()) for case in OFFICE]


@pytest.mark.parametrize("case", MAPS, ids=map(names, OFFICE))
def test_the_map_tells_of_another_suffix_than_that_of_its_type(
    case: OfficeCase, tmp_path: Path
) -> None:
    """Who looks at the map alone learns of it, too."""
    for source in misnamed(case, tmp_path):
        warnings = case.handler.map(source).get("warnings", ())

        assert f"Office programs refuse {source.name}" in "".join(warnings)


@each_format
def test_a_new_file_promises_nothing_that_it_has_not(case: OfficeCase, tmp_path: Path) -> None:
    """It has no macros, whether made by operations or of copied looks, and is seldom a template."""
    case.branded(tmp_path / f"branded{case.suffix}")
    branded = Source(tmp_path / f"branded{case.suffix}", f"branded{case.suffix}")
    picks = (AssetPick(case.picture),)
    for suffix, type_ in case.types.items():
        made, copied = tmp_path / f"made{suffix}", tmp_path / f"copied{suffix}"
        if not has_macros(suffix) and (case.makes_templates or not is_template(case, suffix)):
            applied(case, None, made, *case.begin)
            case.handler.copy_assets(branded, None, picks, copied)
            for path in (made, copied):
                assert type_.encode() in entries(path)[TYPES]
            continue
        instead = case.suffix
        if is_template(case, suffix) and case.makes_templates:
            instead = next(each for each in case.types if is_template(case, each))
        with pytest.raises(ValidationFailed, match=f"name it {instead}, not {suffix}"):
            applied(case, None, made, *case.begin)
        with pytest.raises(ValidationFailed, match=f"name it {instead}, not {suffix}"):
            case.handler.copy_assets(branded, None, picks, copied)
        assert not made.exists()
        assert not copied.exists()


@each_format
def test_macros_stay_where_they_are(case: OfficeCase, tmp_path: Path) -> None:
    """Of a file with macros looks are copied and macros are not; one that gets looks keeps its."""
    plain = case.packed(tmp_path / f"plain{case.suffix}")
    macros = next(suffix for suffix in case.types if has_macros(suffix))
    other = of_kind(case, macros, tmp_path / f"a{macros}")
    picks = tuple(
        AssetPick(asset["asset_id"])
        for asset in case.handler.get_styles(plain, None)["assets"]
        if asset["kind"] == "image"
    )
    made, kept = tmp_path / f"made{case.suffix}", tmp_path / f"kept{macros}"
    case.handler.copy_assets(other, plain, picks, made)
    case.handler.copy_assets(plain, other, picks, kept)

    name = f"{case.main.partition('/')[0]}/vbaProject.bin"
    assert name not in entries(made)
    assert entries(kept)[name] == b"macros"


OTHER = "application/vnd.openxmlformats-officedocument.{}.main+xml"
FOREIGN = (
    "image/png", OTHER.format("wordprocessingml.document"),
    OTHER.format("presentationml.presentation"), OTHER.format("spreadsheetml.sheet"),
)  # fmt: skip


def refused(case: OfficeCase, source: Source, words: str) -> None:
    """See that whatever is asked of a file is refused with the words."""
    for ask in (
        partial(case.handler.map, source),
        partial(case.handler.read, source, Region()),
        partial(case.handler.get_styles, source, None),
        partial(applied, case, source, source.path.with_name("out"), case.edit),
    ):
        with pytest.raises(FileReadFailed, match=words):
            ask()


@each_format
def test_packages_of_another_kind_are_refused(case: OfficeCase, tmp_path: Path) -> None:
    """A package whose main part is none of the format's is refused with what it is."""
    path = tmp_path / f"a{case.suffix}"
    for type_ in set(FOREIGN) - set(case.types.values()):
        refused(case, case.packed(path, case.retyped(type_)), "another kind")


@each_format
def test_packages_without_a_main_part_are_refused(case: OfficeCase, tmp_path: Path) -> None:
    """One whose relations are missing, and a document of another suite, which says what it is."""
    path = tmp_path / f"a{case.suffix}"
    pack({name: data for name, data in case.parts().items() if name != "_rels/.rels"}, path)
    refused(case, Source(path, path.name), "main one")

    pack({"mimetype": b"application/vnd.a.b"}, path)
    refused(case, Source(path, path.name), "application/vnd.a.b")
