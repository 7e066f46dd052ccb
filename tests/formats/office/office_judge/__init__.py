"""An independent judge of edits to documents and decks: only lxml and zipfile, nothing of kbd.

`compare` tells what is not as before an edit, or not as the edit meant it; `faults` tells what is
wrong with a file itself (`comparison`, `soundness`). `belongings` pairs the parts of two packages
and compares relations and types, `meaning` is what an element says apart from how it is written,
`trees` aligns two trees element by element, `spelling` takes a paragraph apart into characters with
their looks, and `edits` are the changes that may be meant: each takes itself back from what came
out, so that the rest must be what it was. `differences` are the records.
"""

from office_judge.comparison import compare
from office_judge.differences import Difference
from office_judge.edits import Appended, Edit, Nothing, Replaced, Retitled
from office_judge.soundness import faults

__all__ = [
    "Appended",
    "Difference",
    "Edit",
    "Nothing",
    "Replaced",
    "Retitled",
    "compare",
    "faults",
]
