/* What opens under an exercise: the editor, the buttons, and what the checks say. */

import { makeEditor } from "./editor.js";
import { Stopped } from "./python.js";

export class Panel {
  constructor(place, lesson) {
    this.place = place;
    this.lesson = lesson;
    this.exercise = place.dataset.exercise;
    const group = element("div", { className: "try-panel" });
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", `Try ${this.exercise}`);
    group.append(...this.parts());
    place.replaceChildren(style(), group);
    this.editor.focus();
    this.start();
  }

  parts() {
    const frame = element("div", { className: "try-editor" });
    this.editor = makeEditor(frame, this.lesson, this.exercise, () => this.check());
    const bar = element("div", { className: "try-bar" });
    this.checkButton = button("Check", () => this.check(), "try-check");
    this.stopButton = button("Stop", () => this.stop());
    this.stopButton.hidden = true;
    bar.append(
      this.checkButton,
      this.stopButton,
      button("Show a hint", () => this.hint()),
      button("Start over", () => this.startOver()),
      button(`Download ${this.lesson.file}`, () => this.download()),
    );
    this.said = element("p", { className: "try-said" });
    this.said.setAttribute("role", "status");
    this.told = element("pre", { className: "try-told", tabIndex: 0, hidden: true });
    this.told.setAttribute("aria-label", "What the check found");
    return [frame, bar, this.said, this.told];
  }

  async start() {
    this.say("Python is starting. You can already write.");
    try {
      await this.lesson.python.started();
      this.ready = true;
      if (this.stopButton.hidden) this.say("Python is ready.");
    } catch (error) {
      if (error instanceof Stopped) return;
      this.say(`Python did not start (${error.message}). Press Check to try again.`);
    }
  }

  async check() {
    if (!this.stopButton.hidden) return;
    this.working(true);
    this.say(this.ready ? "Checking …" : "Python is starting, and then checks your code …");
    try {
      this.show(await this.lesson.check(this.exercise));
    } catch (error) {
      const stopped = error instanceof Stopped;
      this.say(stopped ? "Stopped. Python is starting again." : `It failed: ${error.message}. Try again.`);
    } finally {
      this.working(false);
    }
  }

  stop() {
    this.lesson.python.stop();
    this.checkButton.focus();
  }

  working(yes) {
    const held = [this.checkButton, this.stopButton].includes(document.activeElement);
    this.checkButton.hidden = yes;
    this.stopButton.hidden = !yes;
    if (held) (yes ? this.stopButton : this.checkButton).focus();
  }

  show({ status, lines, waits, checks }) {
    const { done, exercises, titles } = this.lesson;
    if (status === "done") {
      const all = `All ${exercises.length} exercises of this lesson are done.`;
      const some = `Done: ${done.length} of ${exercises.length} exercises of this lesson.`;
      const passed = checks === 1 ? "Its check passes." : `All ${checks} checks pass.`;
      this.say(`Done: ${titles[this.exercise]}. ${passed} ${done.length < exercises.length ? some : all}`, "done");
    } else if (status === "to do") {
      this.say("Still to do: replace the line that raises NotImplementedError with your code.");
    } else if (status === "waits") {
      this.say("This can be checked when these are done: ", "", waits.map(link));
    } else {
      this.say("Not right yet.", "wrong");
    }
    this.told.textContent = lines.join("\n");
    this.told.hidden = !lines.length;
  }

  say(text, how = "", links = []) {
    this.said.dataset.how = how;
    this.said.replaceChildren(text, ...links.flatMap((x, i) => (i ? [", ", x] : [x])));
    this.told.hidden = true;
  }

  /* The page has the hints; the next one that is closed is opened. */
  hint() {
    const hints = [];
    let next = this.place;
    while ((next = next.nextElementSibling)?.matches("details")) hints.push(next);
    const closed = hints.find((hint) => !hint.open) ?? hints.at(-1);
    closed.open = true;
    closed.querySelector("summary").focus();
    closed.scrollIntoView({ block: "nearest" });
  }

  /* As a change in the editor, which can be undone there. */
  startOver() {
    const insert = this.lesson.given[this.exercise].replace(/\n$/, "");
    this.editor.dispatch({ changes: { from: 0, to: this.editor.state.doc.length, insert } });
    this.editor.focus();
    this.say("You are back at the beginning. Ctrl-Z or Cmd-Z brings back what you had.");
  }

  download() {
    const url = URL.createObjectURL(new Blob([this.lesson.source], { type: "text/x-python" }));
    element("a", { href: url, download: this.lesson.file }).click();
    URL.revokeObjectURL(url);
    this.say(`To go on on your machine, save the file in your workspace as ${this.lesson.module}.`);
  }
}

function element(name, properties) {
  return Object.assign(document.createElement(name), properties);
}

function button(textContent, onclick, className = "") {
  return element("button", { type: "button", textContent, onclick, className });
}

function link(exercise) {
  return element("a", { href: `#${exercise}`, textContent: exercise });
}

function style() {
  return element("link", { rel: "stylesheet", href: new URL("runner.css", import.meta.url) });
}
