"""What a reader gets: report.html, summary.md, figures.

page.py                             the whole report; VIEWS has each view by its name
overview.py                         the first page
method.py, appendix.py              how it was measured, what terms mean; what was left out
finding_views.py                    the paper's findings: a checklist, and the evidence
tables.py, bottleneck_tables.py     views that are tables; they get a scene.py
figure_views.py, sweep_grid.py, panel_views.py, scaling_views.py   views that draw
series_views.py                     runs over time, where their series were kept
charts/                             the drawings, which know only numbers
sheet.py                            columns that make a table, curves that make a chart
document.py                         the report as blocks, which html.py and markdown.py print
wording.py                          how numbers are written
compare.py                          another document: two folders beside each other
"""
