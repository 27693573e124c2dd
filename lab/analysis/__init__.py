"""What the points say: no table and no figure.

cells.py              all points of a cell: maximum, N*, model, bottleneck
resources.py          how busy each resource was, and its service demands
verdict.py            names the bottleneck
findings.py           the paper's findings, judged
intervals.py, operational_laws.py, usl.py   the arithmetic
"""
