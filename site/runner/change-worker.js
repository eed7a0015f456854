/* Python for the examples that a reader changes, in a worker: microjax in one file, and change.py. */

import { loadPyodide } from "./pyodide/pyodide.mjs";

async function start() {
  const packed = fetch(new URL("hero.zip", import.meta.url)).then((reply) => reply.arrayBuffer());
  const python = await loadPyodide({ stdout: () => {}, stderr: () => {} });
  python.unpackArchive(await packed, "zip");
  return python.pyimport("change");
}

const change = start();

onmessage = async ({ data }) => {
  const { run } = await change;
  postMessage({ ready: true });
  postMessage({ said: run(JSON.stringify(data)) });
};
