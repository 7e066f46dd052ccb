r"""Blocks of a prompt: delimited texts, with a person's context items and style guidance. Pure.

A text block is `<name attributes>`, the text, `</name>`, each on lines of its own. No text can open
or close a block: a `<` that begins a delimiter of any block becomes `<\`. A JSON block has a fence
within, and in its JSON `<` and the backtick are written as escapes, so that neither the fence nor
the block can be closed by a name or a content, whatever is in them.

    <context category="situation">          a person's lasting wishes, a block an item
    …
    </context>

    <style formats="docx xlsx">             guidance of the formats that the run is about,
    …                                       then the house style, which wins over it
    </style>

`document-style` is the house style. It stands at the end of the block of guidance; where no format
asks for guidance it is a context item like the others.

All of it together takes at most `SHARE` of the model's window, the block of guidance and house
style at most `STYLE_SHARE`. What does not fit is left out whole, in this order, and the run gets a
notice of it: guidance and house style that are too long together lose the house style
(STYLE_MERGE_FAILED); then guidance goes, the last format first; then company-context,
department-context, document-style, situation.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from kbd.core.domain.run_state import Notice
from kbd.core.domain.workbench_state import ContextItem
from kbd.errors import ContextExhausted, StyleMergeFailed
from kbd.formats import FormatHandler
from kbd.providers import ModelInfo
from kbd.types import ContextCategory

__all__ = [
    "BLOCK_NAMES",
    "ContextBlocks",
    "ContextUsage",
    "Guidance",
    "block",
    "context_blocks",
    "json_block",
    "json_text",
    "mentions_format",
    "weigh_context",
]


BLOCK_NAMES = (
    "request", "earlier_messages", "context", "style", "research", "plan", "item", "failure",
    "files", "results", "changes",
)  # fmt: skip
"""Every block that a message of kbd's can hold."""

# What nobody sees, and what a model could read past between `<`, `/` and the name.
_UNSEEN = r"\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff"
_DELIMITER = re.compile(
    rf"<(?=(?:[{_UNSEEN}]*|[\s{_UNSEEN}]*/[\s{_UNSEEN}]*)(?:{'|'.join(BLOCK_NAMES)})(?:\W|$))",
    re.IGNORECASE,
)


def block(name: str, text: str, attributes: str = "") -> str:
    """Render a text as a block; "" for no text.

    Args:
        name: One of `NAMES`.
        text: Anything.
        attributes: ` key="value"` after the name; of kbd's own making.
    """
    # A file's text could else close its block and go on as the request (reliability, G5).
    text = _DELIMITER.sub(r"<\\", text.strip())
    return f"<{name}{attributes}>\n{text}\n</{name}>" if text else ""


def json_block(name: str, value: Any) -> str:
    """Render a value as a fenced JSON block; `msgspec.Raw` in it stands as it is."""
    return f"<{name}>\n```json\n{json_text(value)}\n```\n</{name}>"


def json_text(value: Any) -> str:
    """Write a value as JSON on one line, without `<` and backticks."""
    text = msgspec.json.encode(value).decode()
    # JSON reads the escapes as the same characters.
    return text.replace("<", "\\u003c").replace("`", "\\u0060")


SHARE = 0.4
"""Of the window, for all of it: the files and the conversation need the rest."""

STYLE_SHARE = 0.2
"""Of the window, for guidance with the house style."""

WARNING_SHARE = 0.35
"""From here on ContextList warns (conformance 66)."""

_HOUSE_STYLE_HEADING = """\
# House style

The person's own rules. Where they differ from anything above, they win.

"""

_DEFAULT_MODEL = ModelInfo("")

_CATEGORIES = (
    ContextCategory.SITUATION,
    ContextCategory.STYLE,
    ContextCategory.DEPARTMENT,
    ContextCategory.COMPANY,
)
"""The categories, those first that are left out last."""


class Guidance(msgspec.Struct, frozen=True):
    """Style guidance of a format: the format's name and the text."""

    name: str
    text: str


class ContextBlocks(msgspec.Struct, frozen=True):
    """Rendered blocks of context and style, "" for none, and what was left out of them."""

    text: str
    notices: tuple[Notice, ...] = ()


class ContextUsage(msgspec.Struct, frozen=True):
    """Weight of context items: tokens, and their share of a model's window."""

    tokens: int
    share: float

    @property
    def is_much(self) -> bool:
        """Whether it is so much that a person should be warned."""
        return self.share >= WARNING_SHARE


def context_blocks(
    items: Mapping[str, ContextItem], guidance: Sequence[Guidance], model: ModelInfo
) -> ContextBlocks:
    """Render the blocks of context items and style guidance that fit into a model's window.

    Args:
        items: The items that are set, by category.
        guidance: That of the formats that the run is about, in order.
        model: Whose window it is.
    """
    window_bytes = model.context_tokens * model.bytes_per_token
    notices: list[Notice] = []
    texts = _texts_by_category(items)
    house = texts.get(ContextCategory.STYLE, "")
    chosen = list(guidance)
    if chosen and house:
        del texts[ContextCategory.STYLE]
        try:
            _merge_style(chosen, house, int(window_bytes * STYLE_SHARE))
        except StyleMergeFailed as fault:
            notices.append(Notice(fault.code, fault.message))
            house = ""
    room = int(window_bytes * SHARE) - _size_bytes(_category_blocks(texts))
    while chosen and _size_bytes(_style_block(chosen, house)) > min(
        room, int(window_bytes * STYLE_SHARE)
    ):
        dropped = chosen.pop()
        notices.append(_omission_notice(f"the style guidance for {dropped.name}"))
        # With no guidance left to add to, the house style is a context item like the others.
        if not chosen and house:
            texts[ContextCategory.STYLE] = house
    for category in reversed(_CATEGORIES):
        if category in texts and _size_bytes(_category_blocks(texts)) > window_bytes * SHARE:
            del texts[category]
            notices.append(_omission_notice(f"the context item {category}"))
    blocks = [*_category_blocks(texts), *_style_block(chosen, house)]
    return ContextBlocks("\n\n".join(blocks), tuple(notices))


def weigh_context(
    items: Mapping[str, ContextItem], model: ModelInfo = _DEFAULT_MODEL
) -> ContextUsage:
    """Weigh context items: what they take of each request to a model."""
    tokens = int(_size_bytes(_category_blocks(_texts_by_category(items))) / model.bytes_per_token)
    return ContextUsage(tokens, tokens / model.context_tokens)


def mentions_format(handler: FormatHandler, request: str) -> bool:
    """Return whether a request's words mention a format."""
    words = "|".join(re.escape(word) for word in (handler.name, *handler.style_words))
    suffixes = "|".join(re.escape(suffix) for suffix in handler.suffixes)
    return bool(re.search(rf"(?i)(?<!\w)(?:{words})(?!\w)|\w(?:{suffixes})(?!\w)", request))


def _texts_by_category(items: Mapping[str, ContextItem]) -> dict[ContextCategory, str]:
    return {each: items[each].text for each in ContextCategory if each in items}


def _merge_style(guidance: Sequence[Guidance], house: str, most: int) -> None:
    """Check that a house style fits beside guidance.

    Raises:
        StyleMergeFailed: It does not.
    """
    size = _size_bytes(_style_block(guidance, house))
    if size > most:
        names = ", ".join(each.name for each in guidance)
        msg = (
            f"document-style was left out: with the style guidance for {names} it takes {size:,}"
            f" bytes, and there is room for {most:,}; shorten it, or use a model with a larger"
            " window"
        )
        raise StyleMergeFailed(msg)


def _style_block(guidance: Sequence[Guidance], house: str) -> list[str]:
    if not guidance:
        return []
    names = " ".join(each.name for each in guidance)
    parts = [each.text.strip() for each in guidance]
    if house:
        parts.append(_HOUSE_STYLE_HEADING + house.strip())
    return [block("style", "\n\n".join(parts), f' formats="{names}"')]


def _category_blocks(texts: Mapping[ContextCategory, str]) -> list[str]:
    """Return the blocks of context items, in the order of the categories."""
    return [
        block("context", texts[category], f' category="{category}"')
        for category in ContextCategory
        if category in texts
    ]


def _omission_notice(what: str) -> Notice:
    msg = f"{what} was left out: the model's window has no room for it"
    return Notice(ContextExhausted.code, msg)


def _size_bytes(blocks: Iterable[str]) -> int:
    # With the blank line that joins it to the next.
    return sum(len(each.encode()) + 2 for each in blocks)
