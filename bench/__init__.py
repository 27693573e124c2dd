"""Measures the project's promises about speed.

Each promise is a ratio of two figures of one run. The two are measured alternately for several
rounds, and medians are compared. Absolute figures of a shared machine differ from day to day;
ratios differ much less.

  system.py    starts what is measured, and puts load on it
  crowd.py     many connections that do little
  promises.py  the promises, each with its store and its limit
  cli.py       runs them and prints the table

Programs, stores and the network namespace are those of lab/rig.
"""
