"""What a reader gets: report.html, summary.md, figures.

page.py                                      the whole report; VIEWS has each view by its name
views.py, figure_views.py, finding_views.py  analysed cells as blocks; they get a scene.py
plots.py, panel_plot.py, figure_style.py     the figures
document.py, html.py, markdown.py            blocks, and their two printed forms
wording.py                                   how numbers are written
compare.py                                   `lab compare`
"""
