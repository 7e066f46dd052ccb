"""Documents of jobs: they come back as they were, say what is wrong with them, and have a hash."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbd.errors import ValidationFailed
from kbd.formats import ChartForm, SheetForm
from kbd.jobs.documents import canonical_json, decode_job, encode_job_toml, job_hash
from kbd.jobs.records import (
    DeriveStep,
    Figure,
    FillStep,
    FilterStep,
    GroupStep,
    Input,
    Job,
    JoinStep,
    KnownValuesCheck,
    ReplaceStep,
    RowCountCheck,
    SortKey,
    SortStep,
    Step,
    SumsAgreeCheck,
    WriteStep,
)
from kbd.types import ReadAs

TEXT = st.text(st.characters(codec="utf-8"), min_size=1, max_size=10)
LABEL = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,5}", fullmatch=True)
SOME = st.lists(TEXT, min_size=1, max_size=3).map(tuple)
STEPS: st.SearchStrategy[Step] = st.one_of(
    st.builds(FilterStep, TEXT, st.none() | LABEL, st.none() | LABEL),
    st.builds(SortStep, st.lists(st.builds(SortKey, TEXT, st.booleans()), min_size=1).map(tuple)),
    st.builds(DeriveStep, st.dictionaries(TEXT, TEXT, min_size=1, max_size=3)),
    st.builds(GroupStep, st.tuples(st.builds(Figure, TEXT, st.just("sum"), TEXT)), SOME),
    st.builds(JoinStep, LABEL, st.dictionaries(TEXT, TEXT, min_size=1, max_size=2)),
    st.builds(ReplaceStep, SOME, TEXT, st.text(max_size=3), st.booleans()),
    st.builds(FillStep, LABEL, TEXT, st.dictionaries(TEXT, TEXT, max_size=2)),
    st.builds(
        WriteStep, TEXT, st.none() | TEXT,
        st.builds(
            SheetForm, TEXT, widths=st.dictionaries(TEXT, st.floats(0.5, 255), max_size=2),
            chart=st.none() | st.builds(ChartForm, st.just("bar"), TEXT, SOME),
        ),
    ),
)  # fmt: skip
CHECKS = st.one_of(
    st.builds(KnownValuesCheck, LABEL, TEXT, SOME, st.sampled_from(["stop", "tell"])),
    st.builds(SumsAgreeCheck, LABEL, TEXT, LABEL, TEXT, st.floats(0, 1e9)),
    st.builds(RowCountCheck, LABEL, st.integers(0, 2**60), st.none() | st.integers(0, 9)),
)
JOBS = st.builds(
    Job,
    st.lists(
        st.builds(
            Input, LABEL, TEXT, columns=st.dictionaries(TEXT, st.just("text"), max_size=2),
            read_as=st.builds(ReadAs, header_row=st.none() | st.integers(0, 9)),
        ),
        min_size=1, max_size=2,
    ).map(tuple),
    st.lists(STEPS, min_size=1, max_size=4).map(tuple),
    title=st.text(st.characters(codec="utf-8"), max_size=10),
    checks=st.lists(CHECKS, max_size=2).map(tuple),
    assumptions=SOME,
    constants=st.dictionaries(TEXT, TEXT, max_size=2),
)  # fmt: skip


@given(JOBS)
def test_jobs_come_back_from_their_documents(job: Job) -> None:
    """A job in TOML and in JSON is that job, its columns in their order, and has one hash."""
    toml, plain = encode_job_toml(job), canonical_json(job).decode()

    for text in (toml, plain):
        again = decode_job(text)
        assert job == again
        # Equal are also dictionaries in another order; the hash is not.
        assert job_hash(job) == job_hash(again)
    assert len(job_hash(job)) == 64


SIMPLE = """
[[inputs]]
name = "sales"
file = "sales.csv"

[[steps]]
do = "filter"
where = "Amount > 0"
"""


def test_defaults_are_not_written_and_change_no_hash() -> None:
    """A field with its default is the same as one that is not there."""
    job = decode_job(SIMPLE)
    said = decode_job(SIMPLE.replace('"sales.csv"', '"sales.csv"\nothers = true\nkind = "table"'))

    assert job_hash(job) == job_hash(said)
    assert encode_job_toml(said) == f"version = 1\n{SIMPLE}"


def test_the_order_of_derived_columns_is_a_part_of_the_job() -> None:
    """What is worked out one after the other is another job in another order."""
    steps = [DeriveStep({"a": "b + 1", "b": "2"}), DeriveStep({"b": "2", "a": "b + 1"})]
    one, other = (Job((Input("s", "s.csv"),), (step,)) for step in steps)

    assert job_hash(one) != job_hash(other)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "inputs"),
        ("{", "the job is no JSON: "),
        ("[[inputs]\n", "the job is no TOML: "),
        ("a = 1\na = 2", "the job is no TOML: "),
        ("a = " + "[" * 100_000, "the job is no TOML: it is nested too deep"),
        ('{"a":' * 100_000, "the job is no JSON: it is nested too deep"),
        ("x" * 1_000_001, "the job has more than 1000000 characters"),
        (SIMPLE.replace('"filter"', '"fliter"'), "did you mean `filter`?"),
        (SIMPLE.replace("where", "were"), "did you mean `where`?"),
        (SIMPLE.replace('"Amount > 0"', "5"), "steps[0].where"),
        (SIMPLE.replace('"sales"', '"my sales"'), "inputs[0].name"),
        ("version = 2\nnew = 1" + SIMPLE, "version: the job is of version 2 of the language"),
        ("version = 0" + SIMPLE, "version"),
        ("a = 1" + SIMPLE, "`a`"),
    ],
)
def test_faults_have_their_path(text: str, said: str) -> None:
    """A document that is no job says where and why, however it is broken."""
    with pytest.raises(ValidationFailed) as caught:
        decode_job(text)

    assert said in caught.value.message


@given(st.binary(max_size=60).map(lambda data: data.decode("utf-8", "replace")))
def test_any_text_is_a_job_or_an_error(text: str) -> None:
    """No text whatever makes anything but an error of its own."""
    for each in (text, "{" + text, SIMPLE + text):
        try:
            found: Any = decode_job(each)
        except ValidationFailed:
            continue
        assert msgspec.json.encode(found)
