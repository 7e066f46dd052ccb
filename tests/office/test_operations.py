"""Ordered operations: a table applies them one after the other, and knows all of a format's."""

import msgspec
import pytest

from kbd.errors import ValidationFailed
from kbd.office.operations import OperationTable, apply_in_order


class Add(msgspec.Struct, frozen=True):
    """Adds to the end of a text."""

    text: str


class Cut(msgspec.Struct, frozen=True):
    """Cuts a text off; it must be there."""

    text: str


class Odd(msgspec.Struct, frozen=True):
    """Is in no table."""


class Text:
    """A text that operations change."""

    def __init__(self) -> None:
        self.text = ""
        self.table: OperationTable = {Add: self.add, Cut: self.cut}

    def add(self, operation: Add) -> str:
        """Add a text."""
        self.text += operation.text
        return f"added {operation.text}"

    def cut(self, operation: Cut) -> str:
        """Cut a text off."""
        if not self.text.endswith(operation.text):
            raise ValidationFailed(f"{operation.text} is not there")
        self.text = self.text.removesuffix(operation.text)
        return f"cut {operation.text}"


def test_operations_see_what_the_ones_before_made() -> None:
    """Operations are applied in order, and each says what it changed."""
    edit = Text()
    prepared: list[msgspec.Struct] = []
    operations = (Add("a"), Add("b"), Cut("b"), Add("c"))
    changed = apply_in_order(operations, edit.table, prepared.append)

    assert edit.text == "ac"
    assert changed == ("added a", "added b", "cut b", "added c")
    assert prepared == list(operations)


def test_the_first_that_cannot_be_applied_ends_it() -> None:
    """Nothing after a refused operation is applied, and nothing is prepared for it."""
    edit = Text()
    prepared: list[msgspec.Struct] = []

    with pytest.raises(ValidationFailed, match="x is not there"):
        apply_in_order((Add("a"), Cut("x"), Add("b")), edit.table, prepared.append)
    assert edit.text == "a"
    with pytest.raises(ValidationFailed, match="Odd is not built yet"):
        apply_in_order((Odd(),), edit.table, prepared.append)
    assert prepared == [Add("a"), Cut("x")]
