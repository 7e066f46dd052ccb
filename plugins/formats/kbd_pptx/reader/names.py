"""The names of elements and relations, as lxml writes them.

ECMA-376 part 1, 19 to 21; the rest are Microsoft's published extensions of it ([MS-PPTX],
[MS-ODRAWXML]).
"""

from kbd_pptx.slides import A, P, R

__all__ = ["A14", "CX", "DGM", "MC", "P14", "P188", "A", "C", "M", "P", "R"]

C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
CX = "{http://schemas.microsoft.com/office/drawing/2014/chartex}"
DGM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
A14 = "{http://schemas.microsoft.com/office/drawing/2010/main}"
P14 = "{http://schemas.microsoft.com/office/powerpoint/2010/main}"
P188 = "{http://schemas.microsoft.com/office/powerpoint/2018/8/main}"
