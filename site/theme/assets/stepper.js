/* A stepper: shows the items of an ordered list one at a time.

   In a page: <section class="stepper" data-label="What it shows"> around an ordered list
   (autograder/lessons/stepper.py makes it of a recording). The program may be above the list; a
   step names its line in data-at, the line that led there in data-from, the level of its interpreter
   in data-level, and in data-rule the code to be opened below. Without JavaScript, and on paper, all steps are shown, numbered. */

class StepViewer extends HTMLElement {
  connectedCallback() {
    this.list = this.querySelector("ol");
    this.lines = [...this.querySelectorAll(".stepper-line")]; // of the program, if it is shown
    this.rules = [...this.querySelectorAll("[data-rule]:not(li)")];
    this.steps = [...this.list.children];
    this.steps.forEach((step, i) => (step.value = i + 1)); // numbers do not count what is hidden
    this.order = this.steps.map((_, i) => i); // of the steps that are visited: all, or one level
    this.list.classList.add("stepper-steps");
    this.list.setAttribute("aria-live", "polite");
    this.list.before(this.makeControls());
    this.addEventListener("keydown", (event) => this.onKey(event));
    this.listenToSwipes();
    this.setStage();
    for (const rule of this.rules) rule.addEventListener("toggle", () => this.onToggle(rule));
    this.show(0);
  }

  makeControls() {
    const controls = document.createElement("div");
    controls.className = "stepper-controls";
    controls.setAttribute("role", "group");
    controls.setAttribute("aria-label", this.firstElementChild.dataset.label ?? "Step by step");
    this.previous = this.makeButton("Previous", () => this.go(-1));
    this.next = this.makeButton("Next", () => this.go(1));
    this.position = document.createElement("span");
    this.playing = this.makeButton("Play", () => this.play(!this.timer));
    this.slider = this.makeSlider();
    const levels = new Set(this.steps.map((step) => step.dataset.level).filter(Boolean));
    this.only = this.makeButton("Only this level", () => this.toggleLevel());
    this.all = this.makeButton("All steps", () => this.toggleAll());
    this.all.setAttribute("aria-pressed", "false");
    controls.append(this.previous, this.playing, this.next, this.position, this.slider);
    if (levels.size > 1) controls.append(this.only);
    controls.append(this.all);
    return controls;
  }

  /* The stage is drawn when it comes into view: a page may have several. */
  setStage() {
    const data = this.querySelector('script[type="application/json"]');
    if (!data || !window.Stage) return;
    const program = this.lines[0]?.closest(".highlight");
    const place = (x) => (program ? program.after(x) : this.list.previousElementSibling.before(x));
    new IntersectionObserver((seen, watch) => {
      if (!seen.some((x) => x.isIntersecting)) return;
      watch.disconnect();
      this.stage = new window.Stage(JSON.parse(data.textContent), place);
      this.stage.show(this.current);
    }, { rootMargin: "300px" }).observe(this);
  }

  play(on) {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.playing.textContent = on ? "Pause" : "Play";
    if (!on) return;
    const last = this.order.at(-1);
    if (this.current === last) this.show(this.order[0]);
    const wait = 900 + 22 * this.steps[this.current].innerText.length;
    this.timer = setTimeout(() => {
      this.advance(1);
      this.play(this.current !== last);
    }, wait);
  }

  makeButton(text, act) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    button.addEventListener("click", act);
    return button;
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
    // A code block that scrolls needs the arrow keys for itself.
    if (event.target.closest("pre") || event.altKey || event.ctrlKey || event.metaKey) return;
    const last = this.order.length - 1;
    const place = this.order.indexOf(this.current);
    const target = { ArrowLeft: place - 1, ArrowRight: place + 1, Home: 0, End: last };
    if (!(event.key in target)) return;
    event.preventDefault();
    this.go(target[event.key] - place);
  }

  listenToSwipes() {
    let start;
    this.list.addEventListener("touchstart", (event) => {
      const free = event.touches.length === 1 && !event.target.closest("pre");
      start = free ? event.touches[0] : undefined;
    }, { passive: true });
    this.list.addEventListener("touchend", (event) => {
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
    const { at, from, level, rule } = this.steps[index].dataset;
    this.steps.forEach((step, i) => step.classList.toggle("stepper-current", i === index));
    this.lines.forEach((line, i) => {
      line.classList.toggle("stepper-at", i + 1 === Number(at));
      line.classList.toggle("stepper-from", i + 1 === Number(from));
    });
    this.rules.forEach((x) => x.classList.toggle("stepper-current", x.dataset.rule === rule));
    this.style.setProperty("--stepper-at", (index + 0.5) / this.steps.length);
    this.tell(level);
    this.keepHeight();
    if (at) this.showLine(this.lines[at - 1]);
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
