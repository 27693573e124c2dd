"""The performance laboratory: measures every table and figure of the paper on this machine.

Reading order, from the data to the report:

  data/*.json        the stages (presets of flags), the experiments, and what a quick run is
  paper.py           the paper's own numbers
  catalog.py         reads the data; Cell: one (stage, request, size) that is measured
  cli.py, run.py     the commands; options.py and plan.py say what will be measured
  rig/               starts programs and stores; bench, demo and tests use it too
  campaign.py        the order of the measurements; sweep.py decides which N comes next
  stack.py           a running system under test; pinning.py, files.py
  measure.py         one point: loadgen.py drives, sampler.py watches, usage.py cuts to the window
  checks.py          what makes a point invalid; records.py keeps the points
  analysis.py        all points of a cell: intervals.py, operational_laws.py, usl.py, verdict.py
  report.py          writes the results: views.py and figure_views.py, which get a scene.py;
                     findings.py; plots.py and panel_plot.py in one figure_style.py;
                     document.py, html.py, markdown.py
  compare.py, doctor.py, host.py, limits.py, profile.py
"""
