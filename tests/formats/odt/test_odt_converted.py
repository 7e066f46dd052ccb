"""Texts that LibreOffice made of real documents are read as those documents are."""

import random
import re
import subprocess
import warnings
from pathlib import Path

import docx
import pytest

from kbd.formats import Region, Source
from kbd_odt import OdtFormat

pytestmark = [pytest.mark.corpora, pytest.mark.libreoffice, pytest.mark.full]

SAMPLE_SEED = 77
SAMPLE_SIZE = 60
_WORD = re.compile(r"\w{3,}")


def sample(corpora: Path) -> list[Path]:
    """Documents that python-docx opens, too."""
    found = sorted(path for path in corpora.glob("docx/*.docx") if path.stat().st_size < 200_000)
    return random.Random(SAMPLE_SEED).sample(found, SAMPLE_SIZE)


def plain_words(path: Path) -> set[str]:
    """The words of a document's body, as python-docx reads it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        document = docx.Document(str(path))
    texts = [paragraph.text for paragraph in document.paragraphs]
    texts += [cell.text for table in document.tables for row in table.rows for cell in row.cells]
    return set(_WORD.findall("\n".join(texts)))


@pytest.mark.timeout(600)
def test_converted_documents_hold_their_words(
    corpora: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of each document's words, nearly all are in the text; headings and tables are as many."""
    files = sample(corpora)
    command = ["soffice", f"-env:UserInstallation={(tmp_path / 'profile').as_uri()}", "--headless"]
    for path in [None, *files]:
        # All at once; where one of them ended the program, the rest one by one.
        some = files if path is None else [path]
        if missing := [each for each in some if not (tmp_path / f"{each.stem}.odt").exists()]:
            subprocess.run(
                [*command, "--convert-to", "odt", "--outdir", tmp_path, *missing],
                check=False, capture_output=True, timeout=300,
            )  # fmt: skip
    compared = missing_words = all_words = 0
    odd = []
    for path in files:
        made = tmp_path / f"{path.stem}.odt"
        try:
            wanted = plain_words(path)
        except Exception:  # noqa: BLE001 - whatever the other library cannot read
            continue
        if not made.exists():
            continue
        source = Source(made, made.name)
        found = OdtFormat().map(source)
        text = "\n".join(
            OdtFormat().read(source, Region(section=index, chunk=chunk["index"])).text
            for index, section in enumerate(found["sections"])
            for chunk in section["chunks"]
        )
        lost = wanted - set(_WORD.findall(text))
        compared += 1
        all_words += len(wanted)
        missing_words += len(lost)
        if len(lost) > 0.05 * len(wanted) + 1:
            odd.append(f"{path.name}: {len(lost)} of {len(wanted)}: {sorted(lost)[:8]}")
    with capsys.disabled():
        print(f"\n{compared} texts, {missing_words} of {all_words} words missing", *odd, sep="\n")
    assert compared >= 0.8 * SAMPLE_SIZE
    assert missing_words <= 0.01 * all_words
    assert len(odd) <= 2
