/* The buttons "Try it here" and "Change this". The editor and Python are loaded at a click. */

import { open } from "./change.js";

for (const place of document.querySelectorAll(".try-exercise")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Try it here";
  button.setAttribute("aria-label", `Try it here: ${place.dataset.exercise}`);
  const note = document.createElement("small");
  note.setAttribute("role", "status");
  note.textContent = "Python runs in this page; about 7 MB are loaded once.";
  button.addEventListener("click", async () => {
    button.disabled = true;
    note.textContent = "Loading the editor …";
    try {
      const editor = await import("./runner.js");
      await editor.open(place);
    } catch {
      button.disabled = false;
      note.textContent = "It could not be loaded. Are you connected? Try again.";
    }
  });
  place.append(button, " ", note);
}

for (const place of document.querySelectorAll(".change-this")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Change this";
  button.onclick = () => open(place, button);
  place.append(button);
}
