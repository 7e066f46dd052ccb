"""An independent judge of edits to workbooks: nothing of kbd is used here, only lxml and zipfile.

`compare` tells what is not as before an edit, or not as the edit meant it; `faults` tells what is
wrong with a file itself (`comparison`, `soundness`). `package` reads parts, `cells`, `looks` and
`book` what they mean, `places` are cells and ranges. `contents` compares cells, `features` the rest
of sheets and workbook, `belongings` the parts they lead to, with the copies of cells in charts
(`point_copies`); `dependents` works out whose stored results an edit costs, `spills` where dynamic
arrays may spread; `substance` compares XML apart from how it is written. `differences` are the
records.
"""

from judging.comparison import compare
from judging.differences import Difference, Edit, Formula
from judging.soundness import faults

__all__ = ["Difference", "Edit", "Formula", "compare", "faults"]
