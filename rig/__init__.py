"""Starts the programs under test and the stores behind them, and stops them again.

The lab, the bench, the demo and the tests all use this package. It knows nothing of experiments.

  processes.py   one running program: READY line, pinning, signals, end
  process_tree.py  a program and all that it started
  child.py       its end, and the CPU time that it used
  stores.py      the account stores: one row for each in KINDS
  databases.py   Redis and MySQL, which stores.py and the tests start
  servers.py     an authserver and a fileserver that are ready, and what they say of themselves
  loadgen.py     one run of the load generator
  iperf3.py      what loopback carries without our programs
  files.py       the files that a fileserver serves; the same in a folder in which users may write
  private_folder.py  one for what a program leaves, in memory
  transfer_log.py  where a server writes a line for each transfer
  cores.py       which cores there are, and whether a process is held to some of them
  control_group.py  a part of the machine for a program
  group_usage.py  what all programs of such a group use
  host.py        free ports, the descriptor limit, a counter of the kernel
  namespace.py   a network namespace for measurements
  place.py       where the load generator runs: here, or in one of the next
  wire.py        a second namespace, behind a cable or a link with a delay, a program of ours
  link.py        what such a link carries, and how TCP is set at both ends of it
  remote.py      another host, by ssh
  nodes.py       many hosts as namespaces; links that change during a run
  switch.py      the namespaces and cables of those
  namespace_holder.py  a program that holds the namespaces
  cable.py       what wire.py and switch.py have in common: rates, programs inside
  hosts.py       many hosts by ssh, from a file
  testers.py     one load from all of them
  clocks.py      their clocks, compared with ours
  idle_connections.py  connections that are logged in and ask for nothing
  login.py       a server, and an account to log in with
  lock.py        one measurement at a time on a machine
  errors.py      how a command ends without a result
"""
