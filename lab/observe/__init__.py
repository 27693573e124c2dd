"""What the machine does meanwhile, and what it is.

sampler.py      reads /proc while a point is measured
usage.py        cuts the samples to the measured window
server_memory.py  the memory of servers over time, at a bounded cost
served.py       a transfer as a server recorded it
transfer_logs.py  reads the logs that servers write; log_formats.py has their forms
figures.py      what the host felt, and where each figure of it is sampled
footprint.py    memory, processes, threads and descriptors of a server
host.py         hardware, versions and settings, for the record
limits.py       what a host lacks for a plan
callgrind.py    a program's instructions per function, as callgrind wrote them
"""
