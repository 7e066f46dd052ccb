"""XML of an OpenDocument file in pieces: no more of it is held than one of them."""

from collections.abc import Iterator, Sequence
from typing import IO

from lxml import etree

from kbd.errors import FileReadFailed
from kbd.office.open_document import DRAW
from kbd.opc.package import free_element

__all__ = ["read_open_pieces"]


def read_open_pieces(
    file: IO[bytes], name: str, pieces: Sequence[str], holders: Sequence[str]
) -> Iterator[tuple[str, etree._Element]]:
    """Yield ("piece", element) for each that is whole, "start" and "end" for what holds them.

    A piece within a piece is not yielded. What was yielded is emptied afterwards.

    Args:
        file: A part.
        name: The name of the file, for messages.
        pieces: Their tags; all of drawings are, too.
        holders: The tags of what holds them.

    Raises:
        FileReadFailed: The part holds a document type declaration.
    """
    inside = 0
    is_first = True
    # Before lxml 6.1.0 it puts local files in for entities unless told not to (CVE-2026-41066).
    parser = etree.iterparse(
        file, events=("start", "end"), tag=(*pieces, f"{DRAW}*", *holders),
        resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True,
        remove_pis=True,
    )  # fmt: skip
    whole = frozenset(pieces)
    for event, element in parser:
        # Entities of a document type could grow without bound.
        if is_first and element.getroottree().docinfo.internalDTD is not None:
            raise FileReadFailed(f"{name} holds a document type declaration, which is not allowed")
        is_first = False
        is_piece = element.tag in whole or str(element.tag).startswith(DRAW)
        if event == "start":
            if inside or is_piece:
                # Watched elements in a piece are counted, so that only its own end completes it.
                inside += 1
            else:
                yield "start", element
        elif inside:
            inside -= 1
            if not inside:
                yield "piece", element
                _free_piece(element)
        else:
            yield "end", element
            free_element(element)


def _free_piece(element: etree._Element) -> None:
    """Free a piece from the inside: the parser still holds the drawings in it.

    What is held is not freed with what is around it but moved out of there, which takes time that
    grows with the square of all that is in it.
    """
    for each in reversed(list(element.iterdescendants(f"{DRAW}*"))):
        each.clear()
    free_element(element)
