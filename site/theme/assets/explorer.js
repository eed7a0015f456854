/* A jaxpr explorer: shows where a variable is made and used, in a table and in a graph.

   autograder/lessons/explored.py draws both. Rows, boxes and arrows name their variables in
   data-makes, data-uses and data-vars. Pointing shows a variable for a moment; a click, a tap or
   the keyboard chooses it, and Escape lets it go. Without JavaScript there is the text. */

"use strict"; // so that functions in a block are not every script's

{
  const words = (element, name) => (element.dataset[name] ?? "").split(" ").filter(Boolean);
  const list = new Intl.ListFormat("en");

  class JaxprExplorer extends HTMLElement {
    connectedCallback() {
      if (this.ready) return;
      this.ready = true;
      const box = this.firstElementChild;
      const jaxprs = [...this.querySelectorAll(".explorer-jaxpr")];
      if (this.querySelector(".explorer-hlo")) box.prepend(this.makeSwitch());
      for (const jaxpr of jaxprs) explore(jaxpr);
    }

    makeSwitch() {
      const label = document.createElement("label");
      const input = document.createElement("input");
      input.type = "checkbox";
      input.addEventListener("change", () => this.classList.toggle("explorer-lowered", input.checked));
      label.className = "explorer-switch";
      label.append(input, " Show the StableHLO");
      return label;
    }
  }

  function explore(jaxpr) {
    const text = jaxpr.querySelector(".explorer-text");
    const view = jaxpr.querySelector(".explorer-view");
    const details = Object.assign(document.createElement("details"), { className: "note" });
    details.append(Object.assign(document.createElement("summary"), { textContent: "As text" }));
    text.replaceWith(details);
    details.append(text);
    const said = document.createElement("p");
    said.className = "explorer-said";
    said.setAttribute("aria-live", "polite");
    view.before(said);
    view.after(details);
    view.hidden = false;
    choose(jaxpr, view, said);
  }

  function choose(jaxpr, view, said) {
    const buttons = [...view.querySelectorAll("button[data-var]")];
    let chosen = "";

    function pick(name) {
      chosen = name;
      for (const button of buttons) button.setAttribute("aria-pressed", button.dataset.var === name);
      said.textContent = sentence(view, name);
      show(view, name);
    }

    view.addEventListener("pointerover", (event) => show(view, nameAt(event.target) || chosen));
    view.addEventListener("pointerleave", () => show(view, chosen));
    view.addEventListener("focusin", (event) => {
      if (event.target.matches("button:focus-visible")) pick(event.target.dataset.var);
    });
    view.addEventListener("click", (event) => {
      const name = nameAt(event.target);
      if (name) pick(name);
    });
    jaxpr.addEventListener("keydown", (event) => event.key === "Escape" && pick(""));
    pick("");
  }

  /* The variable that is under the pointer: of an equation's box, the first that it makes. */
  function nameAt(target) {
    const own = target.closest("[data-var]");
    if (own) return own.dataset.var;
    const box = target.closest("g[data-makes]");
    return box ? (words(box, "makes")[0] ?? words(box, "uses")[0] ?? "") : "";
  }

  function show(view, name) {
    const mark = (element, kind, on) => element.classList.toggle(kind, Boolean(name) && on);
    for (const element of view.querySelectorAll("[data-makes]")) {
      mark(element, "explorer-made", words(element, "makes").includes(name));
      mark(element, "explorer-used", words(element, "uses").includes(name));
    }
    for (const path of view.querySelectorAll("[data-vars]")) {
      mark(path, "explorer-on", words(path, "vars").includes(name));
    }
    for (const place of view.querySelectorAll("[data-var]")) {
      mark(place, "explorer-here", place.dataset.var === name);
    }
  }

  function sentence(view, name) {
    if (!name) return "Choose a variable to see where it is made and where it is used.";
    const places = (kind) =>
      [...view.querySelectorAll("tr[data-place]")]
        .filter((row) => words(row, kind).includes(name))
        .map((row) => row.dataset.place);
    const [made] = places("makes");
    const used = places("uses").filter((place) => place !== "output");
    const facts = [/^an? /.test(made) ? `is ${made}` : `is made by ${made}`];
    if (used.length) facts.push(`is used by ${list.format(used)}`);
    if (places("uses").includes("output")) facts.push("is returned");
    if (facts.length === 1) facts.push("is not used");
    return `${name} ${list.format(facts)}.`;
  }

  customElements.define("jaxpr-explorer", JaxprExplorer);

  for (const box of document.querySelectorAll("div.explorer")) {
    const explorer = document.createElement("jaxpr-explorer");
    const place = document.createComment("");
    box.replaceWith(place);
    explorer.append(box);
    place.replaceWith(explorer);
  }
}
