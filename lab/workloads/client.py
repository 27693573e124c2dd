"""Downloads of one file by a program that people use: curl, aria2, lftp and others.

A run is one attempt: one program gets one file over a number of channels, which is N of this
workload. The program is started at the place of the load generator, see systems/clients.

What it says itself is not used. Times are those of the lab's clock, from the start of the process
to its end, so that log-in and start-up count. How many bytes were sent, and from when to when, is
in the log of the server. A program that can throw away what it gets does so, and the attempt has
succeeded if the parts in the log make up the file. Others write to memory, and what they wrote is
compared with the file. Parts that a program leaves in files of their own are not put together
within the time.

An attempt that fails is an answer: it counts as one of the attempts of its point, and no rate is
made of it. So a mean of rates is one of those that succeeded; see analysis/attempts.py.
"""
