"""Tasks of OfficeBench around Word documents and PDF files, by scripts that call tools.

Of its 300 tasks 88 have a Word or PDF file in their text or their check, and need neither mail nor
calendars. All 88 are here. Four ask to rename or move files: what kbd does is a copy under the new
name, for it takes no file away.
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import docx
import openpyxl
import pypdfium2
import pytest
from PIL import Image

from real_daemon import RealDaemon
from whole.office_chores import CHORES, Chore, Desk
from whole.office_chores.inputs import make_input

pytestmark = pytest.mark.full

TASKS = 88
"""The tasks whose text or check names a Word or PDF file, without those of mail and calendars."""
BENCH = os.environ.get("KBD_OFFICEBENCH", "")
"""A copy of the public repository, for its own files and checks."""

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


def marked(chore: Chore, value: Any, name: str) -> Any:
    """A parameter that is skipped where the program is missing that its chore needs."""
    made = [name for name in (*chore.holds, *chore.lacks) if name not in chore.files]
    marks = []
    if any(each.endswith((".pdf", ".jpg")) for each in made):
        marks.append(pytest.mark.libreoffice)
    if chore.reads_pictures:
        marks.append(pytest.mark.tesseract)
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
        case ".jpg" | ".png":
            with Image.open(path) as picture:
                assert picture.format in ("JPEG", "PNG")
                assert min(picture.size) > 100
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
    """All of them, each once."""
    numbers = [number for chore in CHORES for number in chore.numbers]
    assert len(numbers) == len(set(numbers))
    assert len(numbers) == TASKS


FAULTY: Mapping[str, str] = MappingProxyType(
    {
        "1-15/0": "the check spells the file's name in another case",
        "2-26/3": "the check is about a file of another task",
        "3-8/0": "the check names no file",
        "3-8/5": "the figures are those of another table",
        "3-32/0": "the check names no file",
        "3-58/0": "bananas are not on the list",
        "3-62/0": "one PDF file is wanted, to the byte",
        "3-99/0": "the check misspells the file's name",
    }
)
"""Tasks whose own check no right answer passes."""


def missed(folder: Path, check: Mapping[str, Any]) -> str:
    """What one of the bench's checks finds missing; "" if it passes."""
    told = check["args"]
    name = (told.get("file") or told["result_file"]).replace("./", "").removeprefix("data/")
    path = folder / name
    if not path.exists():
        return f"{name} is not there"
    match check["function"].removeprefix("evaluate_"):
        case "contain" | "not_contain" as function:
            said = plain(text_of(path)).replace(",", "")
            words = [plain(word).replace(",", "") for word in told["keywords"]]
            wrong = [word for word in words if (word in said) != (function == "contain")]
            return f"{name}: {function} {wrong}" if wrong else ""
        case "exact_match":
            expected = (
                Path(BENCH)
                / "tasks"
                / told["task"]
                / "reference"
                / Path(told["expected_file"]).name
            )
            return "" if text_of(path) == text_of(expected) else f"{name} is not as expected"
        case _:
            return ""


@pytest.mark.soak
@pytest.mark.skipif(not BENCH, reason="KBD_OFFICEBENCH names no copy of the bench")
@pytest.mark.parametrize(
    ("chore", "task"),
    [pytest.param(chore, n, id=n) for chore in CHORES for n in chore.numbers if n not in FAULTY],
)
def test_a_chore_passes_the_check_of_the_bench(daemon: RealDaemon, chore: Chore, task: str) -> None:
    """The same scripts, on the bench's own files, by its own words."""
    group, _, number = task.partition("/")
    root = Path(BENCH) / "tasks" / group
    folder = done(daemon, chore, [root / "testbed" / "data" / name for name in chore.files])
    checks = json.loads((root / "subtasks" / f"{number}.json").read_text())["evaluation"]
    for check in checks:
        check["args"]["task"] = group
    assert [told for check in checks if (told := missed(folder, check))] == []
