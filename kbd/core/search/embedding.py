"""Embedder of one engine: found when it is first needed; embeds missing pieces and queries."""

import contextlib
import sqlite3
import threading
from enum import Enum
from typing import Final

from kbd.core.search.documents_table import note_change
from kbd.core.search.index import CurrentIndex, SearchIndex
from kbd.core.search.local import LocalRuntime
from kbd.core.search.ports import TextEmbedder
from kbd.core.search.vector_index import (
    count_embedded,
    delete_other_sizes,
    delete_unused_vectors,
    embed_texts,
    has_other_sizes,
    missing_texts,
    store_vectors,
)
from kbd.errors import KbdError
from kbd.providers import Embeddings

__all__ = ["AUTO", "Auto", "EngineEmbedder"]

EMBED_BATCH = 256


class Auto(Enum):
    """The embedder that settings name, or one that is found on this machine."""

    AUTO = "auto"


AUTO: Final = Auto.AUTO


class EngineEmbedder:
    """Embedder of one engine: makes the vectors of its index.

    Args:
        index: The index.
        local: Who finds an embedder of this machine.
        embed: The embedder; None for none.

    Attributes:
        fingerprint: Under what vectors are kept, as it was when that was last asked; "" before.
    """

    def __init__(
        self, index: CurrentIndex, local: LocalRuntime, embed: TextEmbedder | Auto | None
    ) -> None:
        self._index, self._local, self._embed = index, local, embed
        self._making = threading.Lock()
        self._unavailable_reason = ""
        self._sized: tuple[SearchIndex | None, str, int] = (None, "", 0)
        self.fingerprint = ""

    def embedded_count(self, connection: sqlite3.Connection) -> int:
        """Return how many pieces have a vector."""
        return count_embedded(connection, self.fingerprint) if self.fingerprint else 0

    def resolve_fingerprint(self) -> None:
        """Request the key of the vectors from a given embedder, unless it is known.

        Then those that were made before are used, though no other can be made now.
        """
        if self.fingerprint or self._embed is None or isinstance(self._embed, Auto):
            return
        # Asked again at the next update; until then words alone are searched.
        with contextlib.suppress(KbdError):
            self.fingerprint = self._embed.fingerprint()

    def embed_missing(self, most: int) -> int:
        """Make up to `most` of the vectors that are missing; return how many were made.

        Raises:
            KbdError: The embedder cannot be asked; what was made before is kept.
        """
        embed = self._found()
        if embed is None:
            return 0
        made = 0
        # One at a time: two would have the vectors of the same texts made twice.
        with self._making:
            fingerprint = self.fingerprint = embed.fingerprint()
            while made < most:
                index = self._index.current()
                with self._index.replaced_if_ruined(index), index.reading() as connection:
                    texts = missing_texts(
                        connection, fingerprint, min(most - made, embed.most_texts)
                    )
                if not texts:
                    break
                # Between two transactions, for a server may take seconds: nobody waits for the
                # index meanwhile.
                vectors = embed_texts(embed, list(texts.values()), "passage")
                with self._index.replaced_if_ruined(index), index.writing() as connection:
                    store_vectors(connection, fingerprint, list(texts), vectors)
                    note_change(connection)
                made += len(texts)
            if made:
                index = self._index.current()
                with self._index.replaced_if_ruined(index), index.writing() as connection:
                    delete_unused_vectors(connection)
        return made

    def delete_other_sizes_than(self, size: int) -> bool:
        """Forget vectors of another size than a query's, and return whether there were any.

        A server that serves another model under the same name is found out by that. Looking at all
        vectors takes some milliseconds, so it is done once for a size.
        """
        index = self._index.current()
        if self._sized == (index, self.fingerprint, size):
            return False
        self._sized = index, self.fingerprint, size
        with self._index.replaced_if_ruined(index), index.reading() as connection:
            if not has_other_sizes(connection, self.fingerprint, size):
                return False
        with self._making, self._index.replaced_if_ruined(index), index.writing() as connection:
            delete_other_sizes(connection, self.fingerprint, size)
            note_change(connection)
        return True

    def embed_query(self, query: str) -> tuple[Embeddings | None, tuple[str, ...]]:
        """Return a query's vector, or None and why; all the documents' vectors are made first."""
        try:
            embed = self._found()
            if embed is None:
                return None, (self._unavailable_reason,) if self._unavailable_reason else ()
            while self.embed_missing(EMBED_BATCH):
                pass
            return embed_texts(embed, [query], "query"), ()
        except KbdError as error:
            return None, (f"not searched by meaning: {error.message}",)

    def _found(self) -> TextEmbedder | None:
        if isinstance(self._embed, Auto):
            found, why = self._local.embedding()
            self._unavailable_reason = f"not searched by meaning: {why}" if why else ""
            self._embed = found
            return found
        return self._embed
