"""Operations on comments."""

from typing import Annotated

from msgspec import Meta

from kbd_docx.operations.base import DocxOperation, Number

__all__ = ["AddComment", "DeleteComment", "ReplyComment", "ResolveComment"]

Author = Annotated[str, Meta(description="Who is shown as its author.", min_length=1)]
Words = Annotated[str, Meta(min_length=1, max_length=10_000)]
Date = Annotated[
    str | None,
    Meta(description="When, in ISO form (2026-03-01T09:30:00); without it none is written."),
]
CommentText = Annotated[
    str, Meta(description="A line break begins a paragraph.", min_length=1, max_length=100_000)
]
CommentNumber = Annotated[
    Number, Meta(description='Its number, as the map and readings have it: 2 of "[comment 2]".')
]


class AddComment(DocxOperation, frozen=True, kw_only=True, tag="add_comment"):
    """Comment on a paragraph of the body, or on words of it."""

    paragraph: Annotated[Number, Meta(description="From 1, as the map counts.")]
    text: CommentText
    author: Author
    date: Date = None
    search: Annotated[
        Words | None, Meta(description="The words of the paragraph that it is about; else all.")
    ] = None


class ReplyComment(DocxOperation, frozen=True, kw_only=True, tag="reply_comment"):
    """Reply to a comment."""

    comment: CommentNumber
    text: CommentText
    author: Author
    date: Date = None


class ResolveComment(DocxOperation, frozen=True, tag="resolve_comment"):
    """Mark a comment, with its replies, as resolved, or as open again."""

    comment: CommentNumber
    resolved: bool = True


class DeleteComment(DocxOperation, frozen=True, tag="delete_comment"):
    """Delete a comment and the replies to it; the text that it is about stays."""

    comment: CommentNumber
