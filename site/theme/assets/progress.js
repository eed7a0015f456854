/* Which exercises are done, as this browser remembers it: ticks and counts on the pages, and a file
   to take along.

   jaxprentice.progress.get()           {"jvp.flat": true, ...}
   jaxprentice.progress.mark(id, done)  for whatever on a page finds out that an exercise is done
   After each change the document hears the event "jaxprentice-progress". */

{
  const key = "jaxprentice.progress";
  const event = "jaxprentice-progress";
  const known = window.jaxprentice.exercises; // the exercises' names, by lesson (site/hooks.py)
  let unstored = "{}"; // what is remembered where the browser stores nothing

  function get() {
    try {
      return done(JSON.parse(localStorage.getItem(key) ?? unstored));
    } catch {
      return done(JSON.parse(unstored));
    }
  }

  /* What a JSON value says is done; nothing if it is not an object. */
  function done(value) {
    const entries = Object.entries(value instanceof Object ? value : {});
    return Object.fromEntries(entries.filter(([, isDone]) => isDone === true));
  }

  function put(progress) {
    unstored = JSON.stringify(progress);
    try {
      localStorage.setItem(key, unstored);
    } catch {
      // Private windows may refuse: then it lasts as long as the page.
    }
    document.dispatchEvent(new CustomEvent(event, { detail: progress }));
  }

  function mark(id, isDone) {
    const progress = get();
    if (isDone) progress[id] = true;
    else delete progress[id];
    put(progress);
  }

  window.jaxprentice.progress = { get, mark };

  /* Shown on every page ------------------------------------------------------------------- */

  const ids = (lesson) => known[lesson].map((name) => `${lesson}.${name}`);
  const all = Object.keys(known).flatMap(ids);

  /* "3 of 9", or nothing as long as nothing is done. */
  function count(some) {
    const progress = get();
    const number = some.filter((id) => progress[id]).length;
    return { number, text: number ? `${number} of ${some.length}` : "", full: number === some.length };
  }

  function make(tag, properties, ...children) {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  }

  function lessonOf(link) {
    const name = link.pathname.match(/\/lessons\/(\w+)(\/|\/index\.html)?$/)?.[1];
    return name in known ? name : undefined;
  }

  const shown = []; // functions that bring one place up to date

  for (const id of all) {
    const heading = document.getElementById(id);
    if (heading?.tagName !== "H3") continue;
    const box = make("input", { type: "checkbox" });
    box.setAttribute("aria-label", `Done: ${heading.firstChild.textContent.trim()}`);
    box.addEventListener("change", () => mark(id, box.checked));
    heading.after(make("label", { className: "exercise-done" }, box, " Done"));
    shown.push(() => (box.checked = Boolean(get()[id])));
  }

  const here = document.querySelector(".exercise-done") && lessonOf(location);
  if (here) {
    const bar = make("progress", { max: known[here].length });
    bar.setAttribute("aria-label", "Exercises done");
    const text = make("span", { role: "status" });
    document.querySelector("h1").after(make("p", { className: "lesson-done" }, bar, " ", text));
    shown.push(() => {
      const { number } = count(ids(here));
      bar.value = number;
      text.textContent = `${number} of ${known[here].length} exercises done`;
    });
  }

  // The menu, and the table of lessons on the first page.
  for (const link of document.querySelectorAll(".md-nav--primary a, .home ~ * td > a:only-child")) {
    const lesson = lessonOf(link);
    if (!lesson || link.hash) continue;
    const place = make("span", { className: "done-count" });
    if (link.closest("td")) link.after(" ", place);
    else link.append(place);
    shown.push(() => showCount(place, count(ids(lesson))));
  }

  function showCount(place, { text, full }) {
    place.textContent = full ? `✓ ${text}` : text;
  }

  for (const box of document.querySelectorAll(".course-map [data-lesson]")) {
    const lesson = box.dataset.lesson;
    if (!(lesson in known)) continue;
    const place = box.querySelector(".map-count");
    const before = place.textContent;
    shown.push(() => {
      const found = count(ids(lesson));
      box.classList.toggle("map-begun", found.number > 0);
      box.classList.toggle("map-done", found.full);
      showCount(place, { ...found, text: found.text || before });
    });
  }

  function show() {
    for (const update of shown) update();
  }

  /* To take along: a file of another browser, or of `./jaxprentice progress --export FILE` --- */

  const panel = document.getElementById("progress-file");
  if (panel) {
    const text = make("p", { role: "status" });
    const say = (more) => {
      const number = count(all).number;
      text.textContent = `${more} ${number} of ${all.length} exercises are ticked.`.trim();
    };
    const file = make("input", { type: "file", accept: ".json,application/json", hidden: true });
    file.addEventListener("change", async () => {
      say(read(await file.files[0].text(), "file"));
      file.value = ""; // so that the same file can be chosen again
    });
    const paste = pasting(say);
    panel.append(button("Save to a file", save), button("Load a file", () => file.click()), file);
    panel.append(...paste, text);
    shown.push(() => say(""));
  }

  /* A button that opens a field for a file's text, where files are hard to get at, as on phones. */
  function pasting(say) {
    const area = make("textarea", { rows: 4, spellcheck: false, placeholder: '{"jvp.flat": true}' });
    area.setAttribute("aria-label", "The text of a file of progress");
    const form = make("form", { hidden: true }, area, make("p", {}, button("Load the text")));
    form.querySelector("button").type = "submit";
    const open = button("Paste a text", () => {
      form.hidden = !form.hidden;
      open.setAttribute("aria-expanded", !form.hidden);
      if (!form.hidden) area.focus();
    });
    open.setAttribute("aria-expanded", false);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      say(read(area.value, "text"));
    });
    return [open, form];
  }

  function button(text, onclick) {
    return make("button", { type: "button", className: "md-button", textContent: text, onclick });
  }

  function save() {
    const content = JSON.stringify(get(), null, 1);
    const href = URL.createObjectURL(new Blob([content], { type: "application/json" }));
    make("a", { href, download: "jaxprentice-progress.json" }).click();
    URL.revokeObjectURL(href);
  }

  /* Adds the ticks of a file, or of its text, to those that are here, and says what was found.
     Mail and messengers round the quotation marks, and put words before and after. */
  function read(content, kind) {
    const text = content.replace(/[“”„]/g, '"');
    let given = {};
    try {
      given = done(JSON.parse(text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1)));
    } catch {
      return `This ${kind} holds no progress. Nothing has changed.`;
    }
    const found = all.filter((id) => given[id]);
    put({ ...get(), ...Object.fromEntries(found.map((id) => [id, true])) });
    return `The ${kind} ticks ${found.length}.`;
  }

  document.addEventListener(event, show);
  addEventListener("storage", (change) => change.key === key && show()); // another tab
  show();
}
