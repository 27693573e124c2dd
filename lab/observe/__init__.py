"""What the machine does meanwhile, and what it is.

sampler.py      reads /proc while a point is measured
usage.py        cuts the samples to the measured window
figures.py      what the host felt, and where each figure of it is sampled
footprint.py    memory, processes, threads and descriptors of a server
host.py         hardware, versions and settings, for the record
limits.py       what a host lacks for a plan
callgrind.py    a program's instructions per function, as callgrind wrote them
"""
