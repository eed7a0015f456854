"""Lighthouse's own checks of accessibility and of good practice, in Debian's Chromium.

It measures three pages, with `--full` only: it is 200 packages and 185 MB, and axe, of which its
rules are made, looks at all pages anyway. The version is 12.8.2, since 13 needs a Node that no
Debian has yet; `overrides` in `site/lighthouse/` pins a package for which a dependency asks for
"latest".
"""

import json
import os
import shutil
import subprocess
import tempfile
from hashlib import sha256
from pathlib import Path

import pytest

from autograder.lessons import places

SOURCE = places.ROOT / "site" / "lighthouse"
CATEGORIES = ("accessibility", "best-practices")


@pytest.fixture(scope="session")
def lighthouse():
    """The command, installed from its lock file into a folder that git ignores."""
    npm = shutil.which("npm")
    if not npm or not shutil.which("chromium"):
        pytest.skip("needs npm and the Debian package chromium")
    made_of = (SOURCE / "package-lock.json").read_bytes()
    folder = places.ROOT / "build" / "lighthouse" / sha256(made_of).hexdigest()[:16]
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="new-", dir=folder.parent) as name:
            work = shutil.copytree(SOURCE, Path(name, "work"))
            options = ["--ignore-scripts", "--no-audit", "--no-fund"]
            subprocess.run([npm, "ci", *options], cwd=work, check=True, timeout=300)
            work.replace(folder)
    return folder / "node_modules" / ".bin" / "lighthouse"


@pytest.mark.full
@pytest.mark.parametrize("page", ["", "lessons/jvp/", "api/numpy/"])
def test_lighthouse_finds_nothing_to_complain_about(lighthouse, address, page, tmp_path):
    flags = "--headless=new --no-sandbox" if os.geteuid() == 0 else "--headless=new"
    command = [
        lighthouse, f"{address}/{page}", "--quiet", "--no-enable-error-reporting",
        "--output=json",
        f"--output-path={tmp_path / 'found.json'}", f"--chrome-flags={flags}",
        f"--only-categories={','.join(CATEGORIES)}",
    ]  # fmt: skip
    chromium = {"CHROME_PATH": shutil.which("chromium")}
    subprocess.run(command, check=True, env=os.environ | chromium, timeout=180)
    found = json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))
    failed = [x["title"] for x in found["audits"].values() if x["score"] not in (1, None)]
    assert failed == []
    assert [found["categories"][x]["score"] for x in CATEGORIES] == [1, 1]
