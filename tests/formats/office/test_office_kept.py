"""Edits of office files keep all that they do not name, and a refused one leaves nothing behind."""

import random
import re
import time
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path

import pytest
from lxml import etree

from format_cases import TYPES, OfficeCase, Parts, applied, entries, names
from kbd.errors import KbdError, ValidationFailed
from kbd.formats import Source
from kbd.opc.package import relations_part
from office_formats import OFFICE
from zipforge import forge, members

each_format = pytest.mark.parametrize("case", OFFICE, ids=names)

USUAL = re.compile(
    rb"http://schemas\.openxmlformats\.org/((?!package)\w+)/2006/(relationships/|)(?=[a-z])"
)
PROPERTIES = "http://schemas.openxmlformats.org/package/2006/relationships"


def saved(path: Path, parts: Parts) -> Source:
    """Write parts under a name, and return the file."""
    path.write_bytes(forge(members(parts)))
    return Source(path, path.name)


def strictly(parts: Parts) -> Parts:
    """Return the parts under the names of the strict variant (ISO/IEC 29500-1, annex A)."""
    return {
        name: data if name == TYPES else USUAL.sub(rb"http://purl.oclc.org/ooxml/\1/\2", data)
        for name, data in parts.items()
    }


@each_format
def test_what_an_edit_does_not_name_stays(case: OfficeCase, tmp_path: Path) -> None:
    """One thing is changed: every other part is the same to the byte, and none comes or goes."""
    # Nothing leads to this one.
    source = case.packed(tmp_path / f"a{case.suffix}", {"custom/loose.xml": b"<loose/>"})
    out = tmp_path / f"b{case.suffix}"
    whole = source.path.read_bytes()
    found = applied(case, source, out, case.edit)

    before, after = entries(source.path), entries(out)
    assert (found.applied, len(found.changed)) == (1, 1)
    assert list(before) == list(after)
    assert {name for name in before if before[name] != after[name]} == case.touched
    assert source.path.read_bytes() == whole


@each_format
def test_an_edit_of_nothing_is_the_same_file(case: OfficeCase, tmp_path: Path) -> None:
    """Without operations every part is as it was."""
    source, out = case.packed(tmp_path / f"a{case.suffix}"), tmp_path / f"b{case.suffix}"
    found = applied(case, source, out)

    assert (found.applied, found.changed) == (0, ())
    assert entries(source.path) == entries(out)


@each_format
def test_a_refused_call_writes_nothing(case: OfficeCase, tmp_path: Path) -> None:
    """Whichever of the operations cannot be done, no file is written and the source stays."""
    source, out = case.packed(tmp_path / f"a{case.suffix}"), tmp_path / f"b{case.suffix}"
    whole = source.path.read_bytes()
    for operations in ((case.impossible,), (case.edit, case.impossible, case.edit)):
        with pytest.raises(ValidationFailed) as refused:
            applied(case, source, out, *operations)
        assert str(tmp_path) not in refused.value.message

    assert [path.name for path in tmp_path.iterdir()] == [source.name]
    assert source.path.read_bytes() == whole


@each_format
def test_a_damaged_part_is_refused_when_it_is_edited(case: OfficeCase, tmp_path: Path) -> None:
    """A byte changed inside a packed part is noticed; nothing is written."""
    source, out = case.packed(tmp_path / f"a{case.suffix}"), tmp_path / f"b{case.suffix}"
    data = bytearray(source.path.read_bytes())
    begin = data.index(case.text_part.encode()) + len(case.text_part)
    data[begin + 200] ^= 0xFF
    source.path.write_bytes(bytes(data))

    with pytest.raises(KbdError, match="damaged"):
        applied(case, source, out, case.edit)
    assert not out.exists()


@each_format
def test_the_bytes_do_not_depend_on_the_clock(
    case: OfficeCase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same operations give the same file in another year and another zone."""
    first, second = tmp_path / f"a{case.suffix}", tmp_path / f"b{case.suffix}"
    applied(case, None, first, *case.edits[0])
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    monkeypatch.setattr(time, "time", lambda: 2_000_000_000.0)
    applied(case, None, second, *case.edits[0])

    assert first.read_bytes() == second.read_bytes()


@each_format
def test_new_files_are_nobodys(case: OfficeCase, tmp_path: Path) -> None:
    """No thumbnail, no author, no program; each part has a type, and something leads to it."""
    path = tmp_path / f"new{case.suffix}"
    applied(case, None, path, *case.edits[0])
    parts = entries(path)

    whole = b"".join(parts.values()).lower()
    for word in (b"python", b"openpyxl", b"macintosh", b"customxml", b"rsidroot", b"2013"):
        assert word not in whole, word
    assert not re.search(r"thumbnail|printer|custom", " ".join(parts))
    told = etree.fromstring(parts.get("docProps/core.xml", b"<nothing/>"))
    assert "".join(str(text) for text in told.itertext()).strip() == ""
    types = parts[TYPES].decode()
    assert reached(parts) == {name for name in parts if not name.endswith(".rels")} - {TYPES}
    for name in reached(parts):
        assert f'PartName="/{name}"' in types, name


def reached(parts: Parts) -> set[str]:
    """Return the parts that relations lead to, beginning at the package's own."""
    found: set[str] = set()
    left = [""]
    while left:
        part = left.pop()
        table = parts.get(relations_part(part))
        for each in etree.fromstring(table) if table else ():
            folder = Path("/", part).parent
            target = (folder / each.get("Target", "")).as_posix()
            name = re.sub(r"[^/]+/\.\./", "", target).lstrip("/")
            if each.get("TargetMode") != "External" and name not in found:
                found.add(name)
                left.append(name)
    return found


@each_format
def test_a_signature_is_void(case: OfficeCase, tmp_path: Path) -> None:
    """A signed file can be changed; that its signature goes with it is told."""
    origin = (
        f'<Relationship Id="s" Type="{PROPERTIES}/digital-signature/origin" '
        'Target="_xmlsignatures/origin.sigs"/></Relationships>'
    )
    table = case.parts()["_rels/.rels"].replace(b"</Relationships>", origin.encode())
    more = {"_rels/.rels": table, "_xmlsignatures/origin.sigs": b"sign"}
    source, out = case.packed(tmp_path / f"a{case.suffix}", more), tmp_path / f"b{case.suffix}"
    told = applied(case, source, out, case.edit)

    (warning,) = told.warnings
    assert warning.endswith("was signed; after this change the signature is void.")
    assert entries(out)["_xmlsignatures/origin.sigs"] == b"sign"


@each_format
def test_strict_files_are_read_alike_and_stay_strict(case: OfficeCase, tmp_path: Path) -> None:
    """The strict variant's names change no answer, and parts that are written have them."""
    usual = case.packed(tmp_path / f"usual{case.suffix}")
    strict = saved(tmp_path / f"strict{case.suffix}", strictly(case.parts()))
    out = tmp_path / f"out{case.suffix}"
    for ask in ASKED:
        assert ask(case, strict) == ask(case, usual)
    applied(case, strict, out, *case.tried)

    before, after = entries(strict.path), entries(out)
    changed = {name for name in after if after[name] != before.get(name)} - {TYPES}
    assert case.text_part in changed
    for name in changed:
        assert not USUAL.search(after[name]), name


ASKED: tuple[Callable[[OfficeCase, Source], object], ...] = (
    lambda case, source: case.handler.map(source),
    lambda case, source: list(case.handler.passages(source)),
    lambda case, source: case.handler.get_styles(source, None),
)

VALUES = ("", "-1", "99999999999999999999", "1" * 400, "NaN", "rId1", "rId99", "title", "²", "50%")


def damaged(parts: Parts, chance: random.Random) -> Parts:
    """Return the parts with a few elements of a few of them changed, dropped or doubled."""
    found = dict(parts)
    readable = [name for name in found if name.endswith((".xml", ".rels")) and name != TYPES]
    for name in chance.sample(readable, 3):
        root = etree.fromstring(found[name])
        for element in chance.choices(list(root.iter()), k=4):
            parent = element.getparent()
            match chance.randrange(3):
                case 0 if element.attrib:
                    key = chance.choice(list(element.attrib))
                    element.set(key, chance.choice(VALUES))
                case 1 if parent is not None:
                    parent.remove(element)
                case 2:
                    element.append(deepcopy(chance.choice(list(root.iter()))))
        found[name] = etree.tostring(root)
    return found


@each_format
def test_damaged_files_are_edited_or_refused(case: OfficeCase, tmp_path: Path) -> None:
    """Whatever the parts hold: an edit goes through, or is refused with a KbdError."""
    chance, out = random.Random(44), tmp_path / f"out{case.suffix}"
    edited, messages = 0, []
    for _ in range(20):
        source = saved(tmp_path / f"a{case.suffix}", damaged(case.parts(), chance))
        for operation in (case.edit, *case.tried):
            try:
                edited += applied(case, source, out, operation).applied
            except KbdError as error:
                messages.append(error.message)
                assert not out.exists()

    assert edited > 20
    assert not [message for message in messages if str(tmp_path) in message]
