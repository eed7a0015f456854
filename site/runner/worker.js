/* Python for a lesson's page, in a worker of its own, so that it can be stopped.

   It is told {start: lesson} once, and answers {ready}. Each {ask} names a function of
   autograder/student/in_browser.py, answered by {found}; what checks tell meanwhile are {events}. */

import { loadPyodide } from "./pyodide/pyodide.mjs";

const TREE = "/course";
let answer; // the functions, once Python is there

async function start(lesson) {
  const env = { HOME: "/home/pyodide", COLUMNS: "100", PYTEST_DISABLE_PLUGIN_AUTOLOAD: "1" };
  const archives = Promise.all(["checks.zip", `${lesson}.zip`].map(fetched));
  const python = await loadPyodide({ env, stdout: () => {}, stderr: () => {} });
  for (const archive of await archives) {
    python.unpackArchive(archive, "zip", { extractDir: TREE });
  }
  python.runPython(`import sys; sys.path.insert(0, "${TREE}")`);
  return python.pyimport("autograder.student.in_browser");
}

async function fetched(name) {
  const reply = await fetch(new URL(name, import.meta.url));
  if (!reply.ok) throw new Error(`${name}: ${reply.status}`);
  return reply.arrayBuffer();
}

const tell = (events) => postMessage({ events });

onmessage = async ({ data }) => {
  try {
    if (data.start) {
      answer = await start(data.start);
      postMessage({ ready: true });
    } else {
      const { call, lesson, source, exercise, events, end } = data.ask;
      const rest = call === "check" ? [tell] : [events, end];
      postMessage({ found: JSON.parse(answer[call](lesson, source, exercise, ...rest)) });
    }
  } catch (error) {
    postMessage({ failed: String(error).trim().split("\n").at(-1) }); // of a traceback
  }
};
