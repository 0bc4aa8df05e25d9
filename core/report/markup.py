"""How do our own texts look outside the app? As HTML: from Markdown with formulas, or from a template."""

import re
from base64 import b64encode
from hashlib import sha256
from html import escape
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markdown_it import MarkdownIt

_FORMULA = re.compile(r"\$\$(.+?)\$\$|\$(?! )([^$\n]+?)(?<! )\$", re.DOTALL)
_HELD = re.compile("\ue000(\\d+)\ue001")
_TOKEN = re.compile(r"\\([a-zA-Z]+|.)|([_^])|([{}])|(\s+)|([a-zA-Z])|(.)", re.DOTALL)
_LETTERS = {"sigma": "σ", "epsilon": "ε", "theta": "θ", "rho": "ρ", "mu": "μ", "alpha": "α", "beta": "β"}
_SIGNS = {"le": " ≤ ", "ge": " ≥ ", "sim": " ~ ", "times": " × ", "cdot": "·", "sqrt": "√", "to": " → "}
_WORDS = {"arg": "arg ", "max": "max ", "left": "", "right": ""}
_SYMBOLS = _LETTERS | _SIGNS | _WORDS
_SPACES = ",; "
_UPRIGHT = ("mathrm", "text")
_LEVELS = {"_": "sub", "^": "sup"}
_OPERATORS = "EP"  # expectation and probability stand upright


def markup(text: str) -> str:
    r"""Markdown (CommonMark and tables) as HTML: raw HTML in it is text, and so is any link that is not one.

    >>> markup("**Gap** of $\\theta_2$ <b>")
    '<p><strong>Gap</strong> of <span class="formula">θ<sub>2</sub></span> &lt;b&gt;</p>\n'
    """
    formulas: list[str] = []

    def hold(found: re.Match[str]) -> str:
        formulas.append(formula(found[1] or found[2], display=found[1] is not None))
        return f"\ue000{len(formulas) - 1}\ue001"

    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    html = reader.render(_FORMULA.sub(hold, text.replace("\ue000", "").replace("\ue001", "")))
    return _HELD.sub(lambda found: formulas[int(found[1])], html)


def formula(latex: str, *, display: bool = False) -> str:
    r"""The little LaTeX that our texts use, as HTML with letters, subscripts and superscripts.

    >>> formula(r"E[\mathrm{Acc}_X]")
    '<span class="formula">E[Acc<sub><i>X</i></sub>]</span>'
    """
    place = "formula display" if display else "formula"
    return f'<span class="{place}">{_Formula(latex).html()}</span>'


class _Formula:
    """A formula while it is read from left to right."""

    def __init__(self, latex: str):
        self.tokens = list(_TOKEN.finditer(latex))
        self.at = 0

    def html(self, *, upright: bool = False, within: bool = False) -> str:
        """What follows, up to the brace that ends it."""
        parts = []
        while self.at < len(self.tokens):
            if within and self.tokens[self.at][0] == "}":
                self.at += 1
                break
            parts.append(self._next(upright))
        return "".join(parts)

    def _next(self, upright: bool) -> str:
        command, level, brace, space, letter, other = self.tokens[self.at].groups()
        self.at += 1
        if command in _UPRIGHT:
            return self._argument(upright=True)
        if command is not None:
            return " " if command in _SPACES else escape(_SYMBOLS.get(command, command))
        if level is not None:
            return f"<{_LEVELS[level]}>{self._argument(upright=upright)}</{_LEVELS[level]}>"
        if brace is not None:
            return self.html(upright=upright, within=True) if brace == "{" else ""
        if space is not None:
            return " "
        if letter is not None:
            return letter if upright or letter in _OPERATORS else f"<i>{letter}</i>"
        return escape(other)

    def _argument(self, *, upright: bool) -> str:
        """The group in braces that follows, or the one sign."""
        if self.at < len(self.tokens) and self.tokens[self.at][0] == "{":
            self.at += 1
            return self.html(upright=upright, within=True)
        return self._next(upright) if self.at < len(self.tokens) else ""


# How do values get into the pages that we write ourselves? As text: only a template says what is HTML.
#
# A template lies beside the module that fills it, and is named from the package on: `core/report/report.html`.


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
