// Runs antecede in Pyodide, beside the page, so that the page stays usable during a search.
import { loadPyodide } from "./pyodide.mjs";

const bytes = async name => (await fetch(new URL(name, import.meta.url))).arrayBuffer();

async function start() {
  const python = await loadPyodide({ indexURL: new URL(".", import.meta.url).href });
  python.unpackArchive(await bytes("packages.zip"), "zip", { extractDir: "/packages" });
  python.runPython("import sys; sys.path[:0] = ['/packages', '.']");
  return python.pyimport("check").checked;
}

const started = start();
started.then(() => postMessage({ ready: true }), error => postMessage({ broken: String(error) }));

onmessage = async ({ data: [source, actors, messages] }) => {
  const checked = await started;
  try {
    postMessage(JSON.parse(checked(source, actors, messages)));
  } catch (error) {
    postMessage({ error: String(error) });
  }
};
