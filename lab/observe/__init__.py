"""What the machine does meanwhile, and what it is.

sampler.py      samples the host and processes while a point is measured
moment.py       what a sample is: counters and gauges by name
proc_host.py    reads the host in /proc
proc_processes.py  reads a process and its children there
process_trees.py  the processes of components over time; many of them delay no sample
rounds.py       something that is done again and again, at a bounded cost
round_trips.py  how long the way to the load generator takes meanwhile
connections.py  windows and congestion control that were in force, as the kernel tells them
usage.py        cuts the samples to the measured window
server_memory.py  the memory of servers over time, at a bounded cost
kept.py         what a killed program had of a file, and what was sent again
transfer_logs.py  reads the logs that servers write; log_formats.py has their forms, and
                what a transfer is in them
figures.py      what the host felt, and where each figure of it is sampled
footprint.py    memory, processes, threads and descriptors of a server
host.py         hardware, versions and settings, for the record, and its network
limits.py       what a host lacks for a plan
download_limits.py  what it lacks for downloads
callgrind.py    a program's instructions per function, as callgrind wrote them
"""
