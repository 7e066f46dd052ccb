"""Names of XML elements and attributes, taken apart. Pure.

The parser lets a name through whose prefix is declared nowhere (`xdr:row`), and `etree.QName`
refuses it: of a damaged file that would be a bare exception.
"""

from lxml import etree

__all__ = ["local_name", "local_part", "namespace_of"]


def local_name(element: etree._Element) -> str:
    """Return an element's name without its namespace, "" for a comment or an instruction."""
    return local_part(element.tag) if isinstance(element.tag, str) else ""


def local_part(name: str) -> str:
    """Return a name in Clark notation (`{namespace}name`) without its namespace."""
    return name.rpartition("}")[2]


def namespace_of(name: str) -> str:
    """Return the namespace of a name in Clark notation; "" if it is in none."""
    return name[1:].rpartition("}")[0] if name.startswith("{") else ""
