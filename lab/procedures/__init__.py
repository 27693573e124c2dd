"""Which point is measured next, and how it is measured.

campaign.py   all cells of a plan, pass by pass
sweep.py      the N of one cell: until throughput stops rising, then around the knee
measure.py    one point: the workload runs, the sampler watches
checks.py     what makes a point invalid
progress.py   how far the run is, on standard error
"""
