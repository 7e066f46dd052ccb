"""Names of newer programs in a part, listed so that older programs pass them over."""

from collections.abc import Mapping
from copy import deepcopy

from lxml import etree

from kbd_docx.document import MC

__all__ = ["with_ignorable"]


def with_ignorable(root: etree._Element, spaces: Mapping[str, str]) -> etree._Element:
    """Return a root that lists namespaces (each with a prefix) in mc:Ignorable."""
    # Programs refuse names that they do not know, unless these are ignorable (ECMA-376, part 3).
    known: dict[str | None, str] = dict(root.nsmap)
    ignored = root.get(f"{MC}Ignorable", "").split()
    passed = {known.get(prefix) for prefix in ignored}
    wanted = {space: prefix for space, prefix in spaces.items() if space not in passed}
    if not wanted:
        return root
    known.setdefault("mc", MC.strip("{}"))
    for space, wish in wanted.items():
        prefix, number = wish, 0
        # The target may have the prefix for another namespace.
        while known.get(prefix, space) != space:
            number += 1
            prefix = f"{wish}_{number}"
        known[prefix] = space
        ignored.append(prefix)
    # An element's `nsmap` cannot be changed in lxml, so the root is made anew.
    # The stubs want prefixes to be texts; the plain namespace's is None.
    made = etree.Element(root.tag, nsmap=known)  # type: ignore[arg-type]
    made.attrib.update(root.attrib)
    made.set(f"{MC}Ignorable", " ".join(ignored))
    made.text = root.text
    # Copies, for moving an element takes the square of the time that its size does.
    made.extend([deepcopy(child) for child in root])
    return made
