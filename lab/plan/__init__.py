"""What will be measured, before anything is started.

catalog.py       reads papers/; Cell: one (stage, request, size) that is measured
paper.py         the paper's own numbers
options.py       the checked command line
plan.py          the cells, stages, sweeps and files of a run, and how long it takes
pinning.py       which cores each component may use
file_counts.py   how many test files there must be
"""
