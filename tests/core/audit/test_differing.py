"""Where two results differ: by fields, in the order of what was recorded."""

import msgspec
import pytest

from kbd.core.audit.differences import (
    MAX_FIELDS,
    diff_outcomes,
    differing_parts,
)
from kbd.core.audit.recorded_calls import CallOutcome
from kbd.events.drafts import FileChanged
from kbd.types import BlobHash, FileName


def done(value: object, shown: str | None = None) -> CallOutcome:
    """What came of a call that returned a value."""
    text = msgspec.json.encode(value).decode()
    return CallOutcome(
        refused=False, ok=True, error_code=None, text=text, shown=text if shown is None else shown
    )


def refusal(shown: str) -> CallOutcome:
    """What came of a call that was refused."""
    return CallOutcome(refused=True, ok=False, error_code="NOT_FOUND", shown=shown)


def told(recorded: object, replayed: object) -> list[tuple[str, str, str]]:
    """The fields in which two results differ."""
    found = diff_outcomes(done(recorded), done(replayed))
    return [(field.path, field.recorded, field.replayed) for field in found]


@pytest.mark.parametrize(
    ("recorded", "replayed", "fields"),
    [
        ({"rows": [[1, 2], [3, 4]]}, {"rows": [[1, 2], [3, 5]]}, [("rows[1][1]", "4", "5")]),
        ({"a": 1}, {"a": 1.0}, [("a", "1", "1.0")]),
        ({"a": 1}, {"a": True}, [("a", "1", "true")]),
        ({"a": None}, {}, [("a", "null", "")]),
        ({}, {"a": {"b": 2}}, [("a", "", '{"b":2}')]),
        ([1], [1, 2], [("[1]", "", "2")]),
        ("x", "y", [("result", '"x"', '"y"')]),
        ({"a b": {"c": 1}}, {"a b": {"c": 2}}, [('["a b"].c', "1", "2")]),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1},
         [("result (order of names)", '["a","b"]', '["b","a"]')]),
        ({"a": [1]}, {"a": {"b": 1}}, [("a", "[1]", '{"b":1}')]),
    ],
)  # fmt: skip
def test_the_field_is_named(
    recorded: object, replayed: object, fields: list[tuple[str, str, str]]
) -> None:
    """By names and places, with both values as JSON; what is missing is empty."""
    assert told(recorded, replayed) == fields


def test_long_texts_are_cut_to_where_they_differ() -> None:
    """Line and character are named, and what is told begins shortly before."""
    lines = [f"line {number}\n" for number in range(1000)]
    other = [*lines]
    other[700] = "line seven hundred\n"
    ((path, recorded, replayed),) = told({"text": "".join(lines)}, {"text": "".join(other)})

    assert path == "text (line 701, character 6)"
    assert recorded.startswith('"…')
    assert "line 700" in recorded
    assert "line seven hundred" in replayed
    assert max(len(recorded), len(replayed)) <= 300


def test_no_more_fields_are_told_than_anybody_reads() -> None:
    """Of a thousand differing cells the first are told, each cut."""
    found = told([[n, "x" * 2000] for n in range(1000)], [[-n, "y"] for n in range(1000)])

    assert len(found) == MAX_FIELDS
    assert found[0] == ("[0][1] (line 1, character 1)", '"' + "x" * 298 + "…", '"y"')


def test_the_same_values_written_in_another_way_differ() -> None:
    """A result is compared to the byte."""
    one = CallOutcome(refused=False, ok=True, error_code=None, text="1e2", shown="")
    other = CallOutcome(refused=False, ok=True, error_code=None, text="100.0", shown="")

    assert differing_parts(one, other) == ("result",)
    assert [field.path for field in diff_outcomes(one, other)] == ["result (line 1, character 2)"]


def test_a_receipt_is_told_beside_its_result() -> None:
    """Where the model saw all of a result it is not told twice; a receipt is."""
    one, other = done({"a": 1}, '{"receipt":1}'), done({"a": 2}, '{"receipt":2}')

    assert differing_parts(one, other) == ("result", "shown")
    assert [field.path for field in diff_outcomes(one, other)] == ["a", "shown.receipt"]
    assert [field.path for field in diff_outcomes(done({"a": 1}), done({"a": 2}))] == ["a"]


def test_refusals_are_compared_by_their_words() -> None:
    """Two refusals; and one where a call is done now."""
    one, other = refusal("Error: a"), refusal("Error: b")

    assert differing_parts(one, one) == ()
    assert differing_parts(one, other) == ("refusal",)
    assert [field.path for field in diff_outcomes(one, other)] == ["shown"]
    assert differing_parts(one, done(1)) == ("outcome",)
    assert diff_outcomes(one, done(1))[0].replayed == '"done"'


def test_an_error_may_be_written_as_a_sentence_or_as_a_clause() -> None:
    """What kbd 0.1 recorded says the same as today's; another word, or a result, does not."""
    sentences = refusal("Error: NOT_FOUND: There is no a.csv. Add it first.")

    clauses = refusal("Error: NOT_FOUND: there is no a.csv; add it first")
    assert differing_parts(sentences, clauses) == ()
    shorter = refusal("Error: NOT_FOUND: there is no a.csv")
    assert differing_parts(sentences, shorter) == ("refusal",)
    assert differing_parts(done("One. Two."), done("one; two")) == ("result", "shown")


def test_what_is_said_of_files_is_compared() -> None:
    """A warning for the review, a file more, an order: all differ."""

    def wrote(*changes: FileChanged) -> CallOutcome:
        return msgspec.structs.replace(done(1), changes=changes)

    a = FileChanged(FileName("a.b"), None, BlobHash("1" * 64), 1)
    warned = msgspec.structs.replace(a, warnings=("https://example.org",))
    b = msgspec.structs.replace(a, name=FileName("b"))

    assert differing_parts(wrote(a), wrote(a)) == ()
    assert differing_parts(wrote(a), wrote(warned)) == ("files",)
    (field,) = diff_outcomes(wrote(a), wrote(warned))
    assert field.path == 'files["a.b"].warnings[0]'
    assert differing_parts(wrote(a), wrote(a, b)) == ("files",)
    assert differing_parts(wrote(a, b), wrote(b, a)) == ("files",)


def test_what_the_log_has_blotted_out_is_taken_for_equal() -> None:
    """A proof knows no key: where `***` is recorded anything may stand, and nothing else may."""
    key = "sk-canary-0123"
    recorded = done({"text": "a *** b *** c"})

    assert differing_parts(recorded, done({"text": f"a {key} b {key} c"})) == ()
    assert differing_parts(recorded, recorded) == ()
    for other in (f"a {key} b {key} d", f"a {key} c", f"x {key} b {key} c", "a  b  c"):
        assert differing_parts(recorded, done({"text": other})) == ("result", "shown")
    assert differing_parts(refusal("no ***"), refusal(f"no {key}")) == ()
