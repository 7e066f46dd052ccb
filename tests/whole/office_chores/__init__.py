"""Chores of office work around Word documents and PDF files, each done by calls of tools.

They are tasks of OfficeBench, as a script would do them that a model may have written: it looks at
the files by tools, and writes what they answered.
"""

from whole.office_chores.desk import Chore, Desk
from whole.office_chores.document_chores import DOCUMENT_CHORES
from whole.office_chores.page_chores import PAGE_CHORES
from whole.office_chores.picture_chores import PICTURE_CHORES

__all__ = ["CHORES", "Chore", "Desk"]

CHORES = (*DOCUMENT_CHORES, *PAGE_CHORES, *PICTURE_CHORES)
"""All chores, by the tasks that ask for them."""
