"""The frame of a page: one file, no script, nothing from the network, light or dark."""

from html import escape
from string import Template

_STYLE = """
:root { color-scheme: light dark; --ink: #1c2024; --dim: #60646c; --paper: #fff; --rule: #d9d9e0;
  --band: #f5f6f8; --mark: #0b68cb; --loud: #c4220f; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #edeef0; --dim: #b0b4ba; --paper: #131517; --rule: #3a3f44; --band: #1c1f22;
    --mark: #70b8ff; --loud: #ff8a76; } }
body { margin: 2rem auto; padding: 0 1rem; max-width: 72rem; background: var(--paper);
  color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; } h2 { margin-top: 3rem; border-bottom: 1px solid var(--rule); }
h1, h2, h3, p, li, dd { overflow-wrap: anywhere; }
.scroll { overflow-x: auto; }
.scroll th[scope=row], .scroll th:first-child { position: sticky; left: 0;
  background: var(--paper); }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: 1rem 0; }
caption { text-align: left; color: var(--dim); padding-bottom: .4rem; }
th, td { padding: .35rem .9rem .35rem 0; text-align: left; vertical-align: top;
  border-bottom: 1px solid var(--rule); white-space: nowrap; }
td.words { white-space: normal; overflow-wrap: anywhere; }
td.number, th.number { text-align: right; }
td small, .unit, .dim { color: var(--dim); font-weight: normal; font-size: .85em; }
.loud { color: var(--loud); font-weight: 600; } .unknown { color: var(--dim); font-style: italic; }
p.dim { margin: .2rem 0; }
.failed { border-left: .3rem solid var(--loud); padding-left: 1rem; }
.banner { color: var(--loud); border-left: .3rem solid var(--loud); background: var(--band);
  padding: .6rem 1rem;  font-weight: 600; }
table.dots th, table.dots td { border: 0; padding-block: 0; }
table.dots th { font-weight: normal; }
svg { display: block; width: clamp(16rem, 55vw, 32rem); }
svg .axis { stroke: var(--rule); } svg .grid { stroke: var(--rule); stroke-dasharray: 2 3; }
svg .median { stroke: var(--ink); stroke-width: 2; }
svg .law { fill: none; stroke: var(--dim); } figure { margin: 1rem 0; }
figcaption { color: var(--dim); }
svg .dot { fill: var(--mark); fill-opacity: .55; } svg .bound { fill: none; stroke: var(--mark); }
svg text { fill: var(--dim); font-size: 11px; text-anchor: middle; }
.facts th, .facts td { padding-block: .1rem; border: 0; } .facts th { font-weight: normal;
  color: var(--dim); white-space: normal; min-width: 5rem; }
pre { background: var(--band); padding: .8rem; overflow-x: auto; font-size: .85rem; }
summary { cursor: pointer; margin: .6rem 0; }
"""

# The policy makes sure of it: even a hole in the escaping could not load or run anything.
_PAGE = Template("""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>$title</title>
<style>$style</style>
</head>
<body>
$body
</body>
</html>
""")


def page(title: str, body: str) -> str:
    """Return a page; the title is text, the body is HTML."""
    return _PAGE.substitute(title=escape(title), style=_STYLE, body=body)
