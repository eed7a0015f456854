/* Python in a worker. It can be stopped only with the whole worker; then a new one is started. */

const PATIENCE = 13_000; // milliseconds for one check: those of the command, and some more

export class Stopped extends Error {}

export class Python {
  constructor(lesson) {
    this.lesson = lesson;
    this.turn = Promise.resolve(); // one question at a time
    this.start();
  }

  start() {
    this.worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
    this.ready = this.reply({ start: this.lesson });
    this.ready.catch(() => {}); // told to whoever asks something
  }

  restart(reason) {
    this.worker.terminate();
    this.fail?.(reason);
    this.start();
  }

  stop() {
    this.restart(new Stopped());
  }

  check(question) {
    const answer = this.turn.then(() => this.answer(question));
    this.turn = answer.catch(() => {});
    return answer;
  }

  /* What the checks found; if they did not end, what is to be said of that. */
  async answer(question) {
    await this.started();
    this.events = "";
    try {
      return (await this.reply({ ask: { call: "check", ...question } }, PATIENCE)).found;
    } catch (error) {
      if (error instanceof Stopped) throw error;
      const end = error.message === "too long" ? "too long" : "";
      if (!end) this.restart(error); // else that is done
      await this.started();
      const ask = { call: "explain_end", ...question, events: this.events, end };
      return (await this.reply({ ask })).found;
    }
  }

  /* Wait until Python is there; if it did not start the last time, try once more. */
  async started() {
    const { ready } = this;
    try {
      await ready;
    } catch (error) {
      if (error instanceof Stopped) throw error;
      if (ready === this.ready) this.start();
      await this.ready;
    }
  }

  /* Send a message; the answer to it. Each event that is told meanwhile is given new patience. */
  reply(message, patience) {
    return new Promise((resolve, reject) => {
      let timer;
      const tooLong = () => this.restart(new Error("too long"));
      const wait = () => {
        clearTimeout(timer);
        if (patience) timer = setTimeout(tooLong, patience);
      };
      const end = (how) => (value) => {
        clearTimeout(timer);
        this.fail = undefined;
        how(value);
      };
      this.fail = end(reject);
      this.worker.onerror = (event) => this.fail?.(new Error(event.message));
      this.worker.onmessage = ({ data }) => {
        if (data.events !== undefined) {
          this.events = data.events;
          wait();
        } else if (data.failed) end(reject)(new Error(data.failed));
        else end(resolve)(data);
      };
      wait();
      this.worker.postMessage(message);
    });
  }
}
