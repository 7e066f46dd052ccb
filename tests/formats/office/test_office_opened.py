"""Edited documents and decks open in LibreOffice as they did before, and show what was written."""

import random
import shutil
import subprocess
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pypdfium2
import pytest

from kbd.errors import KbdError
from office_judge import Appended, Edit, Replaced, Retitled
from office_trials import APPENDED, TITLE, Way, meant, written

pytestmark = [pytest.mark.corpora, pytest.mark.libreoffice, pytest.mark.full]

SAMPLE_SEED = 89
SIZES = [12, pytest.param(60, marks=pytest.mark.soak)]
"""Files of each kind that are opened: a file takes some seconds."""
SPARE = 4
"""Some few are edited besides that LibreOffice does not open, before or after."""
BATCH = 20


class Opened(NamedTuple):
    """A file as LibreOffice shows it before and after an edit: the words of each page."""

    name: str
    edit: Edit
    before: list[list[str]]
    after: list[list[str]]


def sample(corpora: Path, kind: str) -> list[Path]:
    """All files but the largest, in the order of a seed."""
    found = sorted(path for path in corpora.glob(f"{kind}/*") if path.stat().st_size < 1_500_000)
    return random.Random(SAMPLE_SEED).sample(found, len(found))


def converted(files: Sequence[Path], to: str, folder: Path, profile: Path) -> None:
    """Convert files; where one of them ends the program, the rest of its batch one by one."""
    folder.mkdir()
    suffix = to.partition(":")[0]
    command = ["soffice", f"-env:UserInstallation={profile.as_uri()}", "--headless"]
    for start in range(0, len(files), BATCH):
        batch = files[start : start + BATCH]
        for some in (batch, *([file] for file in batch)):
            missing = [file for file in some if not (folder / f"{file.stem}.{suffix}").exists()]
            if missing:
                subprocess.run(
                    [*command, "--convert-to", to, "--outdir", folder, *missing],
                    check=False, capture_output=True, timeout=400,
                )  # fmt: skip


def pages(path: Path) -> list[list[str]]:
    """The words of each page of a PDF file."""
    document = pypdfium2.PdfDocument(path)
    try:
        return [page.get_textpage().get_text_bounded().split() for page in document]
    finally:
        document.close()


def edits_of(corpora: Path, tmp: Path, kind: str, way: Way, count: int) -> dict[str, Edit]:
    """Edit some files; put each before and after under a short name, and return the edits."""
    (tmp / "old").mkdir()
    (tmp / "new").mkdir()
    found: dict[str, Edit] = {}
    for number, path in enumerate(sample(corpora, kind)):
        if len(found) == count + SPARE:
            break
        name = f"{number:03}{path.suffix}"
        try:
            plan = meant(path, way)
            if plan is None:
                continue
            written(path, plan.operation, tmp / "new" / name)
        except (KbdError, Exception) as error:  # noqa: BLE001 - refused, or none that can be read
            print(f"{path.name} is left out: {error}"[:200])
            continue
        shutil.copy(path, tmp / "old" / name)
        found[name] = plan.edit
    return found


def shown(tmp: Path, edits: dict[str, Edit]) -> list[Opened]:
    """Every file as it is shown before and after; those that do not open before are left out."""
    profile = tmp / "profile"
    found = []
    for side in ("old", "new"):
        converted([tmp / side / name for name in edits], "pdf", tmp / f"{side}-pdf", profile)
    for name, edit in edits.items():
        before = tmp / "old-pdf" / f"{Path(name).stem}.pdf"
        after = tmp / "new-pdf" / before.name
        assert after.exists() == before.exists(), name
        if before.exists():
            found.append(Opened(name, edit, pages(before), pages(after)))
    return found


def letters(of: Sequence[Sequence[str]]) -> Counter[str]:
    """All letters of some pages: a narrow cell may break a word elsewhere."""
    return Counter("".join(word for page in of for word in page).casefold())


def amiss(opened: Opened) -> str:
    """What is not as before, or not as it was meant; "" if nothing is."""
    more_pages = len(opened.after) - len(opened.before)
    if more_pages not in ((0, 1) if isinstance(opened.edit, Appended) else (0,)):
        return f"{more_pages} more pages than before"
    match opened.edit:
        case Appended():
            was, now = letters(opened.before), letters(opened.after)
            wanted = letters([APPENDED.split()])
            gone, came = (was + wanted) - now, now - was - wanted
            # With a page more there is a header more.
            return f"{gone} {came}" if gone or (came and not more_pages) else ""
        case Retitled():
            unlike = [
                number
                for number, (old, new) in enumerate(zip(opened.before, opened.after, strict=True))
                if letters([old]) != letters([new])
            ]
            if not unlike:
                # A slide that is hidden is on no page; the judge sees it.
                return ""
            missing = letters([TITLE.split()]) - letters([opened.after[unlike[0]]])
            return f"pages {unlike} are unlike" if len(unlike) > 1 or missing else ""
        case Replaced(word=word, by=by):
            old = "".join(w for page in opened.before for w in page)
            new = "".join(w for page in opened.after for w in page)
            was, now = Counter(old.replace(word, by)), Counter(new.replace(word, by))
            if word not in old:
                # Letters that no font here has are on no page; what replaced them is, and only it.
                times = (now - was)[by[0]] // by.count(by[0])
                was += Counter(by * times)
            return "" if was == now else "other letters than before"
        case _:
            return "no such edit"


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("kind", "way"), [("docx", "append"), ("pptx", "retitle")])
def test_libreoffice_shows_the_same(
    corpora: Path,
    tmp_path: Path,
    kind: str,
    way: Way,
    size: int,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Of each file as many pages with the same words as before, and what was written."""
    found = shown(tmp_path, edits_of(corpora, tmp_path, kind, way, size))
    odd = [f"{each.name}: {told[:300]}" for each in found if (told := amiss(each))]

    with capsys.disabled():
        print(f"\n{kind}: {len(found)} files opened before and after, {len(odd)} unlike", *odd,
              sep="\n")  # fmt: skip
    assert len(found) >= size
    assert odd == []


@pytest.mark.timeout(900)
@pytest.mark.parametrize("size", SIZES)
def test_libreoffice_reads_back_what_was_written(
    corpora: Path, tmp_path: Path, size: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """As plain text each document is what it was, with one line more.

    LibreOffice leaves out the text boxes of a document that has other text, so that a line may go
    that was in one; what is seen of them is compared page by page above.
    """
    edits = edits_of(corpora, tmp_path, "docx", "append", size)
    for side in ("old", "new"):
        files = [tmp_path / side / name for name in edits]
        converted(files, "txt:Text (encoded):UTF8", tmp_path / f"{side}-txt", tmp_path / "profile")
    count, odd = 0, []
    for name in edits:
        before = tmp_path / "old-txt" / f"{Path(name).stem}.txt"
        after = tmp_path / "new-txt" / before.name
        if before.exists():
            count += 1
            old, new = (path.read_text("utf-8-sig").rstrip("\n") for path in (before, after))
            was, now = Counter(old.split("\n")), Counter(new.split("\n"))
            boxes = sum((was - now).values()) - was[""]
            if now[APPENDED] != 1:
                odd.append(f"{name}: not there")
            elif now - was - Counter([APPENDED, *[""] * now[""]]) or (was - now and boxes > 3):
                odd.append(f"{name}: {was - now} {now - was}")

    with capsys.disabled():
        print(f"\ndocx as text: {count} files, {len(odd)} unlike", *odd, sep="\n")
    assert count >= size
    assert odd == []
