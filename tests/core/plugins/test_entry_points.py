"""Entry points as they lie in folders: what `importlib.metadata` finds there, and no less."""

import importlib.metadata
import json
import sys
from pathlib import Path

import pytest

from kbd.core.plugins.hooks import EntryPoint, installed_entry_points


def distribution(folder: Path, stem: str, **files: str) -> None:
    """Write what an installer leaves of a distribution: a folder with these files."""
    place = folder / stem
    place.mkdir(parents=True)
    for name, text in files.items():
        (place / name.replace("_txt", ".txt")).write_text(text, "utf-8")


def test_it_tells_what_the_standard_library_tells() -> None:
    """Of every group that is installed here: names, values, versions and distributions."""
    everything = importlib.metadata.distributions()
    groups = {point.group for each in everything for point in each.entry_points}

    assert {"kbd", "console_scripts", "pytest11"} <= groups
    for group in groups:
        expected = {
            (point.name, point.value, point.dist.version, point.dist.name)
            for point in importlib.metadata.entry_points(group=group)
            if point.dist is not None
        }
        found = installed_entry_points(group, sys.path)
        assert {(each.name, each.value, each.version, each.source) for each in found} == expected


def test_the_first_folder_has_a_distribution(tmp_path: Path) -> None:
    """However its name is spelt in the second; others there are found, too."""
    for folder, stem in (("a", "My_Plug-1.0"), ("b", "my.plug-2.0"), ("b", "other-3")):
        name, _, version = stem.partition("-")
        described = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n\nVersion: 9\n"
        points = f"[kbd]\n{folder} = {name.lower()}\n"
        distribution(
            tmp_path / folder, f"{stem}.dist-info", METADATA=described, entry_points_txt=points
        )

    assert installed_entry_points("kbd", [str(tmp_path / "a"), str(tmp_path / "b")]) == [
        EntryPoint("a", "my_plug", "1.0", "My_Plug"),
        EntryPoint("b", "other", "3", "other"),
    ]


def test_only_the_group_is_read(tmp_path: Path) -> None:
    """Comments, blank lines and other sections are none of it; space does not matter."""
    points = (
        "# [kbd]\nx = y\n[other]\na = b\n\n [ kbd ] \n; no = no\n# no = no\n\n  one=two:three \n"
    )
    distribution(
        tmp_path, "old.egg-info", entry_points_txt=points, **{"PKG-INFO": "Name: Old\nVersion: 1\n"}
    )

    assert installed_entry_points("kbd", [str(tmp_path)]) == [
        EntryPoint("one", "two:three", "1", "Old")
    ]


def test_what_cannot_be_read_holds_nothing(tmp_path: Path) -> None:
    """A folder that is not there, an archive, a file where a folder is due, no text, no facts."""
    (tmp_path / "archive.zip").write_bytes(b"PK")
    (tmp_path / "file.egg-info").write_text("Name: file\n")
    distribution(tmp_path, "bare-1.dist-info")
    distribution(tmp_path, "odd-2.dist-info", entry_points_txt="[kbd]\nodd = odd\n")
    (tmp_path / "odd-2.dist-info" / "METADATA").write_bytes(b"\xff\xfe\x00")
    folders = [str(tmp_path / "gone"), str(tmp_path / "archive.zip"), str(tmp_path)]

    assert installed_entry_points("kbd", folders) == [EntryPoint("odd", "odd", "0", "odd")]


def test_the_working_folder_is_an_empty_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it is in `sys.path`."""
    distribution(tmp_path, "here.dist-info", entry_points_txt="[kbd]\nhere = here\n")
    monkeypatch.chdir(tmp_path)

    assert [each.name for each in installed_entry_points("kbd", [""])] == ["here"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("json", json),
        ("json.decoder", json.decoder),
        ("json:decoder", json.decoder),
        (" json : decoder.JSONDecoder [extra]", json.decoder.JSONDecoder),
    ],
)
def test_loading_gives_what_is_named(value: str, expected: object) -> None:
    """A module, or what lies in it."""
    assert EntryPoint("x", value).load() is expected


@pytest.mark.parametrize("value", ["", "no_such_module", "json:gone", "not a module"])
def test_loading_what_is_not_there(value: str) -> None:
    """It fails as an import does; the host makes a reason of it."""
    with pytest.raises((ImportError, AttributeError, ValueError)):
        EntryPoint("x", value).load()
