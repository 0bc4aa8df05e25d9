"""How do values get into the pages that we write ourselves? As text: only a template says what is HTML.

A template lies beside the module that fills it, and is named from the package on: `core/report/report.html`.
"""

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

_TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parents[2]),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def render(template: str, **values: object) -> str:
    """The page of a template: a value is text, but where the template calls it safe; one that lacks is an error.

    >>> print(render("ui/shell/refused.html", title="<b>", sentence='"x"').partition("<main>")[2])
    <h1>&lt;b&gt;</h1>
    <p>&#34;x&#34;</p>
    </main></body></html>
    """
    return _TEMPLATES.get_template(template).render(values)
