"""How does a result go to somebody without the app? As one HTML file that needs no network, and prints.

Everything that a user wrote is escaped as text; the figures' data are JSON in which no character can end their element.
Nothing but our two scripts may run, by a policy that names them by their hashes, and nothing can be fetched.
"""

import base64
import hashlib
from dataclasses import replace
from functools import lru_cache
from html import escape

import numpy as np
import pandas as pd
from plotly.offline import get_plotlyjs

from touchstone.core.evaluate.wording import Verdict, count, fixed
from touchstone.core.figures.theme import LIGHT, alt_text
from touchstone.core.report.files import tsv
from touchstone.core.report.markdown import markup
from touchstone.core.report.parts import Answer, Figure, Metric, Note, Part, Report, Section, Table

MOST_LINES = 200
"""A longer table is cut in a report; the files of tables are whole."""

_SHEET = ' class="sheet"'
LONGEST_WORD = 20
"""So many characters of a cell stay in one line."""

_STYLE = f"""
:root {{ color-scheme: light; }}
body {{ margin: 0; background: {LIGHT.paper}; color: {LIGHT.ink}; font: 15px/1.5 "Source Sans 3", "Source Sans Pro",
  "Helvetica Neue", Arial, sans-serif; }}
main {{ max-width: 58rem; margin: 0 auto; padding: 2.5rem 1.5rem 4rem; }}
h1 {{ font-size: 1.9rem; line-height: 1.2; margin: 0; }}
h2 {{ font-size: 1.25rem; margin: 2.2rem 0 .6rem; }}
.subject, .caption, footer, .interval {{ color: {LIGHT.grey}; }}
.caption {{ font-size: .87rem; margin: .3rem 0 1.4rem; }}
.verdict {{ border: 1px solid {LIGHT.line}; border-radius: 8px; padding: 1rem 1.2rem; margin: 1.4rem 0; }}
.verdict p {{ margin: 0 0 .7rem; }}
.metrics {{ display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: .8rem 1.4rem;
  margin: 0; }}
.metrics dt {{ font-size: .87rem; color: {LIGHT.grey}; }}
.metrics dd {{ margin: 0; }}
.value {{ font-size: 1.35rem; display: block; }}
.metrics .interval {{ display: block; }}
figure {{ margin: 1.2rem 0 0; }}
.scroll {{ overflow-x: auto; }}
table {{ border-collapse: collapse; font-size: .87rem; margin: .6rem 0; font-variant-numeric: tabular-nums; }}
caption {{ text-align: left; font-weight: 600; padding: .3rem 0; }}
th, td {{ text-align: left; padding: .25rem .9rem .25rem 0; border-bottom: 1px solid {LIGHT.line};
  vertical-align: top; }}
.number {{ text-align: right; }}
.long {{ overflow-wrap: anywhere; min-width: 9rem; }}
.formula.display {{ display: block; text-align: center; margin: .4rem 0; }}
pre {{ background: #F6F7F8; padding: .8rem 1rem; overflow-x: auto; font-size: .8rem; white-space: pre-wrap;
  overflow-wrap: anywhere; }}
footer {{ font-size: .87rem; }}
footer dl {{ display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; }}
footer dd {{ margin: 0; overflow-wrap: anywhere; }}
@page {{ margin: 16mm 14mm; }}
@media print {{
  body {{ font-size: 10pt; }}
  h1 {{ font-size: 1.5rem; }}
  .verdict {{ margin: .9rem 0; padding: .7rem 1rem; }}
  .metrics {{ grid-template-columns: repeat(4, 1fr); }}
  .metrics dt {{ min-height: 2.6em; }}
  main {{ max-width: none; padding: 0; }}
  figure, .verdict, tr {{ break-inside: avoid; }}
  h2, caption {{ break-after: avoid; }}
  .scroll {{ overflow: visible; }}
  table {{ font-size: 7.5pt; }}
  th, td {{ padding-right: .35rem; }}
  .screen, .modebar-container {{ display: none !important; }}
  .sheet {{ page: sheet; display: grid; grid-template-columns: 1fr 1fr; gap: 0 1.4rem; font-size: 7.6pt;
    line-height: 1.3; }}
  .sheet > :is(h1, .subject, section:has(figure, .how), footer) {{ grid-column: 1 / -1; }}
  .sheet > section {{ break-inside: avoid; }}
  .sheet h1 {{ font-size: 1.25rem; }}
  .sheet h2 {{ font-size: 8.2pt; margin: .45rem 0 .1rem; }}
  .sheet .how, .sheet footer h2 {{ display: none; }}
  .sheet p, .sheet figure {{ margin: .1rem 0; }}
  .sheet .caption, .sheet section:has(.how), .sheet footer {{ font-size: 6.8pt; }}
  .sheet section:has(.how) {{ margin-top: .5rem; }}
  .sheet .caption {{ margin: 0; }}
  .sheet > section p + p {{ margin-top: .12rem; }}
  .sheet footer dl {{ gap: 0 .6rem; margin: 0; }}
}}
@page sheet {{ margin: 10mm 12mm; }}
"""
_SCRIPT = """
"use strict";
const saving = {modeBarButtons: [["toImage"]], toImageButtonOptions: {format: "svg"}};
const config = {responsive: true, displaylogo: false, ...saving};
const drawn = [];
for (const place of document.querySelectorAll("[data-figure]")) {
  const figure = JSON.parse(document.getElementById(place.dataset.figure).textContent);
  Plotly.newPlot(place, figure.data, figure.layout, config);
  drawn.push(place);
}
addEventListener("beforeprint", () => drawn.forEach((place) => Plotly.relayout(place, {width: 640})));
addEventListener("afterprint", () => drawn.forEach((place) => Plotly.relayout(place, {width: null, autosize: true})));
"""


def to_html(report: Report) -> bytes:
    """The report as a file that opens in any browser, without a network."""
    library, answer = _library(), report.answer
    main, sections = _main_figure(answer)
    policy = (
        f"default-src 'none'; script-src '{_hash(library)}' '{_hash(_SCRIPT)}'; style-src 'unsafe-inline'; "
        "img-src data: blob:; font-src data:; base-uri 'none'; form-action 'none'"
    )
    parts = [
        '<!DOCTYPE html>\n<html lang="en-GB">\n<head>\n<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="referrer" content="no-referrer">',
        f"<title>{_text(report.question)} · {_text(report.subject)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>",
        f"<main{_SHEET if report.is_sheet else ''}>\n<h1>{_text(report.question)}</h1>",
        f'<p class="subject" dir="auto">{_text(report.subject)}</p>',
        _verdict(answer),
        _figure(main) if main else "",
        _findings(answer),
        *(_section(section) for section in sections),
        f'<section><h2 class="how">How to read this</h2>\n{markup(report.how_to_read)}</section>',
        _foot(report),
        "</main>",
        f"<script>{library}</script>\n<script>{_SCRIPT}</script>" if answer.figures else "",
        "</body>\n</html>\n",
    ]
    return "\n".join(part for part in parts if part).encode()


def _verdict(answer: Answer) -> str:
    said, numbers = answer.verdict, _metrics(answer.metrics)
    if said is None:
        return ""
    return f'<section class="verdict">{_answer(said)}{numbers}</section>'


def _findings(answer: Answer) -> str:
    if answer.verdict is None or not answer.verdict.findings:
        return ""
    return f"<ul>{''.join(f'<li>{_text(finding)}</li>' for finding in answer.verdict.findings)}</ul>"


def _main_figure(answer: Answer) -> tuple[Figure | None, tuple[Section, ...]]:
    """The figure that stands right below the verdict, and the sections without it: the first page shows both."""
    if answer.verdict is None or not answer.sections or not answer.sections[0].flat:
        return None, answer.sections
    first, *rest = answer.sections
    main, *others = first.flat
    if first.heading or not isinstance(main, Figure):
        return None, answer.sections
    return main, (replace(first, made=tuple(others)), *rest) if others else tuple(rest)


def _metrics(metrics: tuple[Metric, ...]) -> str:
    if not metrics:
        return ""
    each = (
        f'<div title="{_text(one.help or "")}"><dt>{_text(one.label)}</dt><dd>'
        f'<span class="value">{_text(one.value)}</span>'
        f'<span class="interval">{_text(one.interval)}</span>'
        f'<span class="interval">{_text(one.baseline)}</span></dd></div>'
        for one in metrics
    )
    return f'<dl class="metrics">{"".join(each)}</dl>'


def _section(section: Section) -> str:
    heading = f"<h2>{_text(section.heading)}</h2>" if section.heading else ""
    kind = "" if section.on_paper else ' class="screen"'
    return f"<section{kind}>{heading}\n" + "\n".join(_part(part) for part in section.flat) + "\n</section>"


def _part(part: Part) -> str:
    match part:
        case Figure():
            return _figure(part)
        case Table():
            return _table(part)
        case Verdict():
            return _answer(part)
        case Note():
            return f'<p class="caption">{_text(part.text)}</p>'
        case tuple():
            return _metrics(part)
    return f"<p>{_text(part)}</p>"


def _answer(said: Verdict) -> str:
    """A verdict's sentences without its findings: what it found, of how many, and what next."""
    advice = f"<p>{_text(said.advice)}</p>" if said.advice else ""
    return f"<p><strong>{_text(said.headline)}</strong> {_text(said.used)}</p>{advice}"


def _figure(one: Figure) -> str:
    drawn = one.draw(dark=False)
    name = "figure-" + hashlib.sha256(one.key.encode()).hexdigest()[:12]
    height = int(drawn.layout.height or 320)
    return (
        f'<figure><div data-figure="{name}" role="img" aria-label="{_text(alt_text(drawn))}" style="height:{height}px">'
        f'</div><figcaption class="caption">{_text(one.caption)}</figcaption></figure>\n'
        f'<script type="application/json" id="{name}">{_json(str(drawn.to_json()))}</script>'
    )


def _json(text: str) -> str:
    r"""JSON that can stand in an HTML element: nothing in it ends the element or opens a comment.

    >>> _json('"</script><!-- & -->"')
    '"\\u003c/script\\u003e\\u003c!-- \\u0026 --\\u003e"'
    """
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _table(one: Table) -> str:
    shown, n = one.lines.head(MOST_LINES), len(one.lines)
    numeric = {name: pd.api.types.is_numeric_dtype(shown[name]) for name in shown.columns}
    heads = "".join(f"<th{_class(name, numeric[name])}>{_text(name)}</th>" for name in shown.columns)
    lines = (
        "".join(
            f"<td{_class(value, numeric[name])}>{_cell(value, one.decimals.get(str(name)))}</td>"
            for name, value in zip(shown.columns, line, strict=True)
        )
        for line in shown.itertuples(index=False, name=None)
    )
    rest = f" The first {count(MOST_LINES)} of {count(n)} lines." if n > MOST_LINES else ""
    said = f'<p class="caption">{_text(one.caption + rest)}</p>' if one.caption or rest else ""
    return (
        f'<div class="scroll"><table><caption>{_text(one.title)}</caption><thead><tr>{heads}</tr></thead><tbody>'
        + "".join(f"<tr>{line}</tr>" for line in lines)
        + f"</tbody></table></div>{said}"
    )


def _class(value: object, numeric: bool) -> str:
    """How a cell stands: numbers to the right; words that no column can be as wide as are broken, others are not.

    >>> _class(1, True), _class("fox", False), _class("f" * 30, False)
    (' class="number"', ' dir="auto"', ' dir="auto" class="long"')
    """
    if numeric:
        return ' class="number"'
    longest = max(map(len, str(value).split()), default=0)
    return ' dir="auto" class="long"' if longest > LONGEST_WORD else ' dir="auto"'


def _cell(value: object, decimals: int | None) -> str:
    """A number as the page writes it, anything else as text, nothing for what is missing.

    >>> _cell(0.84512, 3), _cell(1797, None), _cell(float("nan"), 2), _cell("<b>", None)
    ('0.845', '1\u202f797', '', '&lt;b&gt;')
    """
    if value is None or value is pd.NA or (isinstance(value, float | np.floating) and np.isnan(value)):
        return ""
    if isinstance(value, bool | np.bool_):
        return str(bool(value)).lower()
    if isinstance(value, int | np.integer):
        return count(int(value))
    if isinstance(value, float | np.floating):
        return f"{value:.4g}" if decimals is None else fixed(float(value), decimals)
    return _text(value)


def _foot(report: Report) -> str:
    if not report.provenance and not report.parameters:
        return ""
    lines = "".join(f"<dt>{_text(name)}</dt><dd>{_text(value)}</dd>" for name, value in report.provenance)
    parameters = f'<p class="caption">{_parameters(report.parameters)}</p>' if report.parameters else ""
    return f"<footer><h2>Data, parameters and versions</h2><dl>{lines}</dl>\n{parameters}{_rows(report.rows)}</footer>"


def _parameters(text: str) -> str:
    """A line with what names the parameters, and the very file: nobody reads JSON on paper."""
    content, digest = base64.b64encode(text.encode()).decode(), hashlib.sha256(text.encode()).hexdigest()
    return (
        f'<a download="parameters.json" href="data:application/json;base64,{content}">Parameters (JSON)</a>, SHA-256 '
        f"{digest[:16]}…: <code>python -m core run --recreate parameters.json</code> computes this run again."
    )


def _rows(rows: pd.DataFrame | None) -> str:
    if rows is None:
        return ""
    content = base64.b64encode(tsv(rows)).decode()
    return (
        f'<h2>Rows</h2><p class="caption">Every trial, {count(len(rows))} rows. '
        '<a class="screen" download="trials.tsv" '
        f'href="data:text/tab-separated-values;base64,{content}">Save as TSV</a></p>'
    )


def _text(value: object) -> str:
    """Somebody's own words as text, in an element or an attribute."""
    return escape(str(value), quote=True)


def _hash(script: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


@lru_cache(maxsize=1)
def _library() -> str:
    """Plotly's own script, as it is installed; it holds nothing that would end its element."""
    library = get_plotlyjs()
    if "</script" in library.lower() or "<!--" in library:
        raise AssertionError("this version of plotly.js cannot stand in an HTML element")
    return library
