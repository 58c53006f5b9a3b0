// Opens a page, presses keys and clicks, and prints after each action what it shows, as JSON.
// Usage: page.mjs FILE HASH ACTION...; an action is a key, or click:SELECTOR.
import { readFileSync } from "node:fs";
import { JSDOM } from "jsdom";

const [file, hash, ...actions] = process.argv.slice(2);
const dom = new JSDOM(readFileSync(file, "utf8"), {
  url: `http://localhost/run.html${hash}`,
  runScripts: "dangerously",
  pretendToBeVisual: true,
});
const { document, location } = dom.window;

const seen = () => ({
  hash: location.hash,
  place: document.getElementById("place").textContent,
  articles: [...document.querySelectorAll("article.selected")].map((each) => each.id),
  items: [...document.querySelectorAll(".steps .selected")].map((each) => each.dataset.step),
  current: document.querySelectorAll("[aria-current=step]").length,
  rows: [...document.querySelectorAll("svg .row.selected")].map((each) => each.dataset.step),
  classes: [...document.documentElement.classList],
  hidden: document.querySelector("svg").classList.contains("hide-control"),
  veil: Number(document.querySelector("svg .veil").getAttribute("height")),
  alerts: document.querySelectorAll("img, iframe, script[src]").length,
});

const found = [seen()];
for (const action of actions) {
  if (action.startsWith("click:")) document.querySelector(action.slice(6)).click();
  else {
    const event = { key: action, bubbles: true, cancelable: true };
    document.body.dispatchEvent(new dom.window.KeyboardEvent("keydown", event));
  }
  found.push(seen());
}
console.log(JSON.stringify(found));
