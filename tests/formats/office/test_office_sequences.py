"""Operations one after the other, beside a list of texts: each sees what the ones before made."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from format_cases import OfficeCase, Operation, Step, applied, names
from kbd.errors import ValidationFailed
from kbd.formats import Source
from office_formats import OFFICE

TEXTS = st.text("abc ", max_size=4)
PLACES = st.integers(0, 5)
STEPS = st.lists(
    st.one_of(
        st.builds(Step, st.just("append"), text=TEXTS),
        st.builds(Step, st.just("insert"), PLACES, text=TEXTS),
        st.builds(Step, st.just("set"), PLACES, text=TEXTS),
        st.builds(Step, st.just("delete"), PLACES, st.integers(1, 2)),
        st.builds(Step, st.just("move"), PLACES, PLACES),
        st.builds(
            Step, st.just("replace"), text=TEXTS, search=st.text("abc", min_size=1, max_size=2)
        ),
    ),
    max_size=8,
)


OVER_ANOTHER = [
    Step("append", text="c"), Step("set", 2, text="d"), Step("delete", 2), Step("append", text="e"),
]  # fmt: skip
"""Each undoes what the one before did: in another order something else comes out."""


def stepped(texts: list[str], step: Step) -> bool:
    """Do a step in a list of texts; return whether there was one to do."""
    match step:
        case Step("append"):
            texts.append(step.text)
        case Step("insert", place) if place <= len(texts):
            texts.insert(place, step.text)
        case Step("set", place) if place < len(texts):
            texts[place] = step.text
        case Step("delete", place, count) if place + count <= len(texts) and count < len(texts):
            del texts[place : place + count]
        case Step("move", place, to) if max(place, to) < len(texts):
            texts.insert(to, texts.pop(place))
        case Step("replace"):
            texts[:] = [each.replace(step.search, step.text) for each in texts]
        case _:
            return False
    return True


def planned(case: OfficeCase, steps: list[Step]) -> tuple[list[Operation], list[str]]:
    """Return the operations for those steps that a format has, and the texts that come of them."""
    texts, found = ["a", "b c"], []
    for step in steps:
        operation = case.step(step, texts)
        if operation is not None and stepped(texts, step):
            found.append(operation)
    return found, texts


@pytest.mark.full
@pytest.mark.parametrize("case", OFFICE, ids=names)
@settings(max_examples=20)
@given(steps=STEPS)
@example(steps=OVER_ANOTHER)
def test_a_sequence_does_what_its_steps_do(
    tmp_path_factory: pytest.TempPathFactory, case: OfficeCase, steps: list[Step]
) -> None:
    """In one call, in several calls, and in a list of texts the same comes out; or nothing does."""
    folder, suffix = tmp_path_factory.mktemp("sequence"), case.suffix
    path, once = folder / f"a{suffix}", folder / f"once{suffix}"
    operations, texts = planned(case, steps)
    applied(case, None, path, *case.begin)
    source = Source(path, path.name)
    found = applied(case, source, once, *operations)
    assert (found.applied, len(found.changed)) == (len(operations), len(operations))
    assert case.texts_of(once) == texts

    with pytest.raises(ValidationFailed):
        applied(case, source, folder / "never", *operations, case.impossible)
    assert not (folder / "never").exists()

    for count, operation in enumerate(operations):
        target = folder / f"{count}{suffix}"
        applied(case, Source(path, path.name), target, operation)
        path = target
    assert case.texts_of(path) == texts
