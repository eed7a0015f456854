"""What editors and notebooks find in a workspace, so that they know the student's own packages.

VS Code resolves `minijax` to the workspace, and pytest finds the lessons' checks, so that editors
show which of them fail. `jaxprentice.py` is what `%load_ext jaxprentice` loads.
"""

import json
import shutil
import sys
from pathlib import Path

from autograder.student import checks

EXTENSION = Path(__file__).with_name("notebook_extension.py")

# Each lesson has a file of this name: with pytest's usual way to import, all would be one module.
PYTEST = """\
[pytest]
addopts = --import-mode=importlib --continue-on-collection-errors
python_files = checks.py tasks.py
pythonpath = . tasks lessons
testpaths = lessons
"""


def add(folder: Path) -> None:
    """Write all of it into a new workspace."""
    add_extension(folder)
    settings = {
        "python.analysis.extraPaths": [".", "tasks"],
        "python.autoComplete.extraPaths": [".", "tasks"],
        "python.defaultInterpreterPath": sys.executable,
        "python.testing.pytestEnabled": True,
        "python.testing.unittestEnabled": False,
        "python.testing.autoTestDiscoverOnSaveEnabled": True,
    }
    (folder / ".vscode").mkdir()
    text = json.dumps(settings, indent=4) + "\n"
    (folder / ".vscode/settings.json").write_text(text, encoding="utf-8")
    (folder / "pytest.ini").write_text(PYTEST, encoding="utf-8")
    shutil.copyfile(checks.PLUGIN, folder / "conftest.py")
    for helper in checks.HELPERS:
        shutil.copyfile(helper, folder / "lessons" / helper.name)


def add_extension(folder: Path) -> None:
    """What `%load_ext jaxprentice` loads."""
    shutil.copyfile(EXTENSION, folder / "jaxprentice.py")
