"""Measures the project's promises about speed.

Each promise is a ratio of two figures of one run. The two are measured alternately for several
rounds, and medians are compared. Absolute figures of a shared machine differ from day to day;
ratios differ much less.

  system.py         starts what is measured, and puts load on it
  promise.py        what a promise is, and how two systems are compared
  against_paper.py  the measurements against the paper's stages
  against_peers.py  those against nginx and against bare programs
  http_front.py     those of the HTTP front
  alone.py          those of Turnstile by itself
  crowd.py          many connections that do little
  promises.py       the promises of each store, and their limits
  command.py        how both commands run and fail
  cli.py            runs the promises of one store and prints the table
  scaling.py        what grows for `make bench-scale`: cores, connections, files, accounts
  growth.py         how a figure grows: its exponent, table and drawing
  scale_cli.py      measures that and writes build/scale.txt and build/scale.svg
  peers/            the systems that Turnstile is compared with

Programs, stores and the network namespace are those of rig/.
"""
