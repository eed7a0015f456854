"""What editors and notebooks find in a workspace, so that they know the student's own packages.

VS Code and PyCharm resolve `minijax` to the workspace, and pytest finds the lessons' checks, so
that both show which of them fail. `jaxprentice.py` is what `%load_ext jaxprentice` loads.
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
MODULES = """\
<?xml version="1.0" encoding="UTF-8"?>
<project version="4">
  <component name="ProjectModuleManager">
    <modules>
      <module fileurl="file://$PROJECT_DIR$/.idea/jax.iml" filepath="$PROJECT_DIR$/.idea/jax.iml" />
    </modules>
  </component>
</project>
"""
MODULE = """\
<?xml version="1.0" encoding="UTF-8"?>
<module type="PYTHON_MODULE" version="4">
  <component name="NewModuleRootManager">
    <content url="file://$MODULE_DIR$">
      <sourceFolder url="file://$MODULE_DIR$" isTestSource="false" />
      <sourceFolder url="file://$MODULE_DIR$/tasks" isTestSource="false" />
    </content>
    <orderEntry type="inheritedJdk" />
    <orderEntry type="sourceFolder" forTests="false" />
  </component>
  <component name="TestRunnerService">
    <option name="PROJECT_TEST_RUNNER" value="py.test" />
  </component>
</module>
"""


def add(folder: Path) -> None:
    """Write all of it into a new workspace."""
    add_extension(folder)
    add_settings(folder)
    (folder / "pytest.ini").write_text(PYTEST, encoding="utf-8")
    shutil.copyfile(checks.PLUGIN, folder / "conftest.py")
    for helper in checks.HELPERS:
        shutil.copyfile(helper, folder / "lessons" / helper.name)


def add_extension(folder: Path) -> None:
    """What `%load_ext jaxprentice` loads."""
    shutil.copyfile(EXTENSION, folder / "jaxprentice.py")


def add_settings(folder: Path) -> None:
    """The settings of VS Code and PyCharm."""
    settings = {
        "python.analysis.extraPaths": [".", "tasks"],
        "python.autoComplete.extraPaths": [".", "tasks"],
        "python.defaultInterpreterPath": sys.executable,
        "python.testing.pytestEnabled": True,
        "python.testing.unittestEnabled": False,
        "python.testing.autoTestDiscoverOnSaveEnabled": True,
    }
    files = {
        ".vscode/settings.json": json.dumps(settings, indent=4) + "\n",
        ".idea/modules.xml": MODULES,
        ".idea/jax.iml": MODULE,
    }
    for path, text in files.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
