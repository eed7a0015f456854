/* The module of a lesson as its learner has it: pieces of text, of which the exercises change. */

import { Python } from "./python.js";

export class Lesson {
  static async load(id) {
    const reply = await fetch(new URL(`${id}.json`, import.meta.url));
    if (!reply.ok) throw new Error(`${id}.json: ${reply.status}`);
    return new Lesson(id, await reply.json());
  }

  constructor(id, { module, pieces, titles, names }) {
    Object.assign(this, { id, module, pieces, titles, names });
    this.given = Object.fromEntries(pieces.map(({ exercise, text }) => [exercise, text]));
    this.key = `jaxprentice.work.${id}`;
    this.written = this.read();
    this.python = new Python(id);
    this.changed = new EventTarget();
  }

  read() {
    try {
      return { ...JSON.parse(localStorage.getItem(this.key)) };
    } catch {
      return {}; // there is no storage, or something else was in it
    }
  }

  keep() {
    try {
      localStorage.setItem(this.key, JSON.stringify(this.written));
    } catch {
      // Without storage, the work lasts as long as the page.
    }
  }

  get file() {
    return this.module.split("/").pop();
  }

  text(exercise) {
    return this.written[exercise] ?? this.given[exercise];
  }

  write(exercise, text) {
    if (text === this.given[exercise]) delete this.written[exercise];
    else this.written[exercise] = text;
    this.keep();
    this.changed.dispatchEvent(new Event("change"));
  }

  /* The whole file. A definition ends with its line, whatever the editor ends with. */
  get source() {
    return this.pieces.map((piece) => this.piece(piece)).join("");
  }

  piece({ exercise, text }) {
    return exercise ? this.text(exercise).trimEnd() + "\n" : text;
  }

  /* The line of the file at which an exercise begins, from 1. */
  line(exercise) {
    const at = this.pieces.findIndex((piece) => piece.exercise === exercise);
    const before = this.pieces.slice(0, at).map((piece) => this.piece(piece));
    return before.join("").split("\n").length;
  }

  /* Check an exercise, and let the page remember which ones are done. */
  async check(exercise) {
    const found = await this.python.check({ lesson: this.id, source: this.source, exercise });
    for (const id of found.done) jaxprentice.progress.mark(id, true);
    return found;
  }

  get done() {
    const progress = jaxprentice.progress.get();
    return this.exercises.filter((id) => progress[id]);
  }

  get exercises() {
    return Object.keys(this.titles);
  }
}
