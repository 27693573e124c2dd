"""The results folder, which the later rooms read.

records.py       points.csv and samples/
environment.py   environment.json: how and on what the points were measured
distributions.py the distribution of a run, as samples/ keeps it
series.py        the series of a run, as samples/ keeps it
packed.py        opens the folder, or the archive in it
"""
