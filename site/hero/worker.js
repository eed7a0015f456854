/* Python for the first screen, in a worker: microjax, and what is shown of a function. */

import { loadPyodide } from "./pyodide/pyodide.mjs";

async function start() {
  const packed = fetch(new URL("hero.zip", import.meta.url)).then((reply) => reply.arrayBuffer());
  const python = await loadPyodide({ stdout: () => {}, stderr: () => {} });
  python.unpackArchive(await packed, "zip");
  return python.pyimport("hero");
}

const hero = start();

onmessage = async ({ data }) => {
  try {
    postMessage({ text: data, table: JSON.parse((await hero).table(data)) });
  } catch (error) {
    postMessage({ text: data, failed: String(error).trim().split("\n").at(-1) }); // of a traceback
  }
};
