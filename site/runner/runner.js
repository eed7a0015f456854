/* "Try it here": an editor for an exercise, and the course's checks, which Python runs in a worker.

   All exercises of a page share one module and one Python. What is written stays in the browser's
   storage, and can be downloaded as the file of a workspace. */

import { Lesson } from "./lesson.js";
import { Panel } from "./panel.js";

let lesson; // of this page, once it is loaded

export async function open(place) {
  lesson ??= Lesson.load(place.dataset.lesson);
  try {
    new Panel(place, await lesson);
  } catch (error) {
    lesson = undefined;
    throw error;
  }
}
