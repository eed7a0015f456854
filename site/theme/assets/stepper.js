/* A stepper: shows the items of an ordered list one at a time.

   In a page: <div class="stepper" markdown data-label="What it shows"> around an ordered list.
   Recorded programs have more: the program above the list, whose lines the steps name in data-at.
   A bullet list inside a step is drawn as a stack of boxes, the top of the stack first.
   Without JavaScript the page shows all steps, numbered. */

class StepViewer extends HTMLElement {
  connectedCallback() {
    this.list = this.querySelector("ol");
    this.lines = [...this.querySelectorAll(".stepper-line")]; // of the program, if it is shown
    this.steps = [...this.list.children];
    this.list.classList.add("stepper-steps");
    this.list.setAttribute("aria-live", "polite");
    this.list.before(this.makeControls());
    this.addEventListener("keydown", (event) => this.onKey(event));
    this.show(0);
  }

  makeControls() {
    const controls = document.createElement("div");
    controls.className = "stepper-controls";
    controls.setAttribute("role", "group");
    controls.setAttribute("aria-label", this.firstElementChild.dataset.label ?? "Step by step");
    this.previous = this.makeButton("Previous", -1);
    this.next = this.makeButton("Next", 1);
    this.position = document.createElement("span");
    controls.append(this.previous, this.position, this.next);
    return controls;
  }

  makeButton(text, by) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    button.addEventListener("click", () => this.show(this.current + by));
    return button;
  }

  onKey(event) {
    // A code block that scrolls needs the arrow keys for itself.
    if (event.target.closest("pre") || event.altKey || event.ctrlKey || event.metaKey) return;
    const last = this.steps.length - 1;
    const target = { ArrowLeft: this.current - 1, ArrowRight: this.current + 1, Home: 0, End: last };
    if (!(event.key in target)) return;
    event.preventDefault();
    this.show(target[event.key]);
  }

  show(index) {
    const last = this.steps.length - 1;
    this.current = Math.min(Math.max(index, 0), last);
    this.steps.forEach((step, i) => step.classList.toggle("stepper-current", i === this.current));
    const at = Number(this.steps[this.current].dataset.at);
    this.lines.forEach((line, i) => line.classList.toggle("stepper-at", i + 1 === at));
    this.position.textContent = `Step ${this.current + 1} of ${this.steps.length}`;
    // Not `disabled`: a button that becomes disabled loses the keyboard focus.
    this.previous.setAttribute("aria-disabled", String(this.current === 0));
    this.next.setAttribute("aria-disabled", String(this.current === last));
  }
}

customElements.define("step-viewer", StepViewer);

for (const box of document.querySelectorAll("div.stepper:has(> ol)")) {
  const viewer = document.createElement("step-viewer");
  const place = document.createComment("");
  box.replaceWith(place);
  viewer.append(box);
  place.replaceWith(viewer);
}
