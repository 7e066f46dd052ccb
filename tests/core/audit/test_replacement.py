"""Another version of a plugin: found, taken alone, or refused in clear words."""

from pathlib import Path
from zipfile import ZipFile

import pytest

from kbd.core.audit.plugin_replacement import copy_package, plugin_packages, with_replaced_version
from kbd.core.plugins.hooks import EntryPoint
from kbd.errors import ValidationFailed

PACKAGES = frozenset({"kbd_one", "kbd_two"})


def package(folder: Path, name: str = "kbd_one") -> Path:
    """Make a package with a module, and what an import leaves."""
    made = folder / name
    (made / "inner" / "__pycache__").mkdir(parents=True)
    (made / "__init__.py").write_text("version = 2\n")
    (made / "inner" / "data.txt").write_text("x")
    (made / "inner" / "__pycache__" / "old.pyc").write_text("x")
    return made


def names(folder: Path) -> list[str]:
    """All files below a folder."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("within", ["", "src"])
def test_the_one_package_is_taken_alone(within: str, tmp_path: Path) -> None:
    """From its own folder or what holds it; not what lies beside it, nor compiled files."""
    tree = tmp_path / "tree"
    made = package(tree / within)
    (tree / within / "json.py").write_text("shadow")
    (tree / within / "kbd_stranger").mkdir()
    for place, path in enumerate((tree, made)):
        taken = copy_package(path, tmp_path / f"into{place}", PACKAGES)

        assert (taken.package, taken.version) == ("kbd_one", None)
        assert names(taken.folder) == ["kbd_one/__init__.py", "kbd_one/inner/data.txt"]


def test_a_wheel_is_unpacked(tmp_path: Path) -> None:
    """Its package, and the version that it tells."""
    wheel = tmp_path / "one.whl"
    with ZipFile(wheel, "w") as archive:
        archive.writestr("kbd_one/__init__.py", "")
        archive.writestr("kbd_one/deep/data.txt", "x")
        archive.writestr("stranger/__init__.py", "")
        archive.writestr("kbd_one-2.5.dist-info/METADATA", "Name: kbd-one\nVersion: 2.5\n\nv")
    taken = copy_package(wheel, tmp_path / "into", PACKAGES)

    assert (taken.package, taken.version) == ("kbd_one", "2.5")
    assert names(taken.folder) == ["kbd_one/__init__.py", "kbd_one/deep/data.txt"]
    points = [EntryPoint("one", "kbd_one", "1", "d"), EntryPoint("two", "kbd_two:hooks", "1", "d")]
    assert plugin_packages(points) == PACKAGES
    assert [point.version for point in with_replaced_version(points, taken)] == ["2.5", "1"]


def test_a_wheel_may_not_lead_out_of_its_folder(tmp_path: Path) -> None:
    """Nothing is written outside of what was made for it."""
    wheel = tmp_path / "one.whl"
    with ZipFile(wheel, "w") as archive:
        archive.writestr("kbd_one/__init__.py", "")
        archive.writestr("kbd_one/../../out.txt", "x")

    with pytest.raises(ValidationFailed, match="leads out"):
        copy_package(wheel, tmp_path / "into", PACKAGES)
    assert not [*tmp_path.rglob("out.txt")]


@pytest.mark.parametrize(
    ("made", "named", "words"),
    [
        ((), "tree", "holds no package of an installed plugin"),
        (("kbd_other",), "tree/kbd_other", "is not the package of an installed plugin"),
        (("kbd_one", "kbd_two"), "tree", "holds several"),
        ((), "tree/file.txt", "neither a folder nor a wheel"),
        ((), "tree/missing", "is not there"),
    ],
)
def test_what_is_no_plugins_package_is_refused(
    made: tuple[str, ...], named: str, words: str, tmp_path: Path
) -> None:
    """In words that say what is expected; no full path is told."""
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "file.txt").write_text("no zip")
    for name in made:
        package(tree, name)

    with pytest.raises(ValidationFailed, match=words) as refused:
        copy_package(tmp_path / named, tmp_path / "into", PACKAGES)
    assert str(tmp_path) not in refused.value.message
