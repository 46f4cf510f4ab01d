"""Tables, as text for a terminal and as HTML for a notebook."""

from html import escape


def as_text(title, columns, rows, remarks=()):
    """Columns are names; the first one is text, the others are aligned to the right."""
    lines = [columns, *rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(columns))]

    def line_of(cells):
        padded = [cell.ljust(width) if i == 0 else cell.rjust(width) for i, (cell, width) in enumerate(zip(cells, widths))]
        return "  ".join(padded).rstrip()

    table = [line_of(line) for line in lines] if rows else []
    return "\n".join([title, *table, *remarks])


def as_html(title, columns, rows, remarks=()):
    def line_of(cells, tag):
        aligned = [f'<{tag} style="text-align:{"right" if i else "left"}">{escape(cell)}</{tag}>'
                   for i, cell in enumerate(cells)]
        return f"<tr>{''.join(aligned)}</tr>"

    table = ""
    if rows:
        body = "".join(line_of(row, "td") for row in rows)
        table = f"<table><thead>{line_of(columns, 'th')}</thead><tbody>{body}</tbody></table>"
    below = "".join(f"<div>{escape(remark)}</div>" for remark in remarks)
    return f"<div><b>{escape(title)}</b>{table}{below}</div>"
