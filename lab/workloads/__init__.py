"""What the users do.

closed_loop.py   N users, each with one request under way; what is wrong with such a run
open_loop.py     requests that are due at random moments and wait for no other; the same for those
burst.py         transfers that are asked for in the same moment
crowd.py         many slow users, each at its own pace; the same for those
failover.py      an open loop while a server is killed and started again; the same for that
mix.py           a closed loop of readers and writers; the same for that
ramp.py          clients that come one by one, from many hosts; the same for that
client.py        one file, fetched by a program that people use; the same for that
connections.py   a closed loop over many kept connections, of which some may be idle; the same
foretold.py      the round trip beside it, as its windows foretell it

load.py          what each of these is to the rest of the lab
outcome.py       what its run came to
series.py        what it did in each second, and what was done to the servers meanwhile
uploads.py       what uploads that were seen one by one came to, over time
gathered.py      what many testers recorded of one load, by one clock
host_groups.py   what each group of their hosts brought
outage.py        what a series says of an outage
loadgen_run.py   runs the load generator for it
known.py         all of them by their names

A workload declares what it measures in a tuple FIGURES: see plan/figures.py. Its load builds the
command line of a run, reads the result, and knows what makes it invalid.
"""
