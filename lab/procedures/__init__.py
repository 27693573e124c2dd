"""Which point is measured next, and how it is measured. kinds/ has procedures of their own.

bench.py      what all trials of a run of the lab share, and the servers of a cell
campaign.py   all cells of a plan, pass by pass
side_by_side.py a procedure: two stages in turn, for the gain of one
probes.py     what the machine carries without our programs
profile.py    the fileserver under callgrind
knee_sweep.py a procedure: climb until throughput stops rising, repeat the points around the knee
fixed_order.py a procedure: the points that a stage names, in its order
sweep.py      its rules: when throughput has stopped rising, where the knee is
generator.py  what drives a load: the load generator on one host
killing.py    kills a server under load and starts it again
both_views.py uploads over time, as clients and server saw them
look.py       what users add to the servers, seen once while they are there
beside.py     idle connections beside a load, and what they take
switching.py  context switches of the server, while a load is under way
stand.py      the servers that are up for the trials of a cell, and what is around them
measure.py    one point: the workload runs, the sampler watches
checks.py     what makes a point invalid
warming.py    reads the programs of a load from the disk before its files
progress.py   how far the run is, on standard error
"""
