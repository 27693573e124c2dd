"""Which point is measured next, and how it is measured. kinds/ has procedures of their own.

bench.py      what all trials of a run of the lab share, and the servers of a cell
campaign.py   all cells of a plan, pass by pass
side_by_side.py a procedure: two stages in turn, for the gain of one
probes.py     what the machine carries without our programs
profile.py    the fileserver under callgrind
saturation.py N*, by a curve through all points
sweep.py      procedures: climb until throughput stops rising, repeat the points around the knee;
              or the points that a stage names, in its order
generator.py  what drives a load: the load generator on one host; it may kill a server meanwhile
server_log.py what the server recorded, and uploads over time, as clients and server saw them
beside.py     what users add to the servers: connections, memory, context switches
stand.py      the servers that are up for the trials of a cell, and what is around them
measure.py    one point: the workload runs, the sampler watches
checks.py     what makes a point invalid
progress.py   how far the run is, on standard error
"""
