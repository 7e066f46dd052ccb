"""The operations that an edit of a deck is made of."""

import msgspec

__all__ = ["OPERATIONS"]

OPERATIONS: tuple[type[msgspec.Struct], ...] = ()
