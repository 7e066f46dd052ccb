"""Texts that comments or processing instructions divide, put together.

A text element holds one text (ECMA-376 part 1), and office programs show `12<!-- -->345` as 12345.
A tree has two texts there, one before the comment and one behind it, and whoever takes the first
for all of it reads another figure. Pure.
"""

from lxml import etree

__all__ = ["join_texts", "may_divide", "with_whole_texts"]

_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def join_texts(root: etree._Element) -> None:
    """Put each divided text together; what divided it then stands before the text's element."""
    for node in [*root.iter(etree.Comment, etree.ProcessingInstruction)]:
        parent = node.getparent()
        # Between elements, where white space is only layout, it divides nothing.
        if parent is None or not node.tail or not (node.tail.strip() or _is_leaf(parent)):
            continue
        before, tail = next(node.itersiblings("*", preceding=True), None), node.tail
        node.tail = None
        if before is None:
            parent.text = (parent.text or "") + tail
        else:
            before.tail = (before.tail or "") + tail
        around = parent.getparent()
        if around is not None:
            around.insert(around.index(parent), node)


def with_whole_texts(data: bytes) -> bytes:
    """Return a part whose texts are whole; the very bytes if nothing divides any, or it is no XML.

    Args:
        data: A part of a package.
    """
    if not may_divide(data):
        return data
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    try:
        root = etree.fromstring(data, parser)
    except etree.LxmlError:
        # Whoever parses it says what is wrong.
        return data
    join_texts(root)
    return etree.tostring(root.getroottree(), encoding="UTF-8", xml_declaration=True)


def may_divide(data: bytes) -> bool:
    """Tell whether a part may have a divided text; looking for one in its tree takes longer."""
    # The declaration at the beginning of a part is spelled like an instruction. In UTF-16 neither
    # is found.
    return b"<!--" in data or data.find(b"<?", 1) > 0 or data.startswith(_UTF_16)


def _is_leaf(element: etree._Element) -> bool:
    return not any(isinstance(child.tag, str) for child in element)
