/* Figures to move: <div class="figure" data-figure="NAME" markdown> around a picture of the page.

   The picture is what is shown without JavaScript, and in notebooks. Here it gets sliders, and is
   drawn anew for their values. Each figure has `sliders`, `draw`, which returns the picture's
   contents, and `say`, which returns what it shows as a sentence. */

"use strict"; // so that functions in a block are not every script's

{
  const ink = (name) => `var(--picture-${name})`;
  const text = (x, y, words, more = "", fill = "ink") =>
    `<text x="${x}" y="${y}" fill="${ink(fill)}" ${more}>${words}</text>`;
  const rect = (x, y, width, height, fill, more = "") =>
    `<rect x="${x}" y="${y}" width="${width}" height="${height}" fill="${ink(fill)}" ${more}/>`;
  const path = (d, stroke, width = 2.5, more = "") =>
    `<path d="${d}" fill="none" stroke="${ink(stroke)}" stroke-width="${width}" ${more}/>`;
  const number = (x) => (Math.abs(x) < 0.005 ? 0 : x).toFixed(2).replace("-", "−");

  /* The tangent of x * (x + 3), computed with pairs, as in the lesson. -------------------------- */

  const dual = {
    add: ([x, dx], [y, dy]) => [x + y, dx + dy],
    mul: ([x, dx], [y, dy]) => [x * y, x * dy + dx * y],
  };
  const foo = (x) => dual.mul(x, dual.add(x, [3, 0]));

  const tangent = {
    height: 380,
    sliders: [{ name: "x", min: -4, max: 2.5, step: 0.1, value: 2, show: number }],
    place: { x: (x) => 60 + (x + 4.5) * 58, y: (y) => 300 - y * 17 },
    draw({ x }) {
      const [y, slope] = foo([x, 1]);
      const at = (x, y) => `${this.place.x(x).toFixed(1)} ${this.place.y(y).toFixed(1)}`;
      const xs = Array.from({ length: 71 }, (_, i) => -4.3 + i * 0.1);
      const curve = "M" + xs.map((x) => at(x, foo([x, 0])[0])).join("L");
      const line = `M${at(x - 1, y - slope)}L${at(x + 1, y + slope)}`;
      return (
        path(`M${at(-4.5, 0)}H500M${at(0, -3)}V20`, "line", 1) +
        path(curve, "ink") +
        path(line, "accent") +
        path(`M${at(x, 0)}L${at(x, y)}`, "line", 1, 'stroke-dasharray="4 4"') +
        `<circle cx="${this.place.x(x)}" cy="${this.place.y(y)}" r="9" fill="${ink("accent")}"/>` +
        text(70, 40, `x · (x + 3) at ${number(x)}`) +
        text(70, 70, `value ${number(y)}`) +
        text(70, 100, `tangent ${number(slope)}`, "", "accent")
      );
    },
    say({ x }) {
      const [y, slope] = foo([x, 1]);
      return `At x = ${number(x)} the value is ${number(y)}, and it moves ${number(slope)} times as far as x.`;
    },
    drag: (x) => ({ x: (x - 60) / 58 - 4.5 }),
  };

  /* Operations of a loop over n examples, and of vmap. ------------------------------------------ */

  // Of the lesson's first function: for one example, and for a batch, where w is repeated first.
  const SINGLE = ["mul", "sum", "exp"];
  const BATCHED = ["repeat", ...SINGLE];

  const sizes = {
    height: 372,
    sliders: [{ name: "examples", min: 1, max: 24, step: 1, value: 12, show: String }],
    columns(left, names, boxes, high, fill) {
      const column = (name, i) => {
        const x = left + i * 62;
        const stack = Array.from({ length: boxes }, (_, k) =>
          rect(x, 66 + k * high, 54, high - 2, fill, `stroke="${ink("line")}"`),
        );
        const head = 'text-anchor="middle" font-size="17"';
        return stack.join("") + text(x + 27, 56, name, head);
      };
      return names.map(column).join("");
    },
    draw({ examples }) {
      const high = 11;
      return (
        text(20, 28, "loop", 'font-weight="600"') +
        this.columns(20, SINGLE, examples, high, "cool") +
        text(20, 358, `${3 * examples} operations`) +
        text(256, 28, "vmap", 'font-weight="600"') +
        this.columns(256, BATCHED, 1, high * examples, "warm") +
        text(256, 358, "4 operations")
      );
    },
    say: ({ examples }) =>
      `A loop over ${examples} examples binds ${3 * examples} operations, each on one example. ` +
      `vmap binds 4, each on the whole batch.`,
  };

  /* Memory of a loop of n steps in k parts, over time, by the lesson's formula. ------------------ */

  const STEPS = 64;
  const RESIDUALS = 2; // for each step
  const DIVISORS = [1, 2, 4, 8, 16, 32, 64];

  const parts = {
    height: 380,
    sliders: [
      { name: "parts", min: 0, max: 6, step: 1, value: 3, show: (i) => String(DIVISORS[i]) },
    ],
    peak: (k) => k + (RESIDUALS * STEPS) / k,
    /* The curve of the loop in one part, to compare with. */
    whole(x, y) {
      const peak = this.peak(1);
      const d = `M40 ${y(1)}H${x(STEPS)}L${x(2 * STEPS)} ${y(peak)}L500 320`;
      const place = 'text-anchor="end"';
      return (
        path(d, "line", 1.5, 'stroke-dasharray="2 5"') +
        text(x(2 * STEPS) - 14, y(peak) + 8, `in one part: ${peak}`, place)
      );
    },
    draw({ parts: i }) {
      const k = DIVISORS[i];
      const each = STEPS / k;
      const x = (time) => Math.round(40 + (time / (3 * STEPS)) * 460);
      const y = (arrays) => 320 - arrays * 2;
      let now = 0;
      const points = [[0, 0]];
      for (let part = 1; part <= k; part++) {
        points.push([now, part], [(now += each), part]);
      }
      for (let part = k; part >= 1; part--) {
        points.push([(now += each), part + RESIDUALS * each], [(now += each), part - 1]);
      }
      const curve = points.map(([t, a]) => `${x(t)} ${y(a).toFixed(1)}`).join("L");
      const top = y(this.peak(k));
      return (
        `<path d="M${curve}Z" fill="${ink("cool")}" stroke="${ink("line")}" stroke-width="2"/>` +
        path(`M40 ${top}H500`, "accent", 2.5, 'stroke-dasharray="7 5"') +
        text(500, Math.max(top - 10, 24), `${this.peak(k)} arrays`,
          'text-anchor="end"', "accent") +
        (k > 1 ? this.whole(x, y) : "") +
        path("M40 20V320H500", "line") +
        text(40, 350, "forwards") +
        text(x(STEPS) + 6, 350, "backwards, each part again") +
        path(`M${x(STEPS)} 320v12`, "line")
      );
    },
    say({ parts: i }) {
      const k = DIVISORS[i];
      const n = STEPS / k;
      const count = (number, word) => `${number} ${word}${number > 1 ? "s" : ""}`;
      const sum = `${k} + 2 · ${n} = ${this.peak(k)} arrays`.replaceAll(" ", "\u00a0");
      return `${count(k, "part")} of ${count(n, "step")}: at most ${sum} at one time.`;
    },
  };

  /* ---------------------------------------------------------------------------------------------- */

  const FIGURES = { tangent, sizes, parts };

  class MovingFigure extends HTMLElement {
    connectedCallback() {
      if (this.figure) return;
      const box = this.firstElementChild;
      this.figure = FIGURES[box.dataset.figure];
      this.picture = box.querySelector("svg");
      this.picture.setAttribute("viewBox", `0 0 520 ${this.figure.height}`);
      this.said = document.createElement("p");
      this.said.setAttribute("aria-live", "polite");
      this.inputs = this.figure.sliders.map((slider) => this.makeSlider(slider));
      box.append(...this.inputs.map((input) => input.parentElement), this.said);
      if (this.figure.drag) this.letDrag();
      this.update();
    }

    makeSlider({ name, min, max, step, value }) {
      const label = document.createElement("label");
      const input = Object.assign(document.createElement("input"), { type: "range" });
      Object.assign(input, { name, min, max, step, value });
      input.addEventListener("input", () => this.update());
      label.append(name, input);
      return input;
    }

    update() {
      const values = {};
      this.inputs.forEach((input, i) => {
        values[input.name] = input.valueAsNumber;
        input.setAttribute("aria-valuetext", this.figure.sliders[i].show(input.valueAsNumber));
      });
      const paper = rect(0, 0, 520, this.figure.height, "paper", 'rx="10"');
      this.picture.innerHTML = paper + this.figure.draw(values);
      this.said.textContent = this.figure.say(values);
      this.picture.setAttribute("aria-label", this.said.textContent);
    }

    /* The point follows the pointer; fingers that go up or down scroll the page all the same. */
    letDrag() {
      const follow = (event) => {
        if (!(event.buttons & 1)) return;
        const scale = 520 / this.picture.getBoundingClientRect().width;
        const left = event.clientX - this.picture.getBoundingClientRect().left;
        this.inputs[0].value = this.figure.drag(left * scale).x;
        this.update();
      };
      this.dataset.drags = "";
      this.picture.addEventListener("pointerdown", (event) => {
        this.picture.setPointerCapture(event.pointerId);
        follow(event);
      });
      this.picture.addEventListener("pointermove", follow);
    }
  }

  customElements.define("moving-figure", MovingFigure);

  for (const box of document.querySelectorAll("div.figure[data-figure]:has(svg)")) {
    const figure = document.createElement("moving-figure");
    const place = document.createComment("");
    box.replaceWith(place);
    figure.append(box);
    place.replaceWith(figure);
  }
}
