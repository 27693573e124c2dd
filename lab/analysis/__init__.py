"""What the points say: no table and no figure. kinds/ has what those of one kind say.

cells.py              all points of a cell: maximum, N*, model, bottleneck
demands.py            service demands at the maximum, by the utilisation law
resources.py          how busy each resource was
verdict.py            names the bottleneck
gains.py              how much faster one cell is than another
findings.py           the paper's findings, judged
over_time.py          whether a run drifted or changed, by trend.py and change_points.py
regression.py         a line through samples; whether the CPU goes with throughput or with clients
knee.py               the load from which on more of it brings no more throughput
two_views.py          what the clients saw against what the server saw
intervals.py, operational_laws.py, usl.py, trend.py, change_points.py, blocks.py
                      the arithmetic
"""
