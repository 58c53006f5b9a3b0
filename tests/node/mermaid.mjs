// Reads Mermaid diagrams with Mermaid's own parser and prints what it understood, as JSON.
import { readFileSync } from "node:fs";
import { JSDOM } from "jsdom";

const dom = new JSDOM("");
globalThis.window = dom.window;
globalThis.document = dom.window.document;
const { default: mermaid } = await import("mermaid");

const decoded = (text) => text.replace(/ﬂ°°(\d+)¶ß/g, (_, code) => String.fromCodePoint(code));
const found = [];
for (const file of process.argv.slice(2)) {
  const text = readFileSync(file, "utf8");
  await mermaid.parse(text);
  const { db } = await mermaid.mermaidAPI.getDiagramFromText(text);
  const { ACTIVE_START, RECT_START, RECT_END, NOTE } = db.LINETYPE;
  found.push({
    title: decoded(db.getDiagramTitle()),
    actors: [...db.getActors().values()].map((actor) => decoded(actor.description)),
    lines: db.getMessages()
      .filter(({ type }) => ![ACTIVE_START, RECT_START, RECT_END].includes(type))
      .map(({ from, to, message, type }) =>
        ({ note: type === NOTE, from, to, text: decoded(message) })),
  });
}
console.log(JSON.stringify(found));
