"""What a package reaches out to: the addresses that something in it still refers to.

An edit takes elements away, and leaves their relations behind: programs write them on for years,
and libraries do not look. A relation that nothing names fetches nothing, so it does not count.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from kbd.errors import FileReadFailed
from kbd.formats import Source
from kbd.opc.package import Relation
from kbd.opc.rewriter import Rewriting

__all__ = ["external_targets", "live_parts", "naming", "reach_after"]


def live_parts(package: Rewriting) -> Iterator[str]:
    """Yield what relations lead to, from the package's own on; those come first, as ""."""
    pending, seen = [""], {""}
    while pending:
        part = pending.pop()
        yield part
        for relation in _relations(package, part):
            goal = relation.target
            if not relation.external and goal not in seen and goal in package:
                seen.add(goal)
                pending.append(goal)


def external_targets(package: Rewriting) -> frozenset[str]:
    """Return the addresses that a package refers to, links to read included."""
    found: set[str] = set()
    for part in live_parts(package):
        outside = [each for each in _relations(package, part) if each.external]
        if outside:
            named = _named_ids(package, part)
            found.update(each.target for each in outside if named is None or each.id in named)
    return frozenset(found)


def reach_after(
    new: Sequence[str], source: Source | None, targets: Callable[[], Collection[str]]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what an edit made a file reach out to, and what remains of what earlier ones did.

    Args:
        new: What the edit brought, perhaps to take it out again.
        source: What the file was made from.
        targets: Returns what it refers to now; it is asked only where there is something to find.
    """
    earlier = source.external if source else ()
    if not new and not earlier:
        return (), ()
    found = targets()
    return naming(new, found), naming(earlier, found)


def naming(texts: Iterable[str], targets: Collection[str]) -> tuple[str, ...]:
    """Return those texts that name one of some addresses: as a whole, or behind a blank."""
    return tuple(
        text
        for text in texts
        if any(text == target or text.endswith(f" {target}") for target in targets)
    )


def _relations(package: Rewriting, part: str) -> tuple[Relation, ...]:
    try:
        return package.relations(part)
    except FileReadFailed:
        return ()  # Damaged ones lead nowhere, for programs as for us.


def _named_ids(package: Rewriting, part: str) -> set[str] | None:
    """Return the ids of relations that a part may name; None for any: it is no XML."""
    if not part:
        return None
    try:
        root = package.root(part)
    except FileReadFailed:
        return None
    # Attributes with a namespace: r:id, r:link, o:relid. One without names no relation.
    return {
        str(value)
        for element in root.iter()
        for key, value in element.attrib.items()
        if str(key).startswith("{")
    }
