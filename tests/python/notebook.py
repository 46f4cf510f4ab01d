"""A notebook, executed by a kernel: attaches, multiplies, shows where products went, detaches.

usage: notebook.py NOTEBOOK
"""

import html
import re
import sys

import nbclient
import nbformat

notebook = nbformat.read(sys.argv[1], as_version=4)
nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()


def expect(condition, text):
    if not condition:
        sys.exit(f"{text}\n{nbformat.writes(notebook)}")


def shown(kind):
    """What cells show, of that kind."""
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    return [output.data[kind] for output in outputs if kind in output.get("data", {})]


def page_of(frame):
    """What a frame shows."""
    return html.unescape(re.search(r'srcdoc="([^"]*)"', frame)[1])


frames = [shown_html for shown_html in shown("text/html") if shown_html.startswith("<iframe")]
expect(len(frames) == 1, f"there are {len(frames)} pages")
page = page_of(frames[0])
expect(page.startswith("<!DOCTYPE html>") and page.rstrip().endswith("</html>"), page)
expect("<tr><td>sgemm</td><td>streamed</td><td>2</td>" in page, page)
expect('<rect class="streamed"' in page and '<rect class="link"' in page, page)
tables = [shown_html for shown_html in shown("text/html") if "TileBLAS" in shown_html and shown_html not in frames]
expect(len(tables) == 2, f"there are {len(tables)} tables")
for table in tables:
    expect("1 products, 1 of them on a GPU" in table and ">sgemm</td>" in table and ">streamed</td>" in table, table)
plain = shown("text/plain")
expect(re.fullmatch(r"bound \d+ references of \d+ objects?", plain[0]), f"attaching said: {plain[0]}")
expect(plain[-1] == "True", "what is computed attached and detached differs")
