"""Generalization: patterns of files, shapes of inputs, names of results, checks that are added."""

from typing import Any

import msgspec
import pytest

from job_tables import job
from kbd.errors import ValidationFailed
from kbd.jobs.columns import ShapeColumn, ShapeType
from kbd.jobs.documents import job_of
from kbd.jobs.recipes.column_use import column_doubts
from kbd.jobs.recipes.facts import ColumnFacts, InputFacts, LearnedFacts
from kbd.jobs.recipes.file_patterns import fits_pattern, stem_pattern
from kbd.jobs.recipes.generalization import Generalized, generalize, recipe_faults, recipe_of
from kbd.jobs.recipes.records import LearnedFile
from kbd.jobs.recipes.table_labels import plain_labels, relabeled
from kbd.jobs.records import (
    Check,
    Input,
    Job,
    KnownValuesCheck,
    OutputStep,
    ReplaceStep,
    ReportStep,
    RowCountCheck,
    WriteStep,
)
from kbd.jobs.shapes import GivenTable, TableDoubt
from kbd.types import ReadAs

SALES: dict[str, ShapeType] = {
    "Shop": "string", "Date": "date", "Amount": "float", "Note": "string", "Units": "integer",
}  # fmt: skip
REPORT = {"do": "report"}


def read(name: str, file: str, columns: dict[str, ShapeType], **more: Any) -> InputFacts:
    """An input as it was read; texts have two values."""
    found = [
        ColumnFacts(column, kind, ("Ann", "Bo") if kind == "string" else (), 2)
        for column, kind in columns.items()
    ]
    return InputFacts(name, file, tuple(found), 20, **more)


def learned(asked: Job, *inputs: InputFacts, request: str = "total by shop") -> Generalized:
    """A job for other files."""
    return generalize(asked, request, LearnedFacts(inputs))


def total(file: str, request: str = "total by shop", **facts: Any) -> Generalized:
    """A total by shop that was written to a file, for others than `orders-2024-05.csv`."""
    group = {"do": "group", "by": ["shop"], "figures": [
        {"name": "Sum", "function": "sum", "column": "Amount"}]}  # fmt: skip
    asked = job(group, {"do": "write", "file": file})
    return learned(asked, read("t", "orders-2024-05.csv", SALES, **facts), request=request)


def output(found: Generalized) -> OutputStep:
    """The last step."""
    step = found.job.steps[-1]
    assert isinstance(step, OutputStep)
    return step


@pytest.mark.parametrize(
    ("file", "pattern", "other", "is_one"),
    [
        ("orders-2024-05.csv", "orders-*.csv", "orders-2024-06.csv", True),
        ("orders-2024-05.csv", "orders-*.csv", "returns-2024-06.csv", False),
        ("2024-05 orders.xlsx", "* orders.xlsx", "2024-06 orders.xlsx", True),
        ("sales_may.csv", "sales_*.csv", "sales_june.csv", True),
        ("sales Q1 2024.csv", "sales *.csv", "sales Q2 2024.csv", True),
        ("export20240531.csv", "export*.csv", "export20240630.csv", True),
        ("marketing.csv", "marketing*.csv", "marketing-june.csv", True),
        ("old.csv", "old*.csv", "new.csv", False), ("in/orders-1.csv", "orders-*.csv", "x", False),
        ("a[1].csv", "a?*].csv", "a[2].csv", True), ("2024.csv", "*.csv", "2025.csv", True),
    ],
)  # fmt: skip
def test_names_become_patterns(file: str, pattern: str, other: str, is_one: bool) -> None:
    """Figures and months of a name may be any; the rest stays."""
    assert stem_pattern(file) == pattern
    assert fits_pattern(other, pattern) is is_one


def test_a_single_input_is_any_file_of_its_kind() -> None:
    """One table is a file of any name, its shape the columns that steps name, others allowed."""
    found = total("orders-2024-05-total.xlsx")

    assert found.job.inputs == (
        Input("t", "*.csv", columns={"Shop": "text", "Amount": "number"}, doubts="refuse"),
    )  # fmt: skip
    assert found.refusals == ()
    assert output(found) == WriteStep("{t}-total.xlsx")


@pytest.mark.parametrize(
    ("file", "request_text", "template"),
    [
        ("orders-2024-05-by-shop.xlsx", "total by shop", "{t}-by-shop.xlsx"),
        ("orders-2024-05.csv", "total by shop", "{t}.csv"),
        ("by-shop (orders-2024-05).xlsx", "total by shop", "by-shop ({t}).xlsx"),
        ("Orders_2024-05.xlsx", "total by shop", None),
        ("shops.xlsx", "total by shop into shops.xlsx", "shops.xlsx"),
        ("orders-2024-05-x.xlsx", "into orders-2024-05-x.xlsx", "{t}-x.xlsx"),
        ("shops-2024-05.xlsx", "total by shop", None),
        ("shops-may.xlsx", "total by shop", None),
        ("{t}-by-shop.xlsx", "total by shop", "{t}-by-shop.xlsx"),
    ],
)
def test_results_are_called_by_their_input(
    file: str, request_text: str, template: str | None
) -> None:
    """The input's name in a result's becomes that of the next one; no other day or figure stays."""
    found = total(file, request_text)

    if template is None:
        assert [each.place for each in found.refusals] == ["steps[1].file"]
    else:
        assert found.refusals == ()
        assert output(found) == WriteStep(template)


def test_labels_are_of_no_single_file() -> None:
    """A label with a month or a figure loses it wherever it stands, and names no sheet."""
    steps = [
        {"do": "filter", "where": "Amount > 0", "of": "orders_2024_05", "make": "top5"},
        {"do": "union", "tables": ["top5", "orders"], "make": "both2"},
        {"do": "write", "file": "{orders_2024_05}-all.xlsx"},
        {"do": "fill", "of": "both2", "template": "letter_1", "file": "{letter_1}.docx"},
    ]
    asked = job_of({
        "inputs": [
            {"name": "orders_2024_05", "file": "a.csv"}, {"name": "orders", "file": "b.csv"},
            {"name": "letter_1", "file": "l.docx", "kind": "file"},
        ],
        "steps": steps, "checks": [{"check": "row_count", "table": "orders_2024_05"}],
    })  # fmt: skip

    made = relabeled(asked, plain_labels(asked))

    assert [each.name for each in made.inputs] == ["orders_", "orders", "letter"]
    assert msgspec.to_builtins(made.steps) == (
        {"do": "filter", "where": "Amount > 0", "of": "orders_", "make": "top5"},
        {"do": "union", "tables": ("top5", "orders"), "make": "both"},
        {"do": "write", "file": "{orders_}-all.xlsx"},
        {"do": "fill", "of": "both", "template": "letter", "file": "{letter}.docx"},
    )  # fmt: skip
    assert made.checks == (RowCountCheck("orders_"),)


def test_a_sheet_is_not_called_by_a_value() -> None:
    """A table that is called by a value and names its sheet is refused as a name is."""
    rows = {"do": "filter", "where": "Amount > 0", "make": "Ann"}

    found = learned(job(rows, {"do": "write", "file": "t.xlsx"}), read("t", "t.csv", SALES))

    assert [(each.place, each.value) for each in found.refusals] == [("steps[1].sheet", "'Ann'")]


def test_a_plain_name_is_replaced_at_the_beginning_alone() -> None:
    """Of hours.csv the result "hours-hours-by-project" keeps its second word."""
    asked = job({"do": "write", "file": "hours-hours-by-project.csv"}, inputs=("h",))

    found = learned(asked, read("h", "hours.csv", SALES))

    assert output(found) == WriteStep("{h}-hours-by-project.csv")


def two(steps: list[Any], one: InputFacts, other: InputFacts, request: str = "") -> Generalized:
    """A job over two files, for others."""
    inputs = [{"name": each.name, "file": each.file} for each in (one, other)]
    return learned(job_of({"inputs": inputs, "steps": steps}), one, other, request=request)


JOIN = {"do": "join", "other": "b", "on": {"Shop": "Store"}, "columns": ["Owner"]}


def test_inputs_are_told_apart_by_columns() -> None:
    """Two tables of which neither has the columns of the other one may be called anything."""
    other = read("b", "stores.csv", {"Store": "string", "Owner": "string"})
    steps = [{"do": "filter", "where": "Amount > 0"}, JOIN, REPORT]

    found = two(steps, read("a", "orders-1.csv", SALES), other)

    assert found.refusals == ()
    assert [each.file for each in found.job.inputs] == ["*.csv", "*.csv"]
    assert found.job.inputs[1].columns == {"Store": "text", "Owner": "text"}


def test_inputs_are_told_apart_by_names() -> None:
    """Two tables of the same columns are told apart by what they are called beside figures."""
    compare = {"do": "compare", "other": "b", "on": ["Shop"], "columns": ["Amount"]}

    found = two([compare, REPORT], read("a", "old-1.csv", SALES), read("b", "new-1.csv", SALES))
    unclear = two([compare, REPORT], read("a", "may.csv", SALES), read("b", "june.csv", SALES))

    assert [each.file for each in found.job.inputs] == ["old-*.csv", "new-*.csv"]
    assert found.refusals == ()
    assert {each.place for each in unclear.refusals} == {"inputs[0].file", "inputs[1].file"}
    assert "neither columns nor names tell may.csv and june.csv apart" in unclear.refusals[0].reason


def test_columns_of_a_union_are_those_of_all_its_tables() -> None:
    """A column that is used behind a union has to be there in each of its tables."""
    union = {"do": "union", "tables": ["a", "b"]}
    group = {"do": "group", "by": ["Shop"], "figures": [{"name": "N", "function": "count"}]}

    found = two([union, group, REPORT], read("a", "x-1.csv", SALES), read("b", "y-1.csv", SALES))

    assert [each.columns for each in found.job.inputs] == [{"Shop": "text"}, {"Shop": "text"}]


def test_derived_and_renamed_columns_are_none_of_the_input() -> None:
    """The shape has the columns of the file, not those that steps make or call otherwise."""
    steps = (
        {"do": "derive", "columns": {"Net": "Amount - Units", "Twice": "Net + Net"}},
        {"do": "select", "columns": ["Shop", "Net"], "rename": {"Shop": "Place"}},
        {"do": "group", "by": ["Place"], "figures": [
            {"name": "Sum", "function": "sum", "column": "Net"}]},
    )  # fmt: skip

    found = learned(job(*steps), read("t", "t.csv", SALES))

    assert found.job.inputs[0].columns == {"Amount": "number", "Units": "number", "Shop": "text"}


@pytest.mark.parametrize(
    ("columns", "request_text", "is_open"),
    [
        ({"Shop": "string", "Jan": "float", "Feb": "float", "Mar": "float"}, "sum it", False),
        ({"Shop": "string", "Jan": "float", "Feb": "float"}, "sum of Jan and Feb", True),
        ({"Shop": "string", "North": "float", "South": "float"}, "sum of all", False),
        ({"Shop": "string", "Amount": "float"}, "sum it", True),
    ],
)
def test_a_column_that_would_be_missed_is_not_allowed(
    columns: dict[str, ShapeType],
    request_text: str,
    is_open: bool,
) -> None:
    """Where columns are months, or all numbers are summed, no further one may be there."""
    numbers = [name for name, kind in columns.items() if kind == "float"]
    figures = [{"name": f"Sum {name}", "function": "sum", "column": name} for name in numbers]

    found = learned(job({"do": "group", "figures": figures}), read("t", "t.csv", columns),
                    request=request_text)  # fmt: skip

    assert found.job.inputs[0].others is is_open
    assert set(found.job.inputs[0].columns) == (
        set(columns) - {"Shop"} if is_open else set(columns)
    )


@pytest.mark.parametrize(
    ("expression", "is_open"),
    [("North + South", False), ("max_of(North, South)", False), ("North / South", True)],
)
def test_a_sum_of_columns_misses_none(expression: str, is_open: bool) -> None:
    """Where all columns of numbers are added to each other, a file with a further one is parked."""
    columns: dict[str, ShapeType] = {"Day": "date", "North": "float", "South": "float"}
    asked = job({"do": "derive", "columns": {"All": expression}})

    found = learned(asked, read("t", "t.csv", columns), request="all regions")

    assert found.job.inputs[0].others is is_open


def sheeted(sheet: str, request: str, *alike: str) -> Generalized:
    """A job on a sheet of a workbook, for others."""
    asked = job_of({"inputs": [{"name": "t", "file": "t.xlsx", "sheet": sheet}], "steps": [
        {"do": "filter", "where": "Amount > 0"}, REPORT]})  # fmt: skip
    return learned(asked, read("t", "t.xlsx", SALES, alike_sheets=alike), request=request)


def test_sheets_are_found_by_their_columns() -> None:
    """A sheet stays by its name if the request says it; else its columns tell it, or none."""
    assert sheeted("May", "sum of sheet May").job.inputs[0].sheet == "May"
    assert sheeted("May", "sum it").job.inputs[0].sheet is None
    refused = sheeted("May", "sum it", "June").refusals
    assert [(each.place, each.value) for each in refused] == [("inputs[0].sheet", "'May'")]
    assert "June" in refused[0].reason


def test_sheets_of_one_file_are_of_one_file_again() -> None:
    """Two inputs that are sheets of a file have one pattern; what tells them apart are the sheets.

    Two files of the same columns and of names that are alike are refused.
    """
    compare = {"do": "compare", "of": "a", "other": "b", "on": ["Shop"]}

    def found(other: str) -> Generalized:
        asked = job_of({"inputs": [
            {"name": "a", "file": "t-1.xlsx", "sheet": "Old"},
            {"name": "b", "file": other, "sheet": "New"},
        ], "steps": [compare, REPORT]})  # fmt: skip
        facts = (read("a", "t-1.xlsx", SALES, alike_sheets=("New",)),
                 read("b", other, SALES, alike_sheets=("Old",)))  # fmt: skip
        return learned(asked, *facts, request="compare sheet Old with New")

    same = found("t-1.xlsx")
    assert same.refusals == ()
    assert [(each.file, each.sheet) for each in same.job.inputs] == [
        ("*.xlsx", "Old"), ("*.xlsx", "New"),
    ]  # fmt: skip
    assert [each.place for each in found("t-2.xlsx").refusals] == [
        "inputs[0].file", "inputs[1].file",
    ]  # fmt: skip


DOUBT = TableDoubt("Amount", "some cells: error, read as empty")
ROWS = TableDoubt("", "Row 9 may sum others up: leave it out, or keep it?")
CURRENCIES = TableDoubt("Amount", "it is in several currencies", "Code", is_of_figures=True)


@pytest.mark.parametrize(
    ("doubt", "steps", "is_met"),
    [
        (DOUBT, [{"do": "filter", "where": "Amount > 0"}, REPORT], True),
        (DOUBT, [REPORT], True),
        (DOUBT, [{"do": "select", "columns": ["Shop"]}, REPORT], False),
        (ROWS, [{"do": "select", "columns": ["Shop"]}, REPORT], True),
        (ROWS, [{"do": "convert", "table": "t", "file": "t.xlsx"}], False),
        (CURRENCIES, [{"do": "filter", "where": "amount > 0"}, REPORT], True),
        (CURRENCIES, [{"do": "derive", "columns": {"Gross": "Amount * 2"}}, REPORT], True),
        (CURRENCIES, [REPORT], False),
        (CURRENCIES, [{"do": "filter", "where": "Amount > 0 and same(Code, 'EUR')"}, REPORT],
         False),
    ],
)  # fmt: skip
def test_doubtful_figures_stop_a_recipe(
    doubt: TableDoubt, steps: list[dict[str, Any]], is_met: bool
) -> None:
    """A value that is named or shown, a figure that no step tells apart; a job is only told."""
    names = ("Shop", "Amount", "Code")
    table = GivenTable(
        tuple(ShapeColumn(name, "float" if name == "Amount" else "string") for name in names),
        "t.csv", doubts=(doubt,),
    )  # fmt: skip
    asked = job(*steps)
    inputs = tuple(msgspec.structs.replace(each, doubts="refuse") for each in asked.inputs)
    recipe = msgspec.structs.replace(asked, inputs=inputs)

    assert column_doubts(asked, {"t": table}) == ()
    texts = (f'column "Amount" of t: {doubt.text}' if doubt.column else f"t: {doubt.text}",)
    assert column_doubts(recipe, {"t": table}) == (texts if is_met else ())


def test_checks_are_added() -> None:
    """Each table needs a row, and a category that is new is told; what the job checks stays."""
    split = {"do": "split", "by": "Shop", "file": "{t}.xlsx"}
    check = {"check": "unique", "table": "t", "columns": ["Shop"]}

    found = learned(job(split, checks=[check]), read("t", "t.csv", SALES))

    added: tuple[Check, ...] = (
        RowCountCheck("t", minimum=1), KnownValuesCheck("t", "Shop", ("Ann", "Bo"), "tell"),
    )  # fmt: skip
    assert found.job.checks[1:] == added
    assert generalize(found.job, "", LearnedFacts((read("t", "t.csv", SALES),))).job == found.job


def test_widths_and_titles_of_the_data_are_left_out() -> None:
    """A width is made of what stood there and goes; so does a title that names a value."""
    write = {"do": "write", "file": "t.xlsx", "form": {"widths": {"Shop": 31}}}

    found = learned(job(write, title="Sales of Ann"), read("t", "t.csv", SALES))

    assert output(found) == WriteStep("{t}.xlsx")
    assert found.job.title == ""
    assert found.notes == ("widths of columns are left to what stands in them",)


def test_texts_are_replaced_in_files_of_the_pattern() -> None:
    """A replacement is made in files that are called alike, a copy by its input's name."""
    replace = {"do": "replace", "files": ["letter-2024-05.docx"], "search": "Acme",
               "replacement": "Beta", "file": "letter-2024-05-new.docx"}  # fmt: skip
    asked = job_of({"steps": [replace], "inputs": [
        {"name": "doc", "file": "letter-2024-05.docx", "kind": "file"}]})  # fmt: skip

    found = learned(asked, InputFacts("doc", "letter-2024-05.docx", kind="file"),
                    request="replace Acme with Beta in letter-2024-05.docx")  # fmt: skip

    assert found.refusals == ()
    assert output(found) == ReplaceStep(
        ("*.docx",), "Acme", "Beta", file="{doc}-new.docx"
    )  # fmt: skip


def test_a_recipe_tells_its_constants_and_assumptions() -> None:
    """Each literal that stays is a constant with its place; how a file is read is assumed."""
    asked = job(
        {"do": "filter", "where": "same(Shop, 'ann') and Amount > 1000"}, REPORT,
        assumptions=["amounts are in euros"],
    )  # fmt: skip
    asked = Job(
        (Input("t", "t.csv", read_as=ReadAs(decimal=",")),), asked.steps,
        assumptions=asked.assumptions,
    )  # fmt: skip
    request = "rows of Ann over 1,000"
    found = learned(asked, read("t", "t.csv", SALES), request=request)

    recipe = recipe_of("of-ann", request, [found], [LearnedFile("t.csv", "0" * 64)], ["net of tax"])

    assert [(each.place, each.value, each.why) for each in recipe.constants] == [
        ("jobs[0].steps[0].where", "'ann'", 'the request says "ann"'),
        ("jobs[0].steps[0].where", "1000", "the request says 1000"),
    ]
    assert recipe.assumptions[0] == "amounts are in euros"
    assert recipe.assumptions[-1] == "net of tax"
    assert [each for each in recipe.assumptions if "decimal" in each]
    assert recipe_faults(recipe) == ()


def test_what_is_refused_makes_no_recipe() -> None:
    """A recipe is not made of a job that is refused; the error has place and reason."""
    found = learned(job({"do": "filter", "where": "Shop = 'Bo'"}), read("t", "t.csv", SALES))

    with pytest.raises(ValidationFailed, match=r'jobs\[0\]\.steps\[0\]\.where: "Bo" is a value of'):
        recipe_of("bo", "total by shop", [found])
    with pytest.raises(ValidationFailed, match="name"):
        recipe_of("No Name", "total by shop", [learned(job(REPORT), read("t", "t.csv", SALES))])
    with pytest.raises(ValidationFailed, match='nothing is known of input "t"'):
        learned(job(REPORT))


def test_a_literal_that_a_person_adds_has_to_be_a_constant() -> None:
    """A recipe that was changed by hand has faults until its constants say why."""
    found = learned(job({"do": "filter", "where": "Amount > 0"}, REPORT), read("t", "t.csv", SALES))
    recipe = recipe_of("r", "rows above 0", [found])
    changed = recipe_of("r", "rows above 0", [Generalized(
        job({"do": "filter", "where": "Amount > 17 and Shop = 'Ann'"}, REPORT))])  # fmt: skip

    assert recipe_faults(recipe) == ()
    assert [(each.place, each.value) for each in recipe_faults(changed)] == [
        ("jobs[0].steps[0].where", "17"), ("jobs[0].steps[0].where", "'Ann'"),
    ]  # fmt: skip
    assert isinstance(recipe.jobs[0].steps[-1], ReportStep)
