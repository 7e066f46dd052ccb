"""What an element's prefix becomes does not hang on which libraries were imported before."""

import openpyxl
import pytest
from lxml import etree

from kbd.opc import package


@pytest.mark.parametrize(("prefix", "space"), package._PREFIXES.items())
def test_a_prefix_is_the_same_with_other_libraries(prefix: str, space: str) -> None:
    """A library that makes prefixes known, too, makes the same ones known."""
    assert openpyxl.__version__
    child = etree.SubElement(etree.Element("root"), f"{{{space}}}child")
    assert child.prefix == prefix
