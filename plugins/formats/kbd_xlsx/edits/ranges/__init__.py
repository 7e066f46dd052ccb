"""Operations on ranges as a whole.

places           ranges as operations name them, checked, and the sheets that they are of
moved_formulas   formulas as they are of another cell
formatting       the look of a range, of whole columns and rows too
fill             one formula over a range
copies           a range copied to another place
carried_objects  what lies on copied cells, and goes along
row_sort         the rows of a range in another order
sort_order       the order of values in a sort
notes            links and notes of cells that a sort moves
replacement      a text replaced in cells
"""
