"""What is shipped, what is registered and what lies in the folders are the same plugins."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
KINDS = ("formats", "providers", "tools")


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    """pyproject.toml, as it is."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


@pytest.fixture(scope="module")
def folders() -> list[str]:
    """Every built-in plugin's folder, relative to the root."""
    return sorted(
        str(folder.relative_to(ROOT))
        for kind in KINDS
        for folder in (ROOT / "plugins" / kind).iterdir()
        if folder.name.startswith("kbd_")
    )


def test_the_wheel_ships_every_plugin(project: dict[str, Any], folders: list[str]) -> None:
    """The wheel's packages are kbd and each plugin's folder, nothing else."""
    packages = project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]

    assert ["kbd", *folders] == packages


def test_the_source_distribution_has_the_documentation(project: dict[str, Any]) -> None:
    """It takes docs/ and every page beside it; whatever it names exists."""
    included = project["tool"]["hatch"]["build"]["targets"]["sdist"]["only-include"]

    assert [name for name in included if not (ROOT / name).exists()] == []
    assert {"docs", *(page.name for page in ROOT.glob("*.md"))} <= set(included)


def test_every_plugin_is_registered(project: dict[str, Any], folders: list[str]) -> None:
    """The entry points of the group `kbd` are the folders, each named without its prefix."""
    packages = [Path(folder).name for folder in folders]
    entry_points = project["project"]["entry-points"]["kbd"]

    assert {package.removeprefix("kbd_"): package for package in packages} == entry_points


def test_every_plugin_is_watched(project: dict[str, Any], folders: list[str]) -> None:
    """import-linter and isort know each plugin, and the contracts on plugins name all of them."""
    packages = sorted(Path(folder).name for folder in folders)
    linter = project["tool"]["importlinter"]
    contracts = {contract["name"]: contract for contract in linter["contracts"]}

    assert ["kbd", *packages] == linter["root_packages"]
    assert ["kbd", *packages] == project["tool"]["ruff"]["lint"]["isort"]["known-first-party"]
    assert packages == contracts["Plugins do not know each other"]["modules"]
    assert packages == contracts["kbd never imports a plugin"]["forbidden_modules"]


def test_plugin_folders_are_not_packages() -> None:
    """`plugins/` and its three folders have no `__init__.py`: a second copy could be imported."""
    folders = [ROOT / "plugins", *(ROOT / "plugins" / kind for kind in KINDS)]

    assert [folder.name for folder in folders if (folder / "__init__.py").exists()] == []


def test_kbd_says_it_is_typed() -> None:
    """It ships `py.typed`, so that a plugin author's checker sees the types of what is public."""
    assert (ROOT / "kbd" / "py.typed").is_file()


def test_the_version_is_said_once_and_the_same(project: dict[str, Any]) -> None:
    """`kbd.__version__` is the version of the distribution."""
    import kbd

    assert project["project"]["version"] == kbd.__version__
