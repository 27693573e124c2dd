"""What is measured: servers, store and files, ready for a load.

system.py      what a system under test is to the lab
turnstile.py   our own: a store, an authserver and a fileserver
programs.py    what those have in common whose servers are programs of this machine, and the memory
               that our fileserver needs for a part of its files
known.py       all systems by their names
peers/         other people's FTP servers, as private copies
fresh_files.py files that are made anew for each burst
"""
