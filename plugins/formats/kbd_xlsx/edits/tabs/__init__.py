"""Operations on sheets among the others.

sheet_names  names of sheets in formulas and in the parts of a workbook, renamed
renames      a sheet under another name
order        a sheet in another position, hidden or shown
duplicates   a sheet copied with the parts that it leads to
"""
