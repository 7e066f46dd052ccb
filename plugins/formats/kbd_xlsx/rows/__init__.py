"""Rows of a table, written into a sheet of a workbook, new or not.

table_writer  the rows of one table, or of several sheets at once, written
sheet_form what a sheet has beside its rows: title, styles, totals, chart
column_totals  figures of columns, as the formulas below them come to
cells      what a cell holds for a value of a typed column, its formatting, and its ready text,
           which is some five times as fast as cell by cell
placement  where on a sheet the rows go, what else stands there, and the widths of a new sheet
obstacles  filled cells, formulas and totals that rows would go over or below
total_row  a total at their end, as formulas where it is what the rows above come to
ranges_above  what ends above appended rows and does not count them: formulas, names, charts
"""
