"""``scripts/defects``: each defect of the table can be planted in the code as it is."""

import importlib.machinery
import importlib.util
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_defect_can_be_planted(monkeypatch):
    loader = importlib.machinery.SourceFileLoader("defects_script", str(ROOT / "scripts/defects"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    monkeypatch.setitem(sys.modules, loader.name, module)  # where dataclasses look for the module of a class
    loader.exec_module(module)
    assert len(module.DEFECTS) >= 10
    for defect in module.DEFECTS:
        assert (ROOT / defect.path).read_text().count(defect.old) == 1, defect.name
        assert defect.part in module.MARKS and defect.old != defect.new
