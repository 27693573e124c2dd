"""The performance laboratory: measures every table and figure of the paper on this machine.

Each folder is a room. A room imports only from itself and from rooms above it in this list, which
is the way from the data to the report. systems, workloads and observe know nothing of each other.
Only kinds/ has something on every floor: a folder for each kind of experiment, with all that it is.

  papers/       data: what a paper measured, in a folder named by its number
  kinds/        the kinds of experiments; kinds/__init__.py says what their modules are
  plan/         what will be measured
  systems/      what is measured: servers, store and files
  workloads/    what the users do, as far as it is alike for all kinds
  observe/      what the machine does meanwhile
  results/      the folder of measured points
  procedures/   which point is measured next, and how
  analysis/     what the points say
  report/       what a reader gets

The commands stand beside them: cli.py, run.py, doctor.py, limits.py.
"""
