"""The operations that an edit of a document is made of."""

import msgspec

__all__ = ["OPERATIONS"]

OPERATIONS: tuple[type[msgspec.Struct], ...] = ()
