/* Python in a worker, with microjax in one file: for the first screen (hero.py), and for examples that
   a reader changes (change.py). Asked what a function of such a module says, it is ready, then says it. */

import { loadPyodide } from "./pyodide/pyodide.mjs";

async function start() {
  const packed = fetch(new URL("hero.zip", import.meta.url)).then((reply) => reply.arrayBuffer());
  const python = await loadPyodide({ stdout: () => {}, stderr: () => {} });
  python.unpackArchive(await packed, "zip");
  return python;
}

const python = start();

onmessage = async ({ data: { module, call, asked } }) => {
  const found = (await python).pyimport(module);
  postMessage({ ready: true });
  try {
    postMessage({ asked, said: found[call](asked) });
  } catch (error) {
    postMessage({ asked, failed: String(error).trim().split("\n").at(-1) }); // of a traceback
  }
};
