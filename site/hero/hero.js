/* The first screen: a function that a reader changes, and what microjax makes of it.

   A table has all that is shown, for every place of the slider. The first one came with the page;
   for another function Python is started, once, and makes a new one. */

"use strict";
{
  const hero = document.querySelector(".hero");
  const part = (name) => hero.querySelector(`.hero-${name}`);
  const [input, slider, note] = ["f", "x", "note"].map(part);
  let table = JSON.parse(hero.dataset.table);
  const here = document.currentScript.src; // not a module: a page from a folder may load none
  let python;

  const shown = (x) => String(Number(x.toPrecision(4)));

  function show() {
    const i = Number(slider.value);
    part("at").textContent = `x = ${shown(table.at[i])}`;
    part("value").textContent = shown(table.value[i]);
    part("derivative").textContent = shown(table.derivative[i]);
    part("batch").textContent = `[${table.batch[i].map(shown).join(", ")}]`;
    part("program").textContent = table.program;
    draw(i);
  }

  /* The curve, and the line that touches it at x, on the axes of hero.html. */
  function draw(i) {
    const [width, height, least, most] = [320, 150, -3, 12];
    const across = (x) => ((x - table.at[0]) / (table.at.at(-1) - table.at[0])) * width;
    const up = (y) => height - ((Math.max(-99, Math.min(99, y)) - least) / (most - least)) * height;
    const point = (x, y) => `${across(x).toFixed(1)} ${up(y).toFixed(1)}`;
    const [x, y, slope] = [table.at[i], table.value[i], table.derivative[i]];
    part("curve").setAttribute("d", `M${table.at.map((at, k) => point(at, table.value[k])).join("L")}`);
    part("tangent").setAttribute("d", `M${point(x - 2, y - 2 * slope)}L${point(x + 2, y + 2 * slope)}`);
    part("dot").setAttribute("cx", across(x));
    part("dot").setAttribute("cy", up(y));
  }

  function start() {
    python = new Worker(new URL("runner/hero-worker.js", here), { type: "module" });
    note.textContent = "Python starts in this page. It is about 6 MB, once …";
    python.onmessage = ({ data }) => {
      if (data.asked !== input.value) return; // changed meanwhile
      note.textContent = data.failed ? data.failed.replace(/^\w*Error: /, "") : "microjax computed this, in your browser.";
      input.setAttribute("aria-invalid", String(Boolean(data.failed)));
      if (!data.failed) table = JSON.parse(data.said);
      show();
    };
    python.onerror = () => {
      note.textContent = "Python could not be loaded. Are you connected? Change f to try again.";
      python = undefined;
    };
  }

  slider.addEventListener("input", show);
  input.addEventListener("input", () => {
    if (!python) start();
    python.postMessage({ module: "hero", call: "table", asked: input.value });
  });
  hero.addEventListener("submit", (event) => event.preventDefault());
  show();
}
