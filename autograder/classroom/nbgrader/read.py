"""Reading by question: pages on this machine, on which remarks are given with a click or a key.

The address holds a secret, so that neither other accounts of the machine nor pages in the same
browser can use it. Each click is written to the gradebook at once; nothing is kept in between.
"""

import contextlib
import hmac
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock
from typing import Any
from urllib.parse import parse_qs, quote

from markupsafe import Markup
from pygments import highlight
from pygments.lexers.python import PythonLexer

from autograder.classroom.course import people
from autograder.classroom.course import settings as courses
from autograder.classroom.course.settings import Assignment
from autograder.classroom.intake import look_again, written
from autograder.classroom.intake.look_again import Request
from autograder.classroom.nbgrader import answers, gradebook, rubric
from autograder.classroom.nbgrader.answers import Answer, Part
from autograder.classroom.nbgrader.feedback_page import STYLES
from autograder.classroom.nbgrader.shown import formulas
from autograder.classroom.run import pages
from autograder.lessons.problem import Problem

KEYS = 9  # remarks that have a key
LONGEST = 64 * 1024  # bytes of what a form sends
HEADERS = {
    "Content-Type": "text/html; charset=utf-8",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_POLICY = (
    "default-src 'none'; style-src 'nonce-{0}'; script-src 'nonce-{0}'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)

Form = dict[str, str]


def serve(root: Path, name: str, say: Callable[[str], None]) -> None:
    """Serve the pages of an assignment until Ctrl-C, and say where they are."""
    with contextlib.suppress(KeyboardInterrupt), server(root.absolute(), name) as (found, address):
        say(f"Open {address} in a browser on this machine. Ctrl-C ends it; all is saved.")
        found.serve_forever()


@contextlib.contextmanager
def server(root: Path, name: str) -> Iterator[tuple[ThreadingHTTPServer, str]]:
    """A server for an assignment, and its address."""
    place = Place(root, courses.read(root).get(name), secrets.token_urlsafe(24))
    if not answers.is_graded(root, place.assignment):
        raise Problem(f"Nothing of {name} is graded yet. Run `nbgrader autograde {name}`.")
    own = type("OwnHandler", (Handler,), {"place": place, "lock": Lock()})
    with ThreadingHTTPServer(("127.0.0.1", 0), own) as made:
        yield made, f"http://127.0.0.1:{made.server_address[1]}/{place.secret}/"


@dataclass(frozen=True)
class Place:
    """What is read, and the secret in its address."""

    root: Path
    assignment: Assignment
    secret: str

    def part(self, number: str) -> tuple[int, Part]:
        """A part by the number in its address."""
        found = answers.parts(self.assignment)
        if not number.isdecimal() or not 1 <= int(number) <= len(found):
            raise Problem("There is no such page. Go back to the list.")
        return int(number), found[int(number) - 1]


# ------------------------------------------------------------------------------------------
# The pages


def index(place: Place, nonce: str) -> str:
    """The list of what there is to read, and the requests to look again."""
    course, name = courses.read(place.root), place.assignment.name
    known = rubric.read(place.root, name)
    found = answers.parts(place.assignment)
    with gradebook.opened(place.root) as book:
        rows = []
        for number, part in enumerate(found, 1):
            everyone = answers.handed(book, place.assignment, part)
            own = answers.of_class(everyone, place.root, place.assignment, part)
            rows.append(
                {
                    "number": number,
                    "part": part,
                    "answers": own,
                    "students": sum(len(x.who) for x in own),
                    "unread": sum(not x.is_read for x in own),
                    "remarks": len(known.get(part.id, [])),
                }
            )
        asked = look_again.requests(place.root, course)
        return pages.template("read_index.html.j2").render(
            assignment=name,
            rows=rows,
            requests=[x for each in asked if (x := _request(book, place, each))],
            nonce=nonce,
        )


def _request(book: Any, place: Place, each: Request) -> dict[str, Any] | None:
    """A request beside the verdict; None if it is about another assignment."""
    found = answers.parts(place.assignment)
    lesson = next((x for x in place.assignment.lessons if x.id == each.lesson), None)
    if lesson is None:
        return None
    numbers = {part.id: number for number, part in enumerate(found, 1)}
    part = next((x for x in found if x.id == each.exercise), Part(each.exercise, "", lesson, False))
    verdict = answers.verdict(place.root, place.assignment, part, each.student)
    grade = answers.grade(book, place.assignment, part, each.student)
    return {
        "request": each,
        "page": numbers.get(each.exercise, ""),
        "points": f"{grade.score:g} of {grade.max_score:g}" if grade else "",
        "message": (verdict["message"] if verdict else None) or "",
    }


def page(
    place: Place, number: int, part: Part, nonce: str, refused: tuple[str, Form] = ("", {})
) -> str:
    """All answers to a question, equal ones together, with the rubric.

    `refused` is a form of this page that was not taken, which is shown again, and why.
    """
    known = _rubric(rubric.read(place.root, place.assignment.name), place, part)
    roster = people.roster(place.root)
    with gradebook.opened(place.root) as book:
        everyone = list(answers.handed(book, place.assignment, part))
        found = answers.of_class(everyone, place.root, place.assignment, part)
        answered = {each.student for answer in found for each in answer.who}
        asked = {
            x.student: x.text
            for x in look_again.requests(place.root, courses.read(place.root))
            if x.exercise == part.id
        }
        return pages.template("read.html.j2").render(
            assignment=place.assignment.name,
            part=part,
            number=number,
            last=len(answers.parts(place.assignment)),
            question=formulas(written.harmless(part.lesson.question.strip()))
            if part.id.endswith(".question")
            else "",
            rubric=[(x, len(rubric.having(x, everyone))) for x in known],
            why=refused[0],
            typed={"do": "", "index": "", "text": "", "points": "", **refused[1]},
            answers=[_shown(part, answer, known) for answer in found],
            missing=[x.student for x in everyone if x.student not in answered],
            names=roster.names,
            asked=asked,
            keys=KEYS,
            styles=Markup(STYLES.get_style_defs()),
            nonce=nonce,
        )


def _rubric(known: dict[str, rubric.Rubric], place: Place, part: Part) -> rubric.Rubric:
    """A part's rubric; it begins with full points for what a person alone judges."""
    if part.id in known or not part.by_hand:
        return known.get(part.id, [])
    return [rubric.Remark("Right.", place.assignment.cells(part.lesson)[part.cell])]


def _shown(part: Part, answer: Answer, known: rubric.Rubric) -> dict[str, Any]:
    is_code = not part.id.endswith(".question")
    code = Markup(highlight(answer.text, PythonLexer(), STYLES)) if is_code else ""
    ours = {remark.line for remark in known}
    words = {"\n".join(x for x in each.lines if x not in ours) for each in answer.who}
    return {
        "key": answer.key,
        "code": code,
        "words": "" if is_code else formulas(answer.text),  # the intake has made it harmless
        "who": answer.who,
        "said": answer.said,
        "is_read": answer.is_read,
        "by_hand": [x for x in answer.who if rubric.by_hand(part, x, known)],
        "marks": [len(rubric.having(remark, answer.who)) for remark in known],
        "other": sorted(filter(str.strip, words)),  # what a person has said besides the rubric
    }


# ------------------------------------------------------------------------------------------
# What the forms do


def act(place: Place, number: str, form: Form) -> str:
    """Do what a form asks for; where to go then."""
    if number == "":  # the answer to a request; back to the list
        key = form["student"], form["exercise"], form.get("request", "")
        look_again.answer(place.root, key, form.get("text", ""))
        return "./#again"
    at, part = place.part(number)
    with (
        rubric.changed(place.root, place.assignment.name) as known,
        gradebook.opened(place.root) as book,
    ):
        own = known[part.id] = _rubric(known, place, part)
        if form["do"] == "mark":
            _mark(book, place, part, own, form)
        else:
            known[part.id] = _edited(own, form)
            new = [*known[part.id]] if form["do"] != "remove" else _without(own, form)
            rubric.renew(part, answers.handed(book, place.assignment, part), own, new)
        book.db.commit()
    return f"{at}#{quote(form.get('answer', 'rubric'))}"


def _mark(book: Any, place: Place, part: Part, own: rubric.Rubric, form: Form) -> None:
    index, key = int(form["index"]), form["answer"]
    everyone = answers.handed(book, place.assignment, part)
    for answer in answers.of_class(everyone, place.root, place.assignment, part):
        if answer.key == key and 0 <= index < len(own):
            rubric.toggle(part, answer.who, own, index)


def _without(own: rubric.Rubric, form: Form) -> list[rubric.Remark | None]:
    return [None if i == int(form["index"]) else x for i, x in enumerate(own)]


def _edited(own: rubric.Rubric, form: Form) -> rubric.Rubric:
    """The rubric with a remark added, changed or removed."""
    if form["do"] == "remove":
        return [x for x in _without(own, form) if x]
    remark = rubric.made(form.get("text", ""), form.get("points", ""))
    index = len(own) if form["do"] == "add" else int(form["index"])
    if remark.line in [x.line for i, x in enumerate(own) if i != index]:
        raise Problem("The rubric has this remark already. Change that one.")
    return [*own[:index], remark, *own[index + 1 :]]


# ------------------------------------------------------------------------------------------
# The server


class Handler(BaseHTTPRequestHandler):
    """Answers a browser; each server has a kind of its own, with its place."""

    place: Place
    lock: Lock  # a browser keeps connections open; what they ask for is done one by one

    def do_GET(self) -> None:
        """Send a page."""
        self._answer(self._page)

    def do_POST(self) -> None:
        """Do what a form asks for, and send the browser back to its page."""
        self._answer(self._act)

    def _act(self, number: str, nonce: str) -> None:
        size = min(max(int(self.headers["Content-Length"]), 0), LONGEST)
        sent = self.rfile.read(size).decode("utf-8", "replace")
        form = {key: found[0] for key, found in parse_qs(sent).items()}
        try:
            where = act(self.place, number, form)
        except Problem as problem:
            if form.get("do") not in ("add", "change"):
                raise
            part = self.place.part(number)
            self._send(400, page(self.place, *part, nonce, (str(problem), form)), nonce)
        else:
            self._send(303, "", nonce, Location=where)

    def _page(self, number: str, nonce: str) -> None:
        place = self.place
        text = page(place, *place.part(number), nonce) if number else index(place, nonce)
        self._send(200, text, nonce)

    def _answer(self, work: Callable[[str, str], None]) -> None:
        _, secret, number, *rest = [*self.path.split("/"), "", ""]
        nonce = secrets.token_urlsafe(12)
        if not hmac.compare_digest(secret.encode(), self.place.secret.encode()) or any(rest):
            self._send(404, "Not found.", nonce)
            return
        try:
            with self.lock:
                work(number, nonce)
        except Problem as problem:
            failed = pages.template("read_failed.html.j2").render(said=problem, nonce=nonce)
            self._send(400, failed, nonce)
        except (KeyError, TypeError, ValueError):
            self._send(400, "This form is of another page.", nonce)

    def _send(self, status: int, text: str, nonce: str, **more: str) -> None:
        content = text.encode()
        more |= {"Content-Length": str(len(content))}
        self.send_response(status)
        policy = {"Content-Security-Policy": _POLICY.format(nonce)}
        for key, value in (HEADERS | policy | more).items():
            self.send_header(key, value)
        self.end_headers()
        with contextlib.suppress(ConnectionError):  # the browser has turned the page
            self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Say nothing: the address holds the secret."""
