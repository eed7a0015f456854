/* "Change this": an example as text that is changed and run, by Python in a worker. */

const PATIENCE = 10_000; // milliseconds
let worker;
let turn = Promise.resolve(); // one example at a time

export function open(place, button) {
  const codes = JSON.parse(place.dataset.codes);
  const text = document.createElement("textarea");
  const said = document.createElement("pre");
  text.value = codes.at(-1).trimEnd();
  text.rows = text.value.split("\n").length + 1;
  text.spellcheck = false;
  text.setAttribute("aria-label", "The example, for you to change");
  said.setAttribute("role", "status");
  button.textContent = "Run";
  button.onclick = async () => {
    button.disabled = true;
    said.textContent = worker ? "Python runs …" : "Python starts in this page; about 6 MB are loaded once.";
    turn = turn.then(() => run([...codes.slice(0, -1), text.value]));
    said.textContent = await turn;
    button.disabled = false;
  };
  button.before(text);
  place.append(said);
  text.focus();
}

/* What the last of these programs prints, after the others. */
function run(codes) {
  worker ??= new Worker(new URL("hero-worker.js", import.meta.url), { type: "module" });
  return new Promise((resolve) => {
    let timer;
    const stop = (why) => {
      worker.terminate();
      worker = undefined;
      resolve(why);
    };
    worker.onmessage = ({ data }) => {
      clearTimeout(timer);
      if (data.ready) timer = setTimeout(stop, PATIENCE, "It does not end within 10 seconds.");
      else resolve(data.said);
    };
    worker.onerror = () => stop("Python could not be loaded. Are you connected? Try again.");
    worker.postMessage({ module: "change", call: "run", asked: JSON.stringify(codes) });
  });
}
