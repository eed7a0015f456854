"""nbgrader's `collect` from an exchange in which students wrote what they liked."""

import os
import pwd
import re
import subprocess
import time
from pathlib import Path

import pytest
from accounts import only_root
from archives import deepen
from nbgrader_class import bare_course, run

from autograder.classroom.intake import files
from autograder.lessons import manifest

pytestmark = [pytest.mark.slow, only_root]

LESSON = manifest.get("interpreters")
EARLY = "2020-01-01 10:00:00 UTC"
HONEST, HOSTILE, LINKED = "games", "mail", "news"  # accounts that every Debian has


def now():
    return f"{time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime())} UTC"


class Exchange:
    """A course directory, and the folder where its students' submissions come in."""

    def __init__(self, folder):
        self.folder, self.course = folder, bare_course(folder / "course", lesson=LESSON)
        self.inbound = folder / "exchange" / "jaxprentice" / "inbound"
        self.inbound.mkdir(parents=True)
        with (self.course / "nbgrader_config.py").open("a") as file:
            file.write(f'\nc.Exchange.root = "{folder / "exchange"}"\n')

    def hand_in(self, account, source, student=None, when=None):
        folder = self.inbound / f"{student or account}+{LESSON.id}+{when or now()}"
        (folder / LESSON.module).parent.mkdir(parents=True)
        (folder / LESSON.module).write_text(source)
        (folder / "timestamp.txt").write_text(when or now())
        os.chown(folder, pwd.getpwnam(account).pw_uid, -1)
        return folder

    def collect(self, *options):
        return run(self.course, "collect", LESSON.id, *options)

    def collected(self, student, file=LESSON.module):
        return self.course / "submitted" / student / LESSON.id / file


@pytest.fixture
def exchange(tmp_path):
    return Exchange(tmp_path)


def test_what_hostile_students_hand_in_stops_nobody_and_is_nobody_elses(exchange, tmp_path):
    exchange.hand_in(HONEST, "honest", when=EARLY)
    exchange.hand_in(HOSTILE, "forged", student=HONEST)  # the later one would count
    folder = exchange.hand_in(HOSTILE, "x" * 9_000_000)
    (tmp_path / "secret.py").write_text("secret")
    (folder / "link.py").symlink_to(tmp_path / "secret.py")
    os.mkfifo(folder / "fifo.py")
    deepen(folder)
    for when in ("never", "9" * 40, "0000-00-00 00:00:00 UTC"):
        exchange.hand_in(HOSTILE, "", when=when)
    (exchange.inbound / f"{LINKED}+{LESSON.id}+{now()}").symlink_to(tmp_path)
    log = exchange.collect()
    assert exchange.collected(HONEST).read_text() == "honest"
    assert f"it belongs to the account {HOSTILE}." in log
    assert exchange.collected(HOSTILE).stat().st_size == files.ARCHIVE_LIMIT + 1
    assert sorted(x.name for x in exchange.collected(HOSTILE, "").iterdir()) == [
        str(Path(LESSON.module).parent), "timestamp.txt",
    ]  # fmt: skip
    assert not (exchange.course / "submitted" / LINKED).exists()
    assert not [*exchange.course.glob("submitted/*/.collecting-*")]
    assert "check_owner = False" in log  # for those who have no accounts
    exchange.collect("--ExchangeCollect.check_owner=False", "--update")
    assert exchange.collected(HONEST).read_text() == "forged"
    # The last submission counts, and a false time is told.
    assert f"{HONEST}+{LESSON.id}+{EARLY} is later than its name says" in log
    exchange.hand_in(HONEST, "second")
    told = re.findall(f"{HONEST}.* is later than its name says", exchange.collect("--update"))
    assert (exchange.collected(HONEST).read_text(), len(told)) == ("second", 1)
    subprocess.run(["rm", "-r", folder], check=True)  # pytest cannot
