"""The parts of a workbook, changed so that what an edit does not name stays byte for byte.

cells       what an edit writes into a cell, and its XML
sheet       one worksheet: what is to change, and the part as it will be
stylesheet  the styles: looks are added, indices never move
"""
