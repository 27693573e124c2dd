"""The results folder, which the later rooms read.

records.py       points.csv and samples/
environment.py   environment.json: how and on what the points were measured
series.py        series and distributions of a run, as samples/ keeps them
packed.py        opens the folder, or the archive in it
"""
