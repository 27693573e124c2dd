"""What the points say: no table and no figure.

cells.py              all points of a cell: maximum, N*, model, bottleneck
demands.py            service demands by the utilisation law
resources.py          how busy each resource was
verdict.py            names the bottleneck
gains.py              how much faster one cell is than another
mixes.py              the trials of mixes, and the hits that a memory should have
findings.py           the paper's findings, judged
steadiness.py         whether all seconds of a run were alike
over_time.py          whether a run drifted or changed, by trend.py and change_points.py
intervals.py, operational_laws.py, usl.py, trend.py, change_points.py, moving_average.py
                      the arithmetic
"""
