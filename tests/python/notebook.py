"""A notebook, executed by a kernel: attaches, multiplies, shows where products went, detaches.

usage: notebook.py NOTEBOOK
"""

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


tables = [html for html in shown("text/html") if "TileBLAS" in html]
expect(len(tables) == 2, f"there are {len(tables)} tables")
for table in tables:
    expect("1 products, 1 of them on a GPU" in table and ">sgemm</td>" in table and ">streamed</td>" in table, table)
plain = shown("text/plain")
expect(int(plain[0]) > 0, "nothing was bound")
expect(plain[-1] == "True", "what is computed attached and detached differs")
