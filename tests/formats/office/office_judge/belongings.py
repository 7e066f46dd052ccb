"""The parts of two packages in pairs, and what they lead to.

Parts are paired by the way to them: the relation of the same id from a pair that is known. What
cannot be reached is paired by its name. So a part that a library renamed is still the same part.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from judging.package import Parts, local
from office_judge.differences import Difference

__all__ = [
    "CONTENT_TYPES",
    "Relation",
    "compare_belongings",
    "pairs",
    "relations",
    "relations_part",
]

CONTENT_TYPES = "[content_types].xml"


class Relation(NamedTuple):
    """A relation of a part: the whole name of its type, and a part's key or an address."""

    type: str
    target: str
    external: bool


def relations(parts: Parts, part: str) -> dict[str, Relation]:
    """The relations of a part by id, "" is the package."""
    rels = relations_part(parts.key(part) if part else "")
    if rels not in parts:
        return {}
    links = {link.id: link for link in parts.links(part)}
    found = {}
    for element in parts.root(rels):
        if local(element) == "Relationship":
            link = links[element.get("Id", "")]
            found[link.id] = Relation(element.get("Type", ""), link.target, link.external)
    return found


def relations_part(part: str) -> str:
    """The key of the part that holds a part's relations."""
    folder, _, name = part.rpartition("/")
    return f"{folder}/_rels/{name}.rels".lstrip("/")


def pairs(before: Parts, after: Parts) -> dict[str, str]:
    """Which part after is which part before, by their keys; "" are the packages."""
    found = {"": ""}
    taken = {""}
    pending = [""]
    for part in pending:
        now = relations(after, found[part])
        for identity, was in relations(before, part).items():
            other = now.get(identity)
            if was.external or was.target in found or was.target not in before:
                continue
            if other is None or other.external or other.type != was.type:
                continue
            if other.target in after and other.target not in taken:
                found[was.target] = other.target
                taken.add(other.target)
                pending.append(was.target)
    for part in before:
        if part not in found and part in after and part not in taken:
            found[part] = part
            taken.add(part)
    return found


def compare_belongings(
    before: Parts, after: Parts, paired: Mapping[str, str], allowed: frozenset[tuple[str, str]]
) -> Iterator[Difference]:
    """Compare which parts there are, their types, and the relations between them.

    Args:
        before: The package as it was.
        after: The package as it is.
        paired: See `pairs`.
        allowed: Relations that may have gone, by part and id.
    """
    reached = {was.target for part in paired for was in relations(before, part).values()}
    for part in _counted(before):
        if part not in paired:
            yield Difference("part lost", part, part, "", part in reached)
        elif paired[part] != part:
            yield Difference("part renamed", part, part, paired[part], material=False)
    taken = set(paired.values())
    for part in _counted(after):
        if part not in taken:
            yield Difference("part gained", part, "", part)
    for part, other in paired.items():
        was, now = before.types.get(part, ""), after.types.get(other, "")
        if was != now and part != CONTENT_TYPES and not part.endswith(".rels"):
            yield Difference("content type", part, was, now)
        yield from _relation_differences(before, after, paired, part, allowed)


def _counted(parts: Parts) -> Iterator[str]:
    """The parts that are not told of by types and relations."""
    yield from (part for part in parts if part != CONTENT_TYPES and not part.endswith(".rels"))


def _relation_differences(
    before: Parts,
    after: Parts,
    paired: Mapping[str, str],
    part: str,
    allowed: frozenset[tuple[str, str]],
) -> Iterator[Difference]:
    was, now = relations(before, part), relations(after, paired[part])
    for identity in was.keys() | now.keys():
        one, other = was.get(identity), now.get(identity)
        place = f"{part or 'the package'} {identity}"
        if other is None:
            if (part, identity) not in allowed:
                yield Difference("relation lost", place, str(one), "")
        elif one is None:
            yield Difference("relation gained", place, "", str(other))
        else:
            goal = one.target if one.external else paired.get(one.target, one.target)
            if one._replace(target=goal) != other:
                yield Difference("relation", place, str(one), str(other))
