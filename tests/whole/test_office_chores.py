"""Tasks of OfficeBench around Word documents and PDF files, by scripts that call tools.

Of its 300 tasks 88 are about such files and need neither mail nor calendars. All that can be done
with what kbd has are here: 88 but those that `NOT_EXPRESSED` names, with the reason.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import docx
import openpyxl
import pypdfium2
import pytest

from real_daemon import RealDaemon
from whole.office_chores import CHORES, Chore, Desk
from whole.office_chores.inputs import make_input

pytestmark = pytest.mark.full

NOT_EXPRESSED: Mapping[str, str] = MappingProxyType({})
"""Tasks that no script can do, each with what is missing."""
TASKS = 88
"""The tasks whose text or check names a Word or PDF file, without those of mail and calendars."""
BENCH = os.environ.get("KBD_OFFICEBENCH", "")
"""A copy of the public repository, for its own files and checks."""

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


def marked(chore: Chore, value: Any, name: str) -> Any:
    """A parameter that is skipped where the program is missing that its chore needs."""
    made = [name for name in (*chore.holds, *chore.lacks) if name not in chore.files]
    marks = []
    if any(each.endswith(".pdf") for each in made):
        marks.append(pytest.mark.libreoffice)
    if chore.reads_pictures:
        marks.append(pytest.mark.soak)
    return pytest.param(value, marks=marks, id=name)


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealDaemon]:
    """One daemon for all chores; what they call is tested on both event loops elsewhere."""
    running = RealDaemon(tmp_path_factory.mktemp("d") / "h", "trio", {})
    running.start()
    try:
        yield running
    finally:
        running.stop()


def text_of(path: Path) -> str:
    """What a file says, by a library that kbd does not read with."""
    match path.suffix:
        case ".docx":
            body = docx.Document(str(path)).element.body
            lines = ["".join(t.text or "" for t in p.iter(f"{W}t")) for p in body.iter(f"{W}p")]
            return "\n".join(lines)
        case ".xlsx":
            sheets = openpyxl.load_workbook(path, data_only=True).worksheets
            rows = [row for sheet in sheets for row in sheet.iter_rows(values_only=True)]
            return "\n".join(" ".join(str(cell) for cell in row) for row in rows)
        case ".pdf":
            document = pypdfium2.PdfDocument(path)
            try:
                return "\n".join(page.get_textpage().get_text_range() for page in document)
            finally:
                document.close()
        case ".jpg":
            return ""
        case _:
            return path.read_text()


def plain(text: str) -> str:
    """A text as words are looked for in it: in one case, with single blanks."""
    return " ".join(text.split()).casefold()


def done(daemon: RealDaemon, chore: Chore, paths: Sequence[Path]) -> Path:
    """Do a chore, and return the folder of what is published."""
    workbench_id = daemon.workbench(*paths)

    def call(tool: str, /, **arguments: Any) -> Any:
        return daemon.ask("ToolsCall", workbench_id=workbench_id, name=tool, arguments=arguments)

    chore.do(Desk(call, chore.files))
    daemon.ask("DraftPublish", workbench_id=workbench_id)
    return daemon.home / "workbenches" / workbench_id / "published"


@pytest.mark.parametrize("chore", [marked(chore, chore, chore.tasks) for chore in CHORES])
def test_a_chore_is_done_as_the_files_are_left(
    daemon: RealDaemon, tmp_path: Path, chore: Chore
) -> None:
    """The files that were asked for are there and say what they must, and the others stayed."""
    paths = [tmp_path / name for name in chore.files]
    for path in paths:
        path.write_bytes(make_input(chore.tasks.partition("/")[0], path.name))
    folder = done(daemon, chore, paths)
    for name, words in chore.holds.items():
        said = plain(text_of(folder / name))
        assert [word for word in words if plain(word) not in said] == [], (name, said)
    for name, words in chore.lacks.items():
        said = plain(text_of(folder / name))
        assert [word for word in words if plain(word) in said] == [], (name, said)
    for name, cells in chore.cells.items():
        sheet = openpyxl.load_workbook(folder / name, data_only=True).worksheets[0]
        assert {at: sheet[at].value for at in cells} == dict(cells)
    for path in paths:
        if path.name not in chore.holds:
            assert (folder / path.name).read_bytes() == path.read_bytes()


def test_of_all_tasks_these_can_be_expressed() -> None:
    """The share is at least 95 %; each task is here once, or said to be out of reach."""
    numbers = [number for chore in CHORES for number in chore.numbers]
    assert len(numbers) == len(set(numbers))
    assert not {*numbers} & {*NOT_EXPRESSED}
    assert len(numbers) + len(NOT_EXPRESSED) == TASKS
    assert len(numbers) / TASKS >= 0.95
