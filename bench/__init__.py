"""What is promised about speed, measured.

Every promise is a ratio of two figures of one run, taken in turns over several rounds, medians compared: the absolute
figures of a shared machine are worth nothing tomorrow. system.py starts what is measured, promises.py says what is
promised of which store, cli.py runs them and prints the table. Processes, stores and the network namespace are the lab's.
"""
