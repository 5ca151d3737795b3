"""Run notebooks and keep their outputs: ``python notebooks/refresh.py [FILE ...]``; without files, all of them.

What changes from run to run without telling a reader anything (times, versions, ids) is left out.
"""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

FOLDER = Path(__file__).resolve().parent
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def refresh(path: Path) -> None:
    """Run one notebook in its folder and write it back.

    Raises
    ------
    CellExecutionError
        If a cell fails; the file is not changed.
    """
    notebook = nbformat.read(path, as_version=4)
    notebook.metadata = nbformat.from_dict(METADATA)
    resources = {"metadata": {"path": str(path.parent)}}
    NotebookClient(notebook, kernel_name="python3", record_timing=False, resources=resources).execute()
    for number, cell in enumerate(notebook.cells, 1):
        cell.metadata, cell.id = nbformat.NotebookNode(), f"cell-{number}"
        if cell.cell_type == "code":
            cell.outputs = merged(cell.outputs)
    notebook.metadata = nbformat.from_dict(METADATA)
    nbformat.write(notebook, path)


def merged(outputs: list[nbformat.NotebookNode]) -> list[nbformat.NotebookNode]:
    """Outputs without metadata; what a cell prints is one text, however often the kernel sent a part of it."""
    found: list[nbformat.NotebookNode] = []
    for output in outputs:
        if "metadata" in output:
            output.metadata = nbformat.NotebookNode()
        if found and output.output_type == "stream" and found[-1].get("name") == output.name:
            found[-1].text += output.text
        else:
            found.append(output)
    return found


def main() -> None:
    """Refresh the notebooks named on the command line."""
    paths = [Path(name) for name in sys.argv[1:]] or sorted(FOLDER.glob("*.ipynb"))
    for path in paths:
        if not path.is_file():
            sys.exit(f"notebooks/refresh.py: there is no notebook {path}")
    for path in paths:
        print(f"running {path.name}")
        try:
            refresh(path)
        except CellExecutionError as error:
            sys.exit(f"notebooks/refresh.py: {path.name}: {error}")


if __name__ == "__main__":
    main()
