"""What will be measured, before anything is started.

papers.py        reads papers/, and has the numbers that a paper printed
claims.py        what a paper found, as claims
catalog.py       stages and experiments; Cell: one (stage, request, size) that is measured
options.py       the checked command line
plan.py          the cells, stages and files of a run, and how long it takes
planned.py       one of its cells, with all that a run has to know of it; two stages side by side
pinning.py       which cores each component may use
machines.py      machines and links of the papers
file_counts.py   how many test files there must be
from_json.py     reads dataclasses
"""
