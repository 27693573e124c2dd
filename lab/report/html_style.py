"""How the HTML report looks: on a wide window, on a phone, in dark mode and in print."""

from .charts import palette

_ON_SCREEN = """
* { box-sizing: border-box; }
html { color-scheme: light dark; -webkit-text-size-adjust: 100%; }
body { margin: 0; padding: 2rem 1.5rem 5rem; color: var(--ink); background: var(--ground);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", "Helvetica Neue", "Liberation Sans", Arial,
  sans-serif; overflow-wrap: break-word; }
main { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0 2.5rem; max-width: 76rem;
  margin: 0 auto; }
h1 { margin: 0 0 .2rem; font-size: 1.75rem; line-height: 1.2; letter-spacing: -.01em; }
h2 { margin: 3rem 0 .8rem; padding-top: .9rem; border-top: 1.5px solid var(--ink);
  font-size: 1.25rem; line-height: 1.25; }
h3 { margin: 1.6rem 0 .4rem; font-size: 1rem; }
.overview h2 { margin: 1.5rem 0 .4rem; padding: 0; border: 0; font-size: 1rem; }
p, ul { max-width: 46rem; margin: .6rem 0; }
ul { padding-left: 1.2rem; }
li { margin: .25rem 0; }
.subtitle { margin: 0 0 1rem; color: var(--soft); font-size: .9rem; }
a { color: inherit; text-decoration: underline; text-decoration-color: var(--line);
  text-underline-offset: .18em; }
a:hover { text-decoration-color: currentColor; }
nav { font-size: .82rem; line-height: 1.35; margin: 2rem 0 0; }
nav a { display: block; padding: .16rem 0; text-decoration: none; }
.grey, .grey * { color: var(--soft); }
.grey svg { opacity: .7; }
nav a.part { padding-left: .9rem; color: var(--soft); }
nav a:hover { text-decoration: underline; }
figure { margin: 1.2rem 0 1.6rem; }
.panels { display: grid; gap: .9rem 1.1rem; align-items: start;
  grid-template-columns: repeat(auto-fill, minmax(min(285px, 100%), 1fr)); }
.panels svg { display: block; width: 100%; max-width: 27rem; height: auto; }
.panels svg.key { grid-column: 1 / -1; width: auto; max-width: 100%; justify-self: start; }
.panels svg.wide { grid-column: 1 / -1; max-width: 60rem; }
figcaption { max-width: 52rem; color: var(--soft); font-size: .84rem; line-height: 1.45; }
figcaption b { color: var(--ink); }
.panels + figcaption { margin-top: .5rem; }
.scroll { overflow-x: auto; margin-top: .5rem; }
table { border-collapse: collapse; font-size: .82rem; line-height: 1.35;
  font-variant-numeric: tabular-nums lining-nums; }
th, td { padding: .24rem .55rem; border-bottom: 1px solid var(--line); text-align: left;
  vertical-align: top; }
th:first-child, td:first-child { padding-left: 0; }
thead th { border-bottom: 1px solid var(--soft); font-weight: 600; vertical-align: bottom; }
thead .group th { border-bottom: 1px solid var(--line); }
td.k, td.n { white-space: nowrap; }
.n { text-align: right; }
.tight table { font-size: .74rem; }
.tight th, .tight td { padding: .22rem .3rem; }
.tight td:not([class]) { min-width: 6rem; }
td:not([class]) { min-width: 9rem; }
td small { display: block; color: var(--soft); font-size: .86em; }
tr:target, figure:target figcaption b { background: var(--band); }
.checks { max-width: none; padding: 0; list-style: none; }
.checks li { display: grid; grid-template-columns: 1.4rem minmax(0, 1fr); margin: .18rem 0; }
.checks i { font-style: normal; font-weight: 600; }
.checks small { color: var(--soft); font-size: .86rem; }
code { padding: .05em .25em; background: var(--band); border-radius: 3px; font-size: .9em; }
details { margin: .4rem 0; font-size: .88rem; }
summary { cursor: pointer; }
pre { padding: .8rem; background: var(--band); overflow-x: auto; font-size: .76rem;
  white-space: pre-wrap; overflow-wrap: anywhere; }
@media (min-width: 70rem) {
  main { grid-template-columns: 12.5rem minmax(0, 1fr); }
  nav { grid-column: 1; grid-row: 1 / span 2; position: sticky; top: 0; align-self: start;
    max-height: 100vh; overflow-y: auto; margin: 0; padding: .2rem 0 2rem; }
  .overview, .rest { grid-column: 2; }
}
@media (max-width: 40rem) {
  body { padding: 1rem 1rem 3rem; }
  h1 { font-size: 1.4rem; }
  .panels:has(.wide) { overflow-x: auto; }
  .panels svg.wide { width: 40rem; max-width: none; }
}
"""

_IN_PRINT = """
@page { size: A4; margin: 10mm 12mm; }
@media print {
  body { padding: 0; font-size: 8pt; line-height: 1.3; orphans: 1; widows: 1; }
  main { display: block; max-width: none; }
  h1 { font-size: 15pt; }
  h2 { margin: 2.4mm 0 .6mm; padding-top: .8mm; font-size: 10.5pt; break-after: avoid; }
  h3 { margin: 2mm 0 .6mm; font-size: 9pt; break-after: avoid; }
  p, ul, figcaption { max-width: none; }
  p, ul { margin: 1mm 0; }
  ul { font-size: 7.5pt; }
  .subtitle { margin-bottom: 1mm; }
  .overview { break-after: page; font-size: 7.8pt; line-height: 1.24; }
  .overview h2 { margin: 1.6mm 0 .4mm; font-size: 9pt; }
  .overview figure { margin: 1mm 0 1.4mm; }
  .overview ul { margin: .5mm 0; font-size: inherit; }
  .overview .panels { gap: .8mm 4mm; }
  .overview .panels + figcaption { margin-top: .4mm; }
  .overview .panels svg.key { grid-column: auto; order: 1; align-self: center; }
  .overview figcaption, .overview .subtitle, .overview small { font-size: 7pt; }
  li { margin: .3mm 0; }
  .checks li { margin: 0; }
  nav { display: none; }
  figure { margin: 1.2mm 0 2mm; }
  .panels { grid-template-columns: repeat(3, minmax(0, 1fr)); gap: 1.5mm 4mm; }
  .panels svg { max-width: 100%; }
  .panels + figcaption { margin-top: 1mm; }
  figure:not(.long) { break-inside: avoid; }
  figure.short { display: inline-table; vertical-align: top; margin-right: 3mm; }
  figure.short figcaption { display: table-caption; caption-side: top; }
  tr, svg { break-inside: avoid; }
  figcaption { font-size: 7.2pt; }
  .scroll { overflow: visible; margin-top: 1mm; }
  table, .tight table { font-size: 6.6pt; line-height: 1.18; }
  th, td, .tight th, .tight td { padding: .1mm 1.1mm; }
  td:not([class]), .tight td:not([class]) { min-width: 0; }
  details { display: none; }
}
"""


def _variables(is_dark: bool) -> str:
    ground, band = ("#14181d", "#20262e") if is_dark else ("#fff", "#f3f5f8")
    return f"--ground: {ground}; --band: {band}; {palette.variables(is_dark)}"


STYLE = (
    f":root {{ {_variables(False)} }}\n"
    f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {_variables(True)} }} }}"
    f"{_ON_SCREEN}{palette.RULES}{_IN_PRINT}"
)
