"""The home of one daemon: where it is, who may enter, what an id may be."""

import stat
from pathlib import Path

import pytest

from kbd.core.runtime.paths import Home, checked_id
from kbd.errors import NotFound, ValidationFailed


@pytest.mark.parametrize(
    ("environment", "folder"),
    [
        ({"KBD_HOME": "/k", "XDG_DATA_HOME": "/x"}, "/k"),
        ({"XDG_DATA_HOME": "/x"}, "/x/kbd"),
        ({"XDG_DATA_HOME": "relative"}, "~/.local/share/kbd"),
        ({}, "~/.local/share/kbd"),
    ],
)
def test_the_home_is_found(environment: dict[str, str], folder: str) -> None:
    """KBD_HOME, else XDG_DATA_HOME if it is absolute, else the usual place."""
    home = Home.find(environment)

    assert home.folder == Path(folder).expanduser()
    assert home.socket == home.folder / "kbd.sock"


def test_the_socket_is_found() -> None:
    """The option wins over the environment, and that over the home."""
    environment = {"KBD_HOME": "/k", "KBD_SOCKET": "/s"}

    assert Home.find(environment).socket == Path("/s")
    assert Home.find(environment, socket="/o").socket == Path("/o")
    assert Home.find(environment, home="/h").folder == Path("/h")


def test_a_socket_path_has_107_bytes_at_most() -> None:
    """One byte more is refused with the way out, before anything is created."""
    fits = "/" + "s" * 106
    assert Home.find({"KBD_SOCKET": fits}).socket == Path(fits)
    with pytest.raises(ValidationFailed, match=r"108 bytes .* KBD_SOCKET"):
        Home.find({"KBD_SOCKET": fits + "s"})


def test_folders_are_private(tmp_path: Path) -> None:
    """Home and workbench are 0700, also where a wider folder was there before."""
    folder = tmp_path / "home"
    folder.mkdir(mode=0o755)
    home = Home.find({"KBD_HOME": str(folder)})
    home.create()
    home.create()
    bench = home.workbench("0123456789abcdef")
    bench.workshop.mkdir(parents=True)
    bench.workshop.chmod(0o755)
    bench.create()

    made = (home.folder, home.daemon_log, bench.log, bench.published, bench.workshop, bench.stage)
    assert {stat.S_IMODE(path.stat().st_mode) for path in made} == {0o700}


@pytest.mark.parametrize("what", ["file", "link"])
def test_a_home_that_is_no_folder_is_refused(tmp_path: Path, what: str) -> None:
    """A file or a link in its place is named, and not followed."""
    folder = tmp_path / "home"
    if what == "file":
        folder.write_text("")
    else:
        folder.symlink_to(tmp_path)

    with pytest.raises(ValidationFailed, match="home in the home of kbd is not a folder"):
        Home.find({"KBD_HOME": str(folder)}).create()


@pytest.mark.parametrize(
    "text",
    ["", "..", "0123456789abcde", "0123456789ABCDEF", "0123456789abcdef/", "0123456789abcde\n"],
)
def test_an_id_is_16_hex_digits(text: str) -> None:
    """Anything else never becomes a path."""
    with pytest.raises(ValidationFailed, match="16 hex digits"):
        checked_id(text)


def test_workbenches_are_listed(tmp_path: Path) -> None:
    """Those that have folders of their name; strange names are skipped."""
    home = Home.find({"KBD_HOME": str(tmp_path / "home")})
    assert home.workbench_ids() == ()
    home.create()
    for name in ("b" * 16, "a" * 16):
        home.workbench(name).create()
    (home.workbenches / "notes").mkdir()

    assert home.workbench_ids() == ("a" * 16, "b" * 16)
    assert home.existing("a" * 16).root == home.workbenches / ("a" * 16)
    with pytest.raises(NotFound):
        home.existing("c" * 16)
