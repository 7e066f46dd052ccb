"""Programs of the machine that tools need."""

from pathlib import Path
from typing import ClassVar

import pytest

from kbd.core.plugins.programs import find_program, is_equipped, program_path
from kbd.errors import ToolWorkerUnavailable
from kbd.tools import Tool
from kbd_files.file_tools import ListFiles


class Needy(ListFiles):
    """A tool that needs a program."""

    program: ClassVar[str] = "kbd-needed"


class Printing(ListFiles):
    """A tool that prints."""

    prints: ClassVar[bool] = True


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder of the search path."""
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def test_a_program_is_found_when_it_is_installed(folder: Path) -> None:
    """At once, by its absolute path; before that the error says what to install."""
    assert program_path(Needy()) is None
    with pytest.raises(ToolWorkerUnavailable, match="list_files needs kbd-needed") as told:
        find_program(Needy())
    assert told.value.actions == ("install kbd-needed",)
    (folder / "kbd-needed").write_text("#!/bin/sh\n")
    (folder / "kbd-needed").chmod(0o700)

    assert find_program(Needy()) == folder / "kbd-needed"


@pytest.mark.parametrize(
    ("tool", "can_print", "offered"),
    [
        (ListFiles(), False, True),
        (Needy(), True, False),
        (Printing(), True, True),
        (Printing(), False, False),
    ],
)
def test_a_tool_is_offered_where_it_can_work(
    folder: Path, tool: Tool, *, can_print: bool, offered: bool
) -> None:
    """One that lacks its program, or what prints, is not; one that needs nothing always is."""
    assert list(folder.iterdir()) == []
    assert is_equipped(tool, lambda: can_print) is offered
