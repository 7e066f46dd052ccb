"""The parts that belong to a part, parsed where they are there; what dangles is passed over."""

from collections.abc import Mapping

from lxml import etree

from kbd.errors import FileReadFailed
from kbd.opc import read_transitional
from kbd.opc.package import Package, Relation, reading_errors, xml_root

__all__ = ["related", "root_of"]


def related(package: Package, part: str) -> Mapping[str, Relation]:
    """Return the relations of a part by id; none where they cannot be read."""
    try:
        return {relation.id: relation for relation in package.relations(part)}
    except FileReadFailed:
        # Producers leave damage here that their programs never look at.
        return {}


def root_of(package: Package, relation: Relation | None) -> etree._Element | None:
    """Parse the part that a relation leads to; None if there is none.

    Raises:
        FileReadFailed: It is damaged.
    """
    if relation is None or relation.external or relation.target not in package:
        return None
    data = read_transitional(package, relation.target)
    if not data.strip():
        return None
    with reading_errors(package.name):
        return xml_root(data, package.name)
