"""What if labels stand in front of the texts, as fastText has them? Brought to columns of a label and a text."""

from touchstone.core.data.errors import DataError
from touchstone.core.data.limits import Limits
from touchstone.core.data.tables.lines import decode
from touchstone.core.data.tables.table import Table, make_table

MARK = "__label__"


def parse_fasttext(content: bytes, name: str, limits: Limits) -> Table:
    """Read lines such as "__label__good A fine film."; DataError at a line with several labels, or with none.

    >>> table = parse_fasttext(b"__label__good A fine film.\\n__label__bad A dull one.\\n", "films.txt", Limits())
    >>> table.strings("label"), table.texts("text")
    (['good', 'bad'], ['A fine film.', 'A dull one.'])
    """
    text, notes = decode(content, name)
    lines, labels, texts = [], [], []
    for line, written in enumerate(text.split("\n"), start=1):
        if not written.strip():
            continue
        marked, _, rest = written.strip().partition(" ")
        if not marked.startswith(MARK) or rest.lstrip().startswith(MARK):
            raise DataError(
                f"{name}, line {line}: {'several labels' if marked.startswith(MARK) else 'no label'} in front of the "
                f"text. Each line must begin with one, such as {MARK}good, and a space."
            )
        lines.append(line)
        labels.append(marked.removeprefix(MARK))
        texts.append(rest.strip())
        limits.check_rows(name, len(lines))
    return make_table(name, ["label", "text"], [labels, texts], lines=lines, notes=tuple(notes))
