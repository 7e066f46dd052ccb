"""Golden tables: what a careful person reads out of hard files, read by kbd and judged."""

from decimal import Decimal
from pathlib import Path

import msgspec
import pytest

from golden_tables.cases import case, number, text, unclear, written
from golden_tables.collection import CASES, SUBJECTS
from golden_tables.corpus_tables import corpus_cases
from golden_tables.judge import Answer, ReadColumn, Verdict, judge
from golden_tables.outcomes import failures, table
from golden_tables.styles import german
from golden_tables.workbench_reader import WorkbenchReader, judged, offered
from samples import half_or_all

SAMPLE = (
    "encodings/polish_utf-8.csv",
    "marks/german_semicolon.csv",
    "no numbers/leading_zeros_beside.csv",
    "workbooks/title.xlsx",
)
"""Some that are hard in one way each, for the first tier."""

SHOPS = text("Shop", "Nord|Süd")
SALES = number("Umsatz", "1234 2500", german, decimal=",")
SHARES = number("Umsatz", "1.234 2.500", decimal=".")

READ_SHOPS = ReadColumn("Shop", "text", 2, texts=("Nord", "Süd"))
READ_MISSPELT = msgspec.structs.replace(READ_SHOPS, texts=("Nord", "Sud"))
READ_SALES = ReadColumn(
    "Umsatz", "number", 2, total=Decimal(3734), low=Decimal(1234), high=Decimal(2500)
)
READ_SHARES = ReadColumn(
    "Umsatz", "number", 2, total=Decimal("3.734"), low=Decimal("1.234"), high=Decimal("2.5")
)
READ_TEXTS = ReadColumn("Umsatz", "text", 2, texts=("1.234", "2.500"))

SURE = case("judge/sure", [SHOPS, SALES], delimiter=";")
UNSURE = unclear(
    "judge/unsure", "decimal", {",": [SHOPS, SALES], ".": [SHOPS, SHARES]}, delimiter=";"
)
TOTALED = written(
    "judge/totaled",
    "Shop;Umsatz\nNord;1.234\nSüd;2.500\nSumme;3.734\n",
    [SHOPS, SALES],
    left_out=1,
    words=["total"],
)
ASKED = (("decimal", ("Umsatz",)),)


def answer(*columns: ReadColumn, row_count: int = 2, **facts: object) -> Answer:
    """What a program read."""
    return Answer(row_count, columns, **facts)  # type: ignore[arg-type]


def check(verdicts: list[Verdict]) -> None:
    """Print the outcomes, and fail where a figure is wrong or missing without a word."""
    told = failures(verdicts)
    print("\n".join(["", table(verdicts), *told]))
    silent = [line for line in told if line.startswith(("silently wrong", "left as text"))]
    assert not silent, f"{len(silent)} of {len(verdicts)} are read wrong without a word"


async def test_a_sample_is_right(anyio_backend: str, tmp_path: Path) -> None:
    """Some hard files are read as a careful person reads them, without a question."""
    reader = WorkbenchReader(tmp_path)
    chosen = [each for each in CASES if each.label in SAMPLE]
    verdicts = [await reader.verdict(each) for each in chosen]

    assert len(chosen) == len(SAMPLE)
    assert [(each.case.label, each.outcome, each.reason) for each in verdicts] == [
        (each.label, "right", "") for each in chosen
    ]


@pytest.mark.full
@pytest.mark.timeout(600)
@half_or_all
@pytest.mark.parametrize("subject", SUBJECTS)
def test_nothing_is_silently_wrong(subject: str, tmp_path: Path, every: int) -> None:
    """Each file is right, asked, refused, or what differs is told; answers make it right."""
    check(judged(SUBJECTS[subject][::every], tmp_path))


@pytest.mark.full
@pytest.mark.corpora
@pytest.mark.timeout(600)
def test_nothing_of_the_corpora_is_silently_wrong(corpora: Path, tmp_path: Path) -> None:
    """The same of real files, by figures that were counted without kbd."""
    cases = corpus_cases(corpora)

    assert len(cases) >= 200
    check(judged(cases, tmp_path))


def test_cases_have_names_of_their_own() -> None:
    """There are more than 300 files, none named twice, and none has another's bytes and answer."""
    labels = [each.label for each in CASES]
    files = {(each.content, each.name.rpartition(".")[2], each.sheet) for each in CASES}

    assert len(labels) == len(set(labels)) > 300
    # Two subjects may come to the same bytes: UTF-8 with a mark is one of both.
    assert len(files) > 0.95 * len(labels)


@pytest.mark.parametrize(
    ("read", "outcome"),
    [
        (answer(READ_SHOPS, READ_SALES), "right"),
        (answer(READ_SHOPS, READ_SHARES), "silently wrong"),
        (answer(READ_SHOPS, READ_TEXTS), "left as text"),
        (answer(READ_SHOPS, READ_TEXTS, said=("Umsatz is kept as text",)), "told"),
        (answer(READ_SHOPS, READ_SHARES, said=("Umsatz has decimal points",)), "silently wrong"),
        (answer(READ_SHOPS, READ_SALES, row_count=3), "silently wrong"),
        (answer(READ_SHOPS), "silently wrong"),
        (answer(READ_SHOPS, msgspec.structs.replace(READ_SALES, count=1)), "silently wrong"),
        (answer(READ_SHOPS, msgspec.structs.replace(READ_SALES, name="Total")), "silently wrong"),
        (answer(READ_MISSPELT, READ_SALES), "silently wrong"),
        (Answer(refusal="file_read_failed: no table"), "refused"),
    ],
)  # fmt: skip
def test_what_differs_is_found(read: Answer, outcome: str) -> None:
    """The judge sees a sum, a row, a column, a name and a letter that differ, and what is told."""
    assert judge(SURE, read).outcome == outcome


def test_a_guess_is_wrong_even_where_it_hits() -> None:
    """Where two readings fit, a figure without a question is a guess; text without a word, too."""
    assert judge(UNSURE, answer(READ_SHOPS, READ_SALES)).outcome == "silently wrong"
    assert judge(UNSURE, answer(READ_SHOPS, READ_SHARES)).outcome == "silently wrong"
    assert judge(UNSURE, answer(READ_SHOPS, READ_TEXTS)).outcome == "left as text"


def test_answers_have_to_make_it_right() -> None:
    """Asked counts where no figure comes before the answer, and the right one after each."""
    right = [
        (UNSURE.tables[0], answer(READ_SHOPS, READ_SALES)),
        (UNSURE.tables[1], answer(READ_SHOPS, READ_SHARES)),
    ]
    turned = [(one, other) for (one, _), (_, other) in zip(right, reversed(right), strict=True)]
    asked = answer(READ_SHOPS, READ_TEXTS, questions=ASKED)
    early = answer(READ_SHOPS, READ_SALES, questions=ASKED)
    withheld = answer(READ_SHOPS, READ_SALES, questions=ASKED, withheld=True)
    other = answer(READ_SHOPS, READ_TEXTS, questions=(("encoding", ()),))

    assert judge(UNSURE, asked, right).outcome == "asked"
    assert judge(UNSURE, asked, turned).outcome == "silently wrong"
    assert judge(UNSURE, asked, [(UNSURE.tables[0], asked)]).outcome == "silently wrong"
    assert judge(UNSURE, early, right).outcome == "silently wrong"
    assert judge(UNSURE, withheld, right).outcome == "asked"
    assert judge(UNSURE, other, right).outcome == "silently wrong"
    assert judge(SURE, asked, right[:1]).outcome == "asked"
    assert judge(SURE, asked, right[1:]).outcome == "silently wrong"


def test_an_answer_is_one_of_those_offered() -> None:
    """A code page is given by the name that is offered, if it says the same of this file."""
    content = "Peña".encode("cp1252")

    assert offered("windows-1252", content, ["utf-16", "cp1252"]) == "cp1252"
    assert offered("cp1252", content, ["cp1250", "latin-1"]) == "latin-1"
    assert offered("cp1252", content, ["cp1250"]) is None
    assert offered(",", content, [",", "."]) == ","
    assert offered(3, content, ["0", "3"]) == 3
    assert offered(3, content, ["0"]) is None


def test_rows_that_are_left_out_must_be_said() -> None:
    """Right figures are not enough where a row is missing from the table without a word."""
    figures = (READ_SHOPS, READ_SALES)
    said = ("left out: row 4 is a total of the others",)

    assert judge(TOTALED, answer(*figures)).outcome == "silently wrong"
    assert judge(TOTALED, answer(*figures, said=said)).outcome == "right"
    assert judge(TOTALED, answer(*figures, left_out=1)).outcome == "right"


def test_a_total_that_is_counted_is_wrong_where_it_was_only_mended() -> None:
    """That a row was padded does not say that its sum is counted a second time."""
    doubled = msgspec.structs.replace(READ_SALES, count=3, total=Decimal(7468), high=Decimal(3734))
    shops = ReadColumn("Shop", "text", 3, texts=("Nord", "Süd", "Summe"))
    figures = (shops, doubled)
    words = ("padded Summe total",)

    assert judge(TOTALED, answer(*figures, row_count=3, mended=words)).outcome == "silently wrong"
    assert judge(TOTALED, answer(*figures, row_count=3, said=words)).outcome == "told"
