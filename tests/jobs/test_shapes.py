"""Shapes of jobs: which columns each step makes, and what is said of a step that cannot work."""

from collections.abc import Mapping
from typing import Any

import pytest

from job_tables import job
from kbd.errors import ValidationFailed
from kbd.jobs.columns import ShapeColumn, ShapeType
from kbd.jobs.documents import job_of
from kbd.jobs.records import Input
from kbd.jobs.shapes import GivenTable, misfits, shapes_of, step_label


def table(file: str, **columns: ShapeType) -> GivenTable:
    """A table by its columns' types; `_` in a name is a blank."""
    return GivenTable(
        tuple(ShapeColumn(name.replace("_", " "), kind) for name, kind in columns.items()), file
    )


GIVEN = {
    "sales": table("sales.csv", Region="string", Amount="float", Count="integer", Day="date",
                   At="datetime", Paid="boolean"),
    "people": table("people.csv", Area="string", Boss="string", Number="integer", Count="integer"),
}  # fmt: skip


def shape(*steps: Mapping[str, Any]) -> dict[str, str]:
    """The columns of the table that the last step makes, with their types."""
    found = shapes_of(job(*steps, inputs=list(GIVEN)), GIVEN)
    assert found.made[-1] is not None
    return {each.name: each.type for each in found.tables[found.made[-1]].columns}


COUNT = {"name": "n", "function": "count"}


@pytest.mark.parametrize(
    ("step", "columns"),
    [
        ({"do": "filter", "where": "Paid"}, "Region Amount Count Day At Paid"),
        ({"do": "select", "columns": ["day", "Region"], "rename": {"DAY": "Date"}}, "Date Region"),
        ({"do": "select", "without": ["Region", "At", "Paid"]}, "Amount Count Day"),
        ({"do": "derive", "columns": {"amount": "text(Amount)", "New": "year(Day)"}},
         "Region Amount Count Day At Paid New"),
        ({"do": "group", "by": ["Day"], "figures": [COUNT]}, "Day n"),
        ({"do": "join", "other": "people", "on": {"Region": "Area"}, "columns": ["Boss"]},
         "Region Amount Count Day At Paid Boss"),
        ({"do": "join", "other": "people", "on": {"Region": "Area"}, "kind": "missing"},
         "Region Amount Count Day At Paid"),
        ({"do": "share", "column": "Count", "name": "Part"},
         "Region Amount Count Day At Paid Part"),
        ({"do": "compare", "other": "people", "on": ["Count"]}, "Count Change"),
        ({"do": "union", "tables": ["people", "sales"], "missing": "empty", "origin": "File"},
         "Area Boss Number Count Region Amount Day At Paid File"),
    ],
)  # fmt: skip
def test_steps_make_these_columns(step: Mapping[str, Any], columns: str) -> None:
    """Each step makes just the columns that it says, in their order."""
    assert columns.split() == list(shape(step))


@pytest.mark.parametrize(
    ("expression", "kind"),
    [
        ("Count + 1", "integer"), ("Count / 2", "float"), ("Amount + Count", "float"),
        ("Day", "date"), ("add_days(At, 1)", "datetime"), ("Paid", "boolean"), ("null", "string"),
        ("Region || Count", "string"), ("if(Paid, Day, At)", "datetime"),
        ("coalesce(Count, Amount)", "float"), ("round(Amount)", "integer"),
        ("round(Amount, 1)", "float"), ("if(Paid, null, Count)", "integer"),
    ],
)  # fmt: skip
def test_derived_columns_have_the_type_of_their_expression(expression: str, kind: str) -> None:
    """The type of a column is what its expression gives."""
    assert kind == shape({"do": "derive", "columns": {"x": expression}})["x"]


@pytest.mark.parametrize(
    ("function", "column", "kind"),
    [
        ("sum", "Count", "integer"), ("sum", "Amount", "float"), ("average", "Count", "float"),
        ("median", "Count", "float"), ("count", "Region", "integer"),
        ("distinct", "Day", "integer"), ("minimum", "Day", "date"), ("maximum", "At", "datetime"),
        ("minimum", "Region", "string"), ("maximum", "Count", "integer"),
    ],
)  # fmt: skip
def test_figures_have_the_type_of_what_they_are_made_of(
    function: str, column: str, kind: str
) -> None:
    """Counts are whole, averages are not, the least value is one of the column."""
    figure = {"name": "x", "function": function, "column": column}

    assert kind == shape({"do": "group", "figures": [figure]})["x"]


@pytest.mark.parametrize(
    ("step", "said"),
    [
        ({"do": "filter", "where": "Amont > 1"},
         ('step 1 (filter): character 1 of the expression, at \'Amont > 1\': there is no column'
         ' "Amont"; did you mean "Amount"?')),
        ({"do": "filter", "where": "Amount"}, "(filter): the condition is a number, not true or"),
        ({"do": "sort", "by": [{"column": "Regoin"}]},
         'step 1 (sort): there is no column "Regoin"; did you mean "Region"?'),
        ({"do": "sort", "by": [{"column": "Day"}, {"column": "day"}]}, '"Day" is named twice'),
        ({"do": "select", "columns": ["Day"], "without": ["At"]}, "stay or those that go, not"),
        ({"do": "select", "columns": ["Day", "At"], "rename": {"Day": "at"}},
         'two columns would be called "At"'),
        ({"do": "select", "columns": ["Day"], "rename": {"At": "x"}}, "is not there any more"),
        ({"do": "select", "columns": ["Day", "day"]}, 'two columns would be called "Day"'),
        ({"do": "derive", "columns": {"x": "Region + 1"}},
         'step 1 (derive): column "x": character 8 of the expression, at \'+ 1\': a text cannot'),
        ({"do": "derive", "columns": {"x": "1", "X": "2"}}, 'column "X" is derived twice'),
        ({"do": "group", "figures": [{"name": "x", "function": "sum", "column": "Region"}]},
         '(group): column "Region" is a text, of which there is no sum; derive a column with'),
        ({"do": "group", "figures": [{"name": "x", "function": "average", "column": "Day"}]},
         'column "Day" is a date, of which there is no average'),
        ({"do": "group", "figures": [{"name": "x", "function": "maximum", "column": "Paid"}]},
         'column "Paid" is true or false, of which there is no maximum'),
        ({"do": "group", "figures": [{"name": "x", "function": "sum"}]}, "name the column of the"),
        ({"do": "group", "by": ["Day"], "figures": [{"name": "day", "function": "count"}]},
         'two columns would be called "day"'),
        ({"do": "pivot", "rows": ["Day"], "column": "Day", "figure": COUNT},
         '"Day" is both of the rows and of the columns'),
        ({"do": "join", "other": "people", "on": {"Amount": "Area"}},
         'column "Amount" is a number, and "Area" of people is a text; derive a column with'),
        ({"do": "join", "other": "people", "on": {"Region": "Aera"}}, 'did you mean "Area"?'),
        ({"do": "join", "other": "people", "on": {"Region": "Area"}},
         '(join): both tables have "Count"; name the columns that are added'),
        ({"do": "join", "other": "poeple", "on": {"Region": "Area"}},
         'there is no table "poeple"; did you mean "people"?'),
        ({"do": "union", "tables": ["sales", "people"]},
         'table sales has no "Area", "Boss", "Number"; with missing = "empty"'),
        ({"do": "union", "tables": ["sales", "sales"]}, 'table "sales" is there twice'),
        ({"do": "share", "column": "Region", "name": "x"}, "of which there is no share"),
        ({"do": "running", "column": "Day", "name": "x", "by": [{"column": "Day"}]},
         "of which there is no running total"),
        ({"do": "share", "column": "Count", "name": "Amount"}, 'would be called "Amount"'),
        ({"do": "compare", "other": "people", "on": ["Region"]}, 'there is no column "Region"'),
        ({"do": "compare", "of": "sales", "other": "sales", "on": ["Day"]},
         'table "sales" is compared with itself'),
        ({"do": "filter", "where": "Paid", "make": "people"},
         'there is a table "people" already'),
        ({"do": "filter", "where": "Paid", "make": "Sales"}, 'there is a table "Sales" already'),
        ({"do": "filter", "where": "Paid", "of": "later"},
         'table "later" is made later, in step 2'),
        ({"do": "filter", "where": "Paid", "of": "template"},
         'input "template" is a file that is read whole, and no table'),
    ],
)  # fmt: skip
def test_steps_that_cannot_work_are_refused(step: Mapping[str, Any], said: str) -> None:
    """The message has the step's number and kind, what is wrong, and the name that is near."""
    inputs = [
        {"name": "sales", "file": "sales.csv"}, {"name": "people", "file": "people.csv"},
        {"name": "template", "file": "t.docx", "kind": "file"},
    ]  # fmt: skip
    later = {"do": "filter", "where": "Count > 0", "of": "sales", "make": "later"}
    with pytest.raises(ValidationFailed) as caught:
        shapes_of(job_of({"inputs": inputs, "steps": [step, later]}), GIVEN)

    assert said in caught.value.message
    assert caught.value.message.startswith("step 1 (")


def test_tables_of_two_types_are_not_put_below_each_other() -> None:
    """A column that is a text in one table and a number in the other is told with both."""
    given = {"a": table("a.csv", x="integer"), "b": table("b.csv", X="string")}
    with pytest.raises(ValidationFailed, match='column "X" of b is a text, and a number before'):
        shapes_of(job({"do": "union", "tables": ["a", "b"]}, inputs=["a", "b"]), given)
    given["b"] = table("b.csv", X="float")
    found = shapes_of(job({"do": "union", "tables": ["a", "b"]}, inputs=["a", "b"]), given)
    assert (ShapeColumn("x", "float"),) == found.tables["step 1"].columns


def test_a_table_behind_a_pivot_is_open_until_its_values_are_known() -> None:
    """A column that a pivot may make is let through, and judged once the values are there."""
    asked = job(
        {"do": "pivot", "rows": ["Day"], "column": "Region", "figure": COUNT},
        {"do": "derive", "columns": {"Both": "North + South"}},
        inputs=["sales"],
    )
    found = shapes_of(asked, GIVEN)

    assert found.tables["step 2"].is_open
    assert found.tables["step 2"].columns[-1].type == "any"
    with pytest.raises(ValidationFailed, match=r'step 2 \(derive\): .* no column "South"'):
        shapes_of(asked, GIVEN, {1: ["North", None]})
    known = shapes_of(asked, GIVEN, {1: ["North", "South", None]})
    assert [column.name for column in known.tables["step 2"].columns] == [
        "Day",
        "North",
        "South",
        "(empty)",
        "Both",
    ]


def test_rows_are_from_the_file_that_they_are_from() -> None:
    """A table that is made of one file's rows tells that file; of several it is asked earlier."""
    steps = [
        {"do": "filter", "where": "Count > 0", "of": "people", "make": "some"},
        {"do": "union", "tables": ["some", "people"], "origin": "File", "make": "both"},
        {"do": "union", "tables": ["sales", "both"], "missing": "empty", "make": "all"},
    ]
    found = shapes_of(job(*steps, inputs=["sales", "people"]), GIVEN)

    assert found.files["both"] == "people.csv"
    assert found.files["all"] is None
    again = {"do": "union", "tables": ["all", "sales"], "missing": "empty", "origin": "From"}
    with pytest.raises(ValidationFailed, match='the rows of "all" are from several files'):
        shapes_of(job(*steps, again, inputs=["sales", "people"]), GIVEN)


def test_inputs_have_names_of_their_own_and_tables() -> None:
    """Two inputs of one name, or one without a table, are refused."""
    step = {"do": "filter", "where": "Paid"}
    with pytest.raises(ValidationFailed, match='two inputs are called "Sales"'):
        shapes_of(job(step, inputs=["sales", "Sales"]), {**GIVEN, "Sales": GIVEN["sales"]})
    with pytest.raises(ValidationFailed, match='input "other" has no table'):
        shapes_of(job(step, inputs=["other"]), GIVEN)


def test_a_job_without_tables_reads_none() -> None:
    """A step that needs a table says so where there are files alone."""
    asked = {
        "inputs": [{"name": "f", "file": "f.docx", "kind": "file"}],
        "steps": [{"do": "filter", "where": "a"}],
    }
    with pytest.raises(ValidationFailed, match="there is no table that it may read"):
        shapes_of(job_of(asked), {})


def test_labels_of_steps_are_no_names_of_jobs() -> None:
    """What a step without a name makes can be called by no job."""
    assert " " in step_label(1)


def test_misfits_tell_what_is_missing_new_or_of_another_type() -> None:
    """A table fits an input if its columns are there and hold what is said; the rest is told."""
    asked = Input(
        "s", "s.csv",
        columns={"region": "text", "Amuont": "number", "Day": "number", "At": "datetime",
                 "Count": "any", "Paid": "time"},
        others=False,
    )  # fmt: skip

    assert misfits(asked, GIVEN["sales"]) == (
        'there is no column "Amuont"; did you mean "Amount"?',
        'column "Day" holds a date, and number is needed',
        'column "Paid" holds true or false, and time is needed',
        'column "Amount" is new',
    )
    assert misfits(Input("s", "s.csv", columns={"REGION": "text"}), GIVEN["sales"]) == ()
    days = Input("s", "s.csv", columns={"Day": "datetime", "Region": "time"})
    assert misfits(days, GIVEN["sales"]) == ()
