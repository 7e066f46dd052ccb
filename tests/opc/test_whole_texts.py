"""Texts that comments or instructions divide are read as the one text that people see."""

import pytest
from lxml import etree

from kbd.opc.package import xml_root
from kbd.opc.whole_texts import may_divide, with_whole_texts

DIVIDED = {
    "a comment": "<a><t>12<!-- x -->345</t></a>",
    "an instruction": "<a><t>12<?x y?>345</t></a>",
    "several": "<a><t><!--1-->1<!--2-->2<?x 3?>34<!--4--><!--5-->5</t></a>",
    "a blank behind it": "<a><t>1<!-- -->2345<!-- --> </t></a>",
    "behind an element": "<a><t>1<b/>23<!-- -->45</t></a>",
}


def _shown(root: etree._Element) -> str:
    return etree.tostring(root, method="text", encoding="unicode")


@pytest.mark.parametrize("which", DIVIDED)
def test_a_divided_text_is_one(which: str) -> None:
    """All of its letters are where an element's text, or what follows an element, is looked for."""
    plain = etree.fromstring(DIVIDED[which])
    root = xml_root(DIVIDED[which].encode(), "a.docx")

    text = root[-1]
    found = (text.text or "") + "".join(
        child.tail or "" for child in text if isinstance(child.tag, str)
    )
    assert found == _shown(plain)
    assert found.strip() == "12345"
    # What is not text is all there still.
    kinds = (etree.Comment, etree.ProcessingInstruction)
    kept, were = ([str(node.text) for node in tree.iter(*kinds)] for tree in (root, plain))
    assert sorted(kept) == sorted(were)
    assert [each.tag for each in root.iter("*")] == [each.tag for each in plain.iter("*")]


def test_a_part_is_changed_only_where_a_text_is_divided() -> None:
    """The others have the same tree, and one that cannot be divided the very same bytes."""
    between = "<a>\n <!-- x -->\n <t>5</t>\n</a>"
    assert etree.tostring(xml_root(between.encode(), "a")).decode() == between
    for data in (b'<?xml version="1.0"?><a>5</a>', b"<a", b"<a><!-- no end"):
        assert with_whole_texts(data) == data
    assert not may_divide(b'<?xml version="1.0"?><a>5</a>')
    assert b"<t>12345</t>" in with_whole_texts(DIVIDED["a comment"].encode())


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1"])
def test_whatever_the_encoding(encoding: str) -> None:
    """A part in UTF-16 is as whole as another one."""
    head = f'<?xml version="1.0" encoding="{encoding}"?>'
    data = (head + DIVIDED["a comment"]).encode(encoding)
    assert xml_root(data, "a").findtext("t") == "12345"
    assert etree.fromstring(with_whole_texts(data)).findtext("t") == "12345"
