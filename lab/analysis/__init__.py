"""What the points say. No sentence for readers except in verdict.py, no table, no figure.

cells.py              all points of a cell: maximum, N*, model, bottleneck
resources.py          how busy each resource was, and its service demands
verdict.py            names the bottleneck
findings.py           the paper's findings, judged
intervals.py, operational_laws.py, usl.py   the arithmetic
"""
