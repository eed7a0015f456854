/* A stepper: shows the items of an ordered list one at a time.

   In a page: <section class="stepper" data-label="What it shows"> around an ordered list
   (autograder/lessons/stepper.py makes it of a recording). The program may be above the list; a
   step names its line in data-at, the columns there in data-part, the line that led there in
   data-from, the level of its interpreter in data-level, in data-in a rule and the line of it that
   runs, and in data-rule the code to be opened below. The frames of a stage follow, or the cases
   of a program that a reader changes. Without JavaScript, and on paper, all steps are shown,
   numbered. */

class StepViewer extends HTMLElement {
  connectedCallback() {
    this.list = this.querySelector("ol");
    this.program = this.list.closest(".stepper").querySelector(":scope > .highlight");
    this.rules = [...this.querySelectorAll("[data-rule]:not(li)")];
    this.list.classList.add("stepper-steps");
    this.list.setAttribute("aria-live", "polite");
    this.list.before(this.makeControls());
    this.read();
    this.addEventListener("keydown", (event) => this.onKey(event));
    this.listenToSwipes();
    this.setStage();
    for (const rule of this.rules) rule.addEventListener("toggle", () => this.onToggle(rule));
    this.show(0);
  }

  /* The program and the steps, as they are on the page. */
  read() {
    this.lines = this.program ? [...this.program.querySelectorAll(".stepper-line")] : [];
    this.steps = [...this.list.children];
    this.steps.forEach((step, i) => (step.value = i + 1)); // numbers do not count what is hidden
    this.order = this.steps.map((_, i) => i); // of the steps that are visited: all, or one level
    const levels = new Set(this.steps.map((step) => step.dataset.level).filter(Boolean));
    this.only.hidden = levels.size < 2;
  }

  makeControls() {
    const controls = document.createElement("div");
    controls.className = "stepper-controls";
    controls.setAttribute("role", "group");
    controls.setAttribute("aria-label", this.firstElementChild.dataset.label ?? "Step by step");
    this.previous = this.makeButton("‹", () => this.go(-1), "Previous");
    this.next = this.makeButton("›", () => this.go(1), "Next");
    this.position = document.createElement("span");
    this.playing = this.makeButton("Play", () => this.play(!this.timer));
    this.slider = this.makeSlider();
    this.speed = this.makeSelect("Speed", { "½": 0.5, "1": 1, "2": 2, "4": 4 }, "1");
    controls.append(this.previous, this.playing, this.next, this.position, this.slider, this.speed.parentNode);
    this.only = this.makeButton("Only this level", () => this.toggleLevel());
    this.all = this.makeButton("All steps", () => this.toggleAll());
    this.all.setAttribute("aria-pressed", "false");
    const more = document.createElement("div");
    more.className = "stepper-controls stepper-more";
    more.append(this.only, this.all);
    this.list.after(more);
    return controls;
  }

  /* The stage is drawn when it comes into view: a page may have several. */
  setStage() {
    const data = this.querySelector('script[type="application/json"]');
    if (!data || !window.Stage) return;
    const column = document.createElement("div"); // the program, and the rule that is at work
    column.className = "stepper-code";
    if (this.program) {
      this.program.before(column);
      column.append(this.program);
    }
    const place = (x) => (this.program ? column.after(x) : this.list.previousElementSibling.before(x));
    new IntersectionObserver((seen, watch) => {
      if (!seen.some((x) => x.isIntersecting)) return;
      watch.disconnect();
      const found = JSON.parse(data.textContent);
      this.stage = new window.Stage(found.cases?.[found.start].frames ?? found, place);
      this.stage.canvas.addEventListener("click", () => this.go(1));
      if (found.cases) column.before(this.makeChoices(found));
      this.show(this.current);
    }, { rootMargin: "300px" }).observe(this);
  }

  /* What a reader changes: a control for each choice, and a recording for each case of all. */
  makeChoices({ choices, cases, start }) {
    const set = document.createElement("fieldset");
    set.className = "stepper-choices";
    set.append(Object.assign(document.createElement("legend"), { textContent: "Change the program" }));
    let rest = start;
    const places = Object.values(choices).reverse().map((x) => [rest % x.length, (rest = Math.floor(rest / x.length))][0]).reverse();
    const controls = Object.entries(choices).map(([name, values], i) => {
      const control = this.makeChoice(name, values, places[i]);
      set.append(control.parentNode);
      return { control, values };
    });
    set.addEventListener("input", () => {
      const place = ({ control, values }) => control.type === "checkbox" ? values.indexOf(control.checked ? "True" : "False") : Number(control.value);
      this.choose(cases[controls.reduce((sum, x) => sum * x.values.length + place(x), 0)]);
    });
    return set;
  }

  /* True and False are a box to tick, numbers are a slider, all else is a list. */
  makeChoice(name, values, place) {
    if (values.length === 2 && values.includes("True") && values.includes("False")) {
      return this.makeInput(name, { type: "checkbox", checked: values[place] === "True" });
    }
    if (!values.every((x) => Number.isFinite(Number(x)))) {
      return this.makeSelect(name, Object.fromEntries(values.map((x, i) => [x, i])), values[place]);
    }
    const range = this.makeInput(name, { type: "range", min: 0, max: values.length - 1, value: place });
    const shown = document.createElement("output");
    const tell = () => range.setAttribute("aria-valuetext", (shown.textContent = values[range.value]));
    range.addEventListener("input", tell);
    tell();
    range.after(shown);
    return range;
  }

  /* Another case: the step stays the same, and the last one stays the last. */
  choose(found) {
    this.play(false);
    const last = this.current === this.steps.length - 1;
    this.program.querySelector("code").innerHTML = found.program;
    this.list.innerHTML = found.items;
    this.read();
    const step = last ? this.steps.length - 1 : Math.min(this.current, this.steps.length - 1);
    this.stage.load(found.frames);
    this.show(step);
  }

  play(on) {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.playing.textContent = on ? "Pause" : "Play";
    if (!on) return;
    const last = this.order.at(-1);
    if (this.current === last) this.show(this.order[0]);
    const wait = (900 + 22 * this.steps[this.current].textContent.length) / this.speed.value;
    this.timer = setTimeout(() => {
      this.advance(1);
      this.play(this.current !== last);
    }, wait);
  }

  makeButton(text, act, name) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    if (name) button.setAttribute("aria-label", name);
    button.addEventListener("click", act);
    return button;
  }

  /* A form control in a label with its name. */
  makeInput(name, facts, kind = "input") {
    const label = document.createElement("label");
    const input = Object.assign(document.createElement(kind), facts);
    label.append(`${name} `, input);
    return input;
  }

  makeSelect(name, options, chosen) {
    const select = this.makeInput(name, {}, "select");
    for (const [text, value] of Object.entries(options)) select.add(new Option(text, value));
    if (chosen) select.value = options[chosen];
    return select;
  }

  makeSlider() {
    const slider = document.createElement("input");
    slider.type = "range";
    slider.min = 1;
    slider.setAttribute("aria-label", "Step");
    slider.addEventListener("input", () => {
      this.play(false);
      this.show(this.order[slider.value - 1]);
    });
    return slider;
  }

  onKey(event) {
    // A code block that scrolls needs the arrow keys for itself, and so does a form control.
    if (event.target.closest("pre, select, .stepper-choices") || event.altKey || event.ctrlKey || event.metaKey) return;
    const last = this.order.length - 1;
    const place = this.order.indexOf(this.current);
    const target = { ArrowLeft: place - 1, ArrowRight: place + 1, Home: 0, End: last };
    if (!(event.key in target)) return;
    event.preventDefault();
    this.go(target[event.key] - place);
  }

  listenToSwipes() {
    let start;
    this.addEventListener("touchstart", (event) => {
      const free = event.touches.length === 1 && !event.target.closest("pre, input, select");
      start = free ? event.touches[0] : undefined;
    }, { passive: true });
    this.addEventListener("touchend", (event) => {
      if (!start) return;
      const x = event.changedTouches[0].clientX - start.clientX;
      const y = event.changedTouches[0].clientY - start.clientY;
      if (Math.abs(x) > 40 && Math.abs(x) > 2 * Math.abs(y)) this.go(x < 0 ? 1 : -1);
    }, { passive: true });
  }

  onToggle(rule) {
    // All rules are open or closed together, so that going on keeps the code in sight.
    if (rule.dataset.rule !== this.steps[this.current].dataset.rule) return;
    for (const other of this.rules) other.open = rule.open;
  }

  toggleLevel() {
    const level = this.steps[this.current].dataset.level;
    const one = this.only.getAttribute("aria-pressed") !== "true" && level !== undefined;
    const all = this.steps.map((_, i) => i);
    this.order = one ? all.filter((i) => this.steps[i].dataset.level === level) : all;
    this.only.setAttribute("aria-pressed", String(one));
    this.show(this.current);
  }

  toggleAll() {
    const all = this.classList.toggle("stepper-all");
    this.all.setAttribute("aria-pressed", String(all));
  }

  go(by) {
    this.play(false);
    this.advance(by);
  }

  advance(by) {
    const last = this.order.length - 1;
    const place = this.order.indexOf(this.current) + by;
    this.show(this.order[Math.min(Math.max(place, 0), last)]);
  }

  show(index) {
    this.current = index;
    this.stage?.show(index);
    const { at, from, level, rule, part, in: inner } = this.steps[index].dataset;
    this.steps.forEach((step, i) => step.classList.toggle("stepper-current", i === index));
    this.mark(this.lines, at, from);
    this.underline(this.lines[at - 1], part);
    this.rules.forEach((x) => x.classList.toggle("stepper-current", x.dataset.rule === rule));
    this.style.setProperty("--stepper-at", (index + 0.5) / this.steps.length);
    this.tell(level);
    if (!this.stage) return; // not yet in view: nothing is measured
    this.keepHeight();
    this.showRule(inner);
    if (at) this.showLine(this.lines[at - 1]);
  }

  mark(lines, at, from) {
    lines.forEach((line, i) => {
      line.classList.toggle("stepper-at", i + 1 === Number(at));
      line.classList.toggle("stepper-from", i + 1 === Number(from));
    });
  }

  /* The expression that is evaluated, by its columns. */
  underline(line, part) {
    const [begin, end] = part?.split(" ") ?? [0, 0];
    line?.style.setProperty("--part", `${begin}ch`);
    line?.style.setProperty("--long", `${end - begin}ch`);
  }

  /* Beside the program the rule that asks for the operation, with its line marked. */
  showRule(inner) {
    const [number, at] = inner?.split(" ") ?? [];
    const code = this.rules.find((x) => x.dataset.rule === number)?.querySelector(".highlight");
    this.classList.toggle("stepper-in-rule", Boolean(code));
    if (this.inRule !== number) {
      this.pane?.remove();
      this.pane = code?.cloneNode(true);
      this.inRule = number;
      this.pane?.classList.add("stepper-pane");
      if (code) this.program.after(this.pane);
    }
    if (!code) return;
    const lines = [...this.pane.querySelectorAll(".stepper-line")];
    this.mark(lines, at);
    this.showLine(lines[at - 1]);
  }

  keepHeight() {
    // What is below moves down for a taller step, and not up again: the way back is quiet.
    if (this.steps[this.current].querySelector("details[open]")) return;
    const { width } = this.list.getBoundingClientRect();
    if (width !== this.width) this.style.removeProperty("--stepper-height");
    this.width = width;
    const { height } = this.list.getBoundingClientRect();
    this.style.setProperty("--stepper-height", `${height}px`);
  }

  showLine(line) {
    // Scrolls the program, if it is long, and never the page.
    const code = line?.closest("pre");
    if (!code || code.scrollHeight <= code.clientHeight) return;
    const above = line.getBoundingClientRect().top - code.getBoundingClientRect().top;
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const top = code.scrollTop + above - code.clientHeight / 2;
    code.scrollTo({ top, behavior: still ? "auto" : "smooth" });
  }

  tell(level) {
    const place = this.order.indexOf(this.current);
    const one = this.order.length < this.steps.length;
    const text = `Step ${this.current + 1} of ${this.steps.length}`;
    this.position.textContent = text;
    this.slider.max = this.order.length;
    this.slider.value = place + 1;
    this.slider.setAttribute("aria-valuetext", text);
    this.only.textContent = `Only ${level === undefined ? "this level" : `level ${level}`}`;
    this.only.setAttribute("aria-pressed", String(one));
    this.only.setAttribute("aria-disabled", String(level === undefined));
    // Not `disabled`: a button that becomes disabled loses the keyboard focus.
    this.previous.setAttribute("aria-disabled", String(place === 0));
    this.next.setAttribute("aria-disabled", String(place === this.order.length - 1));
  }
}

customElements.define("step-viewer", StepViewer);

for (const box of document.querySelectorAll(".stepper:has(> ol)")) {
  const viewer = document.createElement("step-viewer");
  const place = document.createComment("");
  box.replaceWith(place);
  viewer.append(box);
  place.replaceWith(viewer);
}
