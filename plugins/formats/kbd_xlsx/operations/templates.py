"""Operations on templates."""

from typing import Annotated, Literal

from msgspec import Meta

from kbd.formats import FilePath
from kbd_xlsx.operations.base import OperationPart, Scalar, ValueType, XlsxOperation

__all__ = ["BookTemplateList", "BookTemplatePicture", "BookTemplateValue", "FillBookTemplate"]

_Name = Annotated[str, Meta(min_length=1, max_length=200)]


class BookTemplateValue(OperationPart, frozen=True):
    """What a placeholder is filled with.

    Args:
        name: "client" of {{client}}.
        value: In a cell that is nothing else a number is a number; text stays text, whatever it
            begins with.
        type: What the value is; date and datetime are ISO texts.
    """

    name: _Name
    value: Scalar
    type: ValueType | None = None


class BookTemplateList(OperationPart, frozen=True):
    """What a row is repeated for.

    Args:
        name: "items" of {{items.price}}.
        columns: "price" of {{items.price}}, and so on.
        rows: A value for each column.
        types: What the values of each column are, as of `values`; null, or none at all, leaves it
            to the values.
    """

    name: _Name
    columns: Annotated[tuple[_Name, ...], Meta(min_length=1, max_length=200)]
    rows: Annotated[tuple[tuple[Scalar, ...], ...], Meta(max_length=5_000)]
    types: Annotated[tuple[ValueType | None, ...], Meta(max_length=200)] = ()


class BookTemplatePicture(OperationPart, frozen=True):
    """A picture in the place of a placeholder that is all of its cell."""

    name: _Name
    image: FilePath


class FillBookTemplate(XlsxOperation, frozen=True, tag="fill_template"):
    """Fill placeholders ({{client}}) in the cells, headers and footers of all sheets.

    The row with {{items.price}} is repeated for each row of the list items, its formulas too;
    totals below take the new rows in.
    """

    values: Annotated[tuple[BookTemplateValue, ...], Meta(max_length=2_000)] = ()
    lists: Annotated[tuple[BookTemplateList, ...], Meta(max_length=100)] = ()
    pictures: Annotated[tuple[BookTemplatePicture, ...], Meta(max_length=100)] = ()
    missing: Annotated[
        Literal["refuse", "keep", "blank"],
        Meta(description="What is done with placeholders that have no value."),
    ] = "refuse"
