"""How do values get into the pages that we write ourselves? As text: only a template says what is HTML.

A template lies beside the module that fills it, and is named from the package on: `core/report/report.html`.
"""

from base64 import b64encode
from hashlib import sha256
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

_TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parents[2]),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_TEMPLATES.filters |= {"base64": lambda content: b64encode(content).decode(), "sha256": sha256}


def render(template: str, **values: object) -> str:
    r"""The page of a template: a value is text, but where the template calls it safe; one that lacks is an error.

    >>> render("ui/shell/refused.html", title="<b>", sentence='"x"').partition("<main>")[2].partition("</main>")[0]
    '\n<h1>&lt;b&gt;</h1><p>&#34;x&#34;</p>'
    """
    return _TEMPLATES.get_template(template).render(values)
