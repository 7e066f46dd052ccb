"""All that is read of real documents: each map, section and chunk, and what others read of them."""

import re
import subprocess
from collections import Counter
from pathlib import Path

import docx
import pytest

from kbd.errors import FileReadFailed
from kbd.formats import Region, Source
from kbd_docx import DocxFormat

FORMAT = DocxFormat()
EVERY = 8
"""Which share of the documents `make test` reads; `make test-full` reads all."""

MAX_SECTIONS = 300
"""Read one by one; of a document that has more, the chunks of the whole hold its words."""

WORD = re.compile(r"\w+")


def documents(corpora: Path) -> list[Path]:
    found = sorted((corpora / "docx").iterdir())
    assert len(found) >= 400
    return found


def words(text: str) -> Counter[str]:
    return Counter(word.casefold() for word in WORD.findall(text.replace("\u00ad", "")))


def read_whole(path: Path, shelf: Path) -> bool:
    """Read all of a document in every way; return whether it can be read."""
    source = Source(path, path.name, shelf)
    try:
        found = FORMAT.map(source)
    except FileReadFailed:
        return False
    FORMAT.info(source)
    passages = list(FORMAT.passages(source))
    chunks: list[str] = []
    is_long = len(found["sections"]) > MAX_SECTIONS
    for index in range(min(len(found["sections"]), MAX_SECTIONS)):
        read = FORMAT.objects(source, Region(section=index))
        assert read == FORMAT.objects(source, Region(section=index))
        assert read.chunk_info is not None
        total = read.chunk_info.total_chunks
        regions = [Region(section=index, chunk=place) for place in range(total)]
        chunks += [FORMAT.read(source, region).text for region in regions]
    sizes = [chunk["char_count"] for each in found["sections"] for chunk in each["chunks"]]
    assert chunks
    assert list(map(len, chunks)) == sizes[: len(chunks)]
    whole = FORMAT.read(source, Region())
    count = whole.chunk_info.total_chunks if whole.chunk_info else 0
    parts = [FORMAT.read(source, Region(chunk=place)).text for place in range(count)]
    told = sum((words(passage.text) for passage in passages), Counter[str]())
    # What stands around the pages is in no section.
    around = sum(
        (words(each.text) for each in passages if not each.place.startswith("section")),
        Counter[str](),
    )
    assert is_long or sum(map(words, chunks), around) == told
    if count or is_long:
        assert not told - sum(map(words, parts), Counter[str]())
    return True


def readable_by_library(path: Path) -> bool:
    try:
        docx.Document(str(path))
    except Exception:  # noqa: BLE001 - whatever it is, it does not read it
        return False
    return True


@pytest.mark.corpora
def test_some_real_documents_are_read_in_every_way(corpora: Path, tmp_path: Path) -> None:
    """Sections and chunks hold all words of a document, the same each time; or it is refused."""
    chosen = documents(corpora)[::EVERY]
    read = [read_whole(path, tmp_path / path.name) for path in chosen]

    assert sum(read) >= len(chosen) * 0.9


@pytest.mark.corpora
@pytest.mark.full
def test_all_real_documents_are_read_and_more_than_the_library_opens(
    corpora: Path, tmp_path: Path
) -> None:
    """Templates, macro files, strict ones and those with dangling parts are read as well."""
    chosen = documents(corpora)
    ours = sum(read_whole(path, tmp_path / path.name) for path in chosen)
    theirs = sum(map(readable_by_library, chosen))
    print(f"docx: {ours} of {len(chosen)} read, python-docx opens {theirs}")

    assert ours > theirs
    assert ours >= len(chosen) * 0.97


ASKED = 25
NOTE_MARK = re.compile(r"\[\^(e?)(\d+)\]")
ROMAN = ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x")
QUIRKS = ("isLgl", "ContentControls", "chart3", "stress003")
"""Legal numbers and lists in controls that the other program reads otherwise, charts and links
that stand within a word."""


@pytest.mark.corpora
@pytest.mark.libreoffice
@pytest.mark.full
def test_another_program_reads_no_word_that_is_missing_here(corpora: Path, tmp_path: Path) -> None:
    """What LibreOffice writes as text is in the passages; deletions it shows, and these do not."""
    chosen = [
        path
        for path in documents(corpora)[:: len(documents(corpora)) // ASKED // 2]
        if path.suffix == ".docx" and not any(quirk in path.name for quirk in QUIRKS)
    ]
    subprocess.run(
        [
            "soffice", f"-env:UserInstallation=file://{tmp_path}/profile", "--headless",
            "--convert-to", "txt:Text:UTF8", "--outdir", str(tmp_path / "text"), *map(str, chosen),
        ],
        check=True, capture_output=True, timeout=600,
    )  # fmt: skip
    compared = 0
    for path in chosen:
        text = tmp_path / "text" / f"{path.stem}.txt"
        source = Source(path, path.name)
        try:
            has_changes = FORMAT.map(source)["has_tracked_changes"]
        except FileReadFailed:
            continue
        if has_changes or not text.exists():
            continue
        compared += 1
        passages = " \n".join(passage.text for passage in FORMAT.passages(source))
        # There the mark of a note stands bare at the end of a word.
        joined = NOTE_MARK.sub(_bare, passages)
        theirs = words(text.read_text("utf-8", "replace"))
        missing = theirs - (words(passages) | words(joined))
        assert not missing, (path.name, dict(missing))
    assert compared >= ASKED


def _bare(mark: re.Match[str]) -> str:
    number = int(mark[2])
    return ROMAN[number] if mark[1] and number < len(ROMAN) else mark[2]
