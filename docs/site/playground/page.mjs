// The form of the playground: sends the protocol to the worker, and shows the answer.
const form = document.querySelector("#playground");
const { source, actors, messages, example } = form.elements;
const [check, stop] = form.querySelectorAll("button");
const status = form.querySelector("[role=status]");
const shown = form.querySelector(".playground__answer");
const report = form.querySelector(".playground__report");

let worker;
let busy = false;

function say(text) {
  status.textContent = text;
  check.disabled = busy || !worker;
  stop.disabled = !busy;
}

function start() {
  worker = new Worker(new URL("worker.mjs", import.meta.url), { type: "module" });
  worker.onmessage = ({ data }) => answer(data);
  worker.onerror = () => answer({ broken: "the files beside the page are not there" });
}

function answer({ ready, broken, error, html, report: text }) {
  if (ready) return busy || say("Python is ready.");
  busy = false;
  if (broken) {
    worker = undefined;
    return say(`Python did not start: ${broken}. A server has to send this page.`);
  }
  shown.innerHTML = html ?? "";
  report.hidden = !text;
  report.querySelector("pre code").textContent = text ?? "";
  say(error ?? "The check has ended.");
}

form.addEventListener("submit", event => {
  event.preventDefault();
  busy = true;
  shown.textContent = "";
  report.hidden = true;
  worker.postMessage([source.value, actors.value, messages.value]);
  say("The check is running.");
});

stop.addEventListener("click", () => {
  worker.terminate();
  busy = false;
  start();
  say("The check was stopped.");
});

async function load() {
  source.value = await (await fetch(new URL(`${example.value}.py`, import.meta.url))).text();
}

example.addEventListener("change", load);
start();
say("Python is loading.");
load();
