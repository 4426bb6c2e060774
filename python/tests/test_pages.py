"""Runs the Python code of the pages, the example and the notebooks from top to bottom."""

import json
import os
import re
import runpy

import inkling
import pytest
from conftest import ROOT


@pytest.mark.parametrize("page", ["docs/learning.md", "docs/python.md"])
def test_page(page, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.S)
    assert blocks
    names = {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)
        printed = capfd.readouterr().out
        for told in re.findall(r"print\(.*?# (.+)", block):  # the output according to the page
            assert told in printed


def test_example(capfd):
    example = runpy.run_path(str(ROOT / "examples/gpt.py"))
    example["main"](ROOT / "LICENSE", 8)
    printed = capfd.readouterr().out
    pytorch = json.loads((ROOT / "tests/reference/gpt.json").read_text())
    for label, key in (("loss", "losses"), ("validation", "validation")):
        ours = [float(number) for number in re.findall(label + r" (\S+)", printed)]
        assert ours == pytest.approx(pytorch[key], rel=0, abs=1e-4)
    assert len(printed) > 600  # 300 of them are generated


@pytest.mark.parametrize("name", ["attention", "training"])
def test_notebook(name, tmp_path):
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel"), pytest.importorskip("matplotlib")
    notebook = nbformat.read(ROOT / f"python/notebooks/{name}.ipynb", as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells)
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    pictures = [o for cell in notebook.cells for o in cell.get("outputs", []) if "image/png" in o.get("data", {})]
    assert pictures
