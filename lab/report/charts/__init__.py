"""Drawings as SVG text, from plain numbers: nothing here knows the lab.

svg.py            a canvas: lines, dots, text; several canvases make one figure
palette.py        every colour, for light and dark
scales.py         from values to places, with the ticks of an axis
dot_plot.py       rows with a value, its interval and the paper's value
stacked_bars.py   what a total consists of, bar under bar
line_chart.py     curves over one axis, each named at its end
tail_chart.py     such curves of response times over their percentiles
series_chart.py   such curves over the seconds of a run, with what happened in it
over_time.py      panels with two axes over the time of a run, for many points
thinning.py       as many points as there are columns of pixels
"""
