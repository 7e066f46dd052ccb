"""Two trees, aligned: which elements are gone, came, or say something else."""

from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from judging.package import Element, local
from office_judge.differences import Difference
from office_judge.meaning import attributes, meanings, own_text

__all__ = ["tree_differences"]

_MAX_COMPARED = 4_000_000
"""Children times children that are aligned well; beyond they are paired as they come."""

Pair = tuple[Element | None, Element | None]


def tree_differences(before: Element, after: Element, place: str) -> Iterator[Difference]:
    """Tell where two trees differ, each difference as deep as it can be placed.

    Children that say the same are paired first; of those between, one and the next of the same
    name. What has no partner is lost or gained with all that is in it.
    """
    old, new = meanings(before), meanings(after)
    pending = [(before, after, f"{place}: {local(before)}")]
    while pending:
        one, other, way = pending.pop()
        if old[one] == new[other]:
            continue
        yield from _own_differences(one, other, way)
        olds = [child for child in one if local(child)]
        news = [child for child in other if local(child)]
        places = _places(olds, way)
        for was, now in _pairs(olds, news, old, new):
            if was is None:
                yield Difference("element gained", f"{way}/{_name(now)}", "", _shown(now))
            elif now is None:
                yield Difference("element lost", places[was], _shown(was), "")
            else:
                pending.append((was, now, places[was]))


def _places(children: Sequence[Element], way: str) -> dict[Element, str]:
    counts: Counter[str] = Counter()
    found = {}
    for child in children:
        counts[local(child)] += 1
        found[child] = f"{way}/{local(child)}[{counts[local(child)]}]"
    return found


def _own_differences(one: Element, other: Element, way: str) -> Iterator[Difference]:
    if one.tag != other.tag:
        yield Difference("element renamed", way, str(one.tag), str(other.tag))
    was, now = attributes(one), attributes(other)
    for name in was.keys() | now.keys():
        if was.get(name) != now.get(name):
            kind = "attribute lost" if name not in now else "attribute"
            yield Difference(kind, f"{way}@{name}", was.get(name, ""), now.get(name, ""))
    if own_text(one) != own_text(other):
        yield Difference("text", way, own_text(one), own_text(other))


def _pairs(
    olds: Sequence[Element],
    news: Sequence[Element],
    old: dict[Element, bytes],
    new: dict[Element, bytes],
) -> Iterator[Pair]:
    """Yield pairs of children that do not say the same, or have no partner."""
    start = 0
    while start < min(len(olds), len(news)) and old[olds[start]] == new[news[start]]:
        start += 1
    end, other_end = len(olds), len(news)
    while end > start and other_end > start and old[olds[end - 1]] == new[news[other_end - 1]]:
        end, other_end = end - 1, other_end - 1
    olds, news = olds[start:end], news[start:other_end]
    if len(olds) * len(news) > _MAX_COMPARED:
        yield from _in_order(olds, news)
        return
    sums = [old[child] for child in olds], [new[child] for child in news]
    matcher = SequenceMatcher(None, *sums, autojunk=False)
    for kind, i1, i2, j1, j2 in matcher.get_opcodes():
        if kind != "equal":
            yield from _in_order(olds[i1:i2], news[j1:j2])


def _in_order(olds: Sequence[Element], news: Sequence[Element]) -> Iterator[Pair]:
    """Pair children of the same name in their order; the others stay alone."""
    left = list(news)
    for one in olds:
        at = next((at for at, other in enumerate(left) if other.tag == one.tag), None)
        if at is None:
            yield one, None
            continue
        yield from ((None, other) for other in left[:at])
        yield one, left[at]
        del left[: at + 1]
    yield from ((None, other) for other in left)


def _name(element: Element | None) -> str:
    return "" if element is None else local(element)


def _shown(element: Element | None) -> str:
    if element is None:
        return ""
    text = "".join(str(piece) for piece in element.itertext())
    listed = " ".join(f"{name}={value}" for name, value in attributes(element).items())
    return f"{local(element)} {listed} {text}".strip()
