"""Templates filled: placeholders by their values, rows repeated for records.

placeholders   placeholders in cells, headers, footers and drawings, and pictures in their place
repeated_rows  rows repeated for the records of a list, or taken out for none
row_readers    formulas that a repetition would have read the wrong rows
"""
