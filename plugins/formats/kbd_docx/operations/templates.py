"""Operations on templates."""

from typing import Annotated, Literal

from msgspec import Meta

from kbd_docx.operations.base import Cell, TrackedOperation

__all__ = ["FillTemplate", "Records"]

Records = Annotated[tuple[dict[str, Cell], ...], Meta(max_length=5_000)]
"""What a row or paragraph is repeated for, each with its own values by name."""


class FillTemplate(TrackedOperation, frozen=True, tag="fill_template"):
    """Fill placeholders in all of the document, headers and text boxes, too."""

    values: Annotated[
        dict[str, Cell | Records],
        Meta(
            description='By name: {"client": "ACME"} fills {{client}} and the merge field client; '
            '{"items": [{"name": "A", "price": 3}, …]} repeats the table row (or paragraph) that '
            "has {{items.name}} and {{items.price}} for each, none for an empty list.",
            min_length=1,
            max_length=2_000,
        ),
    ]
    missing: Annotated[
        Literal["refuse", "keep", "blank"],
        Meta(description="What is done with placeholders that have no value."),
    ] = "refuse"
