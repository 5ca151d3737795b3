"""The notebooks are kept with outputs that read well; pytest runs them with nbmake (see pyproject.toml)."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest

FOLDER = Path(__file__).parent.parent / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
LARGEST = 500_000  # bytes; larger ones load slowly on a web page
HOW = "run python notebooks/refresh.py"


def outputs(notebook):
    return [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]


def texts(notebook):
    """Everything that a reader could read in outputs, pictures in shapes included."""
    for output in outputs(notebook):
        yield output.get("text", "")
        for kind, data in output.get("data", {}).items():
            if kind != "image/png":
                yield "".join(data)


def test_all_eight_are_there():
    assert [path.name[:2] for path in NOTEBOOKS] == ["01", "02", "03", "04", "05", "06", "07", "08"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
def test_a_notebook_is_kept_as_it_should_be(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert path.stat().st_size < LARGEST
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1)), f"not run from top to bottom; {HOW}"
    assert outputs(notebook), HOW
    for output in outputs(notebook):
        assert output.output_type != "error"
        assert output.get("name") != "stderr", f"warnings or progress bars: {output.text}"
        assert not output.get("metadata"), HOW
    assert notebook.metadata.keys() == {"kernelspec", "language_info"}, HOW
    assert notebook.metadata.kernelspec.name == "python3"
    assert not any(cell.metadata for cell in notebook.cells), HOW
    for text in texts(notebook):
        found = re.search(r"(?<![\w.:<])/(?:home|root|tmp|usr|opt|work|Users|private|var)/\S*", text)
        assert found is None, f"a path of the machine it ran on: {found[0]}"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
def test_links_lead_somewhere(path):
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            for target in re.findall(r"\]\(([^)#:]+)\)", cell.source):
                assert (FOLDER / target).exists(), target


def test_the_documentation_names_every_notebook():
    pages = [FOLDER.parent / "README.md", *(FOLDER.parent / "docs").glob("*.md")]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    assert set(re.findall(r"notebooks/(\w+\.ipynb)", text)) == {path.name for path in NOTEBOOKS}
