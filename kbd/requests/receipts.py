"""Requests for receipts: documents that prove what a publish changed."""

from typing import Annotated, Any, ClassVar

import msgspec

from kbd.requests.base import UNSET, Answer, Request, Unset, WorkbenchParam
from kbd.types import BlobHash

__all__ = ["Receipt", "ReceiptGet", "ReceiptRequest"]


class Receipt(Answer):
    """The receipt of a publish.

    Args:
        checkpoint_id: The checkpoint that the publish left.
        hash: The hash of the document, as the log has it; `BlobRead` reads its bytes.
        size_bytes: Its size.
        receipt: What the document says; left out of one that is too large for an answer.
    """

    checkpoint_id: str
    hash: BlobHash
    size_bytes: int
    receipt: dict[str, Any] | Unset = UNSET


class ReceiptGet(Request):
    """Ask for the receipt of a publish; it is made if it is not there yet.

    Args:
        checkpoint_id: The checkpoint that the publish left; the newest publish if it is left out.
    """

    subject: ClassVar[str] = "review"
    answer: ClassVar[type[Any]] = Receipt

    workbench_id: WorkbenchParam
    checkpoint_id: Annotated[str, msgspec.Meta(min_length=1, max_length=64)] | Unset = UNSET


ReceiptRequest = ReceiptGet
"""The requests of this subject."""
