"use strict";
(() => {
  const page = document.documentElement;
  const live = document.getElementById("live");
  const kept = { control: true, changed: false }; // the switches outlive a step
  let asked = 0; // the answer to an earlier request is not shown after that to a later one

  const view = () => document.getElementById("view");
  const main = () => document.querySelector("main");
  const choices = () => [...document.querySelectorAll(".choice:not(:disabled)")];
  const here = () => main()?.dataset.path ?? "";
  const watched = () => main()?.dataset.watch ?? ""; // the expressions, as the end of an address
  const addressOf = (path) => `/?path=${path}${watched()}`;

  let drawn = false; // whether the graph is open

  const switches = () => {
    for (const name of Object.keys(kept)) {
      const box = document.getElementById(name);
      if (box) box.checked = kept[name];
    }
    document.querySelector("svg.spacetime")?.classList.toggle("hide-control", !kept.control);
    page.classList.toggle("changed-only", kept.changed);
  };

  const flip = (name) => {
    kept[name] = !kept[name];
    switches();
  };

  const settle = () => {
    page.classList.add("js");
    switches();
    for (const long of document.querySelectorAll(".diagram, .values")) long.scrollTop = long.scrollHeight;
    const graph = document.getElementById("graph");
    if (graph) graph.open = drawn;
    watch(asked);
  };

  const draw = async (graph) => {
    drawn = graph.open;
    if (!drawn || graph.querySelector("svg")) return;
    const turn = asked;
    let text;
    try {
      text = await (await fetch(`/graph${addressOf(here()).slice(1)}`)).text();
    } catch {
      return; // the link remains
    }
    const picture = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
    if (turn === asked) graph.querySelector(".wide").replaceChildren(document.adoptNode(picture));
  };

  // Ask for a search that goes on until it ends, unless something else was asked for meanwhile.
  const watch = async (turn) => {
    for (;;) {
      const number = document.getElementById("searching")?.dataset.search;
      if (number === undefined || turn !== asked) return;
      const address = `/search?search=${number}${watched()}`;
      let text;
      try {
        text = await (await fetch(address)).text();
      } catch {
        text = ""; // `show` says that nobody answers
      }
      if (turn !== asked) return;
      const next = new DOMParser().parseFromString(text, "text/html").getElementById("progress");
      if (!next) {
        show([address], { push: true });
        return;
      }
      document.getElementById("progress").textContent = next.textContent;
    }
  };

  // What a screen reader says after a step.
  const announce = () => {
    const said = ["#note", "#searching", ".here h2", "#done"].map((at) => document.querySelector(at)?.textContent);
    const wrong = document.querySelector(".here .badge")?.parentElement.textContent;
    const count = document.querySelectorAll(".choice").length;
    const ahead = count ? `${count} transitions can happen here.` : "The run is over.";
    live.textContent = [...said, wrong, main()?.dataset.path === undefined ? "" : ahead]
      .filter(Boolean).join(" ");
  };

  // Where the focus goes: after a step back to the choice one came from, else to the first one. It
  // stays in an expression.
  const focus = (from, active) => {
    if (from === here() && active) {
      document.getElementById(active)?.focus({ preventScroll: true });
      return;
    }
    const cancel = document.getElementById("cancel");
    if (cancel) {
      cancel.focus({ preventScroll: true });
      return;
    }
    const path = here();
    const down = path === "" ? from : from.startsWith(`${path}.`) ? from.slice(path.length + 1) : "";
    const came = down.split(".")[0];
    const wanted = path === "" ? came : `${path}.${came}`;
    const found = choices();
    const target = (came !== "" && found.find((each) => each.value === wanted)) || found[0];
    (target ?? document.getElementById("ahead"))?.focus({ preventScroll: true });
    if (target) target.scrollIntoView({ block: "nearest" });
  };

  const show = async (request, { push }) => {
    const turn = ++asked;
    const from = here();
    const before = addressOf(from);
    const active = document.activeElement?.closest("input.code, #agree") ? "expression" : "";
    view().setAttribute("aria-busy", "true");
    let answer, text;
    try {
      answer = await fetch(...request);
      text = await answer.text();
    } catch {
      if (turn === asked) {
        view().removeAttribute("aria-busy");
        live.textContent = "antecede explore does not answer; is it still running?";
        live.classList.remove("unseen");
      }
      return;
    }
    if (turn !== asked) return;
    live.classList.add("unseen");
    view().removeAttribute("aria-busy");
    if (!(answer.headers.get("Content-Type") ?? "").startsWith("text/html")) {
      live.textContent = text;
      live.classList.remove("unseen");
      return;
    }
    const next = new DOMParser().parseFromString(text, "text/html");
    view().replaceWith(document.adoptNode(next.getElementById("view")));
    document.title = next.title;
    if (push && main()?.dataset.path !== undefined && addressOf(here()) !== before) {
      history.pushState(null, "", addressOf(here()));
    }
    settle();
    announce();
    focus(from, active);
  };

  const go = (path) => show([addressOf(path)], { push: true });

  const submit = (form, button) => {
    const fields = new URLSearchParams(new FormData(form, button));
    if (form.method === "get") return go(fields.get("path"));
    const searches = ["/search", "/where"].includes(form.getAttribute("action"));
    live.textContent = searches ? "Searching." : "";
    button?.classList.add("busy");
    return show([form.getAttribute("action"), { method: "POST", body: fields }], { push: true });
  };

  document.addEventListener("submit", (event) => {
    event.preventDefault();
    submit(event.target, event.submitter);
  });

  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    const href = link.getAttribute("href");
    const row = /^#step-(\d+)$/.exec(href); // a row of the diagram
    if (!row && !href.startsWith("/?path=")) return;
    event.preventDefault();
    if (row) go(here().split(".").slice(0, Number(row[1])).join("."));
    else show([href], { push: true });
  });

  // The page of a step has the code of its last step.
  document.addEventListener("toggle", async (event) => {
    if (event.target.id === "graph") draw(event.target);
    const path = event.target.dataset?.path;
    if (!event.target.matches("details.code") || path === undefined) return;
    delete event.target.dataset.path;
    let text;
    try {
      text = await (await fetch(addressOf(path))).text();
    } catch {
      return; // the link remains
    }
    const code = new DOMParser().parseFromString(text, "text/html").getElementById("code");
    if (code) event.target.replaceChildren(...code.childNodes);
  }, true);

  document.addEventListener("change", async (event) => {
    const box = event.target;
    if (Object.hasOwn(kept, box.id)) flip(box.id);
    if (box.id !== "load" || !box.files.length) return;
    const body = await box.files[0].text();
    box.value = "";
    show([`/load${addressOf(here()).slice(1)}`, { method: "POST", body }], { push: true });
  });

  const choose = (by) => {
    const all = choices();
    if (!all.length) return;
    const at = all.indexOf(document.activeElement);
    const next = at < 0 ? (by > 0 ? 0 : all.length - 1) : at + by;
    all[Math.min(Math.max(next, 0), all.length - 1)].focus();
  };

  const back = () => {
    if (here() !== "") go(here().split(".").slice(0, -1).join("."));
  };

  const keys = {
    j: () => choose(1), ArrowDown: () => choose(1), k: () => choose(-1), ArrowUp: () => choose(-1),
    u: back, Backspace: back, c: () => flip("control"), o: () => flip("changed"),
    v: () => view().hasAttribute("aria-busy") || document.getElementById("violation")?.click(),
    r: () => document.getElementById("walk")?.click(),
    Escape: () => document.getElementById("cancel")?.click(),
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || !Object.hasOwn(keys, event.key)) return;
    if (event.target.matches("input.code") && event.key !== "Escape") return; // it is being written
    // The arrows scroll whatever has the focus and can be scrolled, such as the diagram.
    const scrolls = event.key.startsWith("Arrow") && event.target.closest("[tabindex='0'], input");
    if (scrolls) return;
    event.preventDefault();
    keys[event.key]();
  });

  // Whoever comes back from an editor sees what the changed protocol does.
  window.addEventListener("focus", async () => {
    const turn = asked;
    let text;
    try {
      text = await (await fetch("/changed")).text();
    } catch {
      return; // the next step says that nobody answers
    }
    if (text === "changed" && turn === asked) show([addressOf(here())], { push: true });
  });

  window.addEventListener("popstate", () => {
    show([location.pathname + location.search], { push: false });
  });

  settle();
})();
