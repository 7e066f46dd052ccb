"""Charts and pictures of sheets: their parts made, changed and taken out.

anchors         anchors of charts and pictures, made and moved
drawing_part    the part that holds a sheet's charts and pictures: anchors in, anchors out
geometry        places and sizes on a sheet, in cells and in lengths
cell_ranges     ranges that charts name: resolved, read, told in messages
series_data     series of a chart by the cells that they show: what is asked for, checked
point_caches    values of cells as a chart stores them
point_refresh   these brought up to date, and no byte more
chart_markup    markup of a new chart
chart_part      a chart that there is, changed
chart_types     its type changed, where nothing is lost
series_types    its series, as the new type has them
chart_axes      scale and number format of its axes
chart_labels    labels at its points
chart_schema    order of the elements of charts
chart_facts     what a map and a review tell of charts
"""
