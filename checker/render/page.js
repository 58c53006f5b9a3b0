"use strict";
(() => {
  const page = document.documentElement;
  const articles = [...document.querySelectorAll("article[data-step]")];
  const items = [...document.querySelectorAll(".steps li")];
  const rows = [...document.querySelectorAll("svg .row")];
  const svg = document.querySelector("svg.spacetime");
  const veil = document.querySelector("svg .veil");
  const [first, back, forth, last] = ["first", "back", "forth", "last"].map(
    (id) => document.getElementById(id));
  const bar = document.querySelector(".bar");
  const shown = document.getElementById("place");
  const control = document.getElementById("control");
  const changed = document.getElementById("changed");
  const end = articles.length - 1;
  const top = Number(veil.getAttribute("data-top"));
  const whole = Number(veil.getAttribute("y"));
  let current = end;

  const named = () => {
    const found = /^#step-(\d+)$/.exec(location.hash);
    return found && Number(found[1]) <= end ? Number(found[1]) : null;
  };

  // Shows a step: its state, its row, and the diagram as far as it had come by then.
  const show = (step) => {
    current = Math.min(Math.max(step, 0), end);
    for (const each of [...articles, ...items, ...rows]) {
      each.classList.toggle("selected", Number(each.dataset.step) === current);
    }
    for (const each of items) {
      const link = each.querySelector("a");
      if (each.classList.contains("selected")) link.setAttribute("aria-current", "step");
      else link.removeAttribute("aria-current");
    }
    const row = rows.find((each) => Number(each.dataset.step) === current);
    const from = current === end ? whole : row ? Number(row.dataset.bottom) : top;
    veil.setAttribute("y", from);
    veil.setAttribute("height", whole - from);
    shown.textContent = `Step ${current} of ${end}`;
    first.disabled = back.disabled = current === 0;
    forth.disabled = last.disabled = current === end;
  };

  // Scrolls the list and the page just as far as it takes to see the step.
  const visible = () => {
    const item = items[current];
    const box = item.parentElement;
    const above = item.offsetTop - box.offsetTop;
    if (above < box.scrollTop || above + item.offsetHeight > box.scrollTop + box.clientHeight) {
      box.scrollTop = above - box.clientHeight / 2;
    }
    const row = rows.find((each) => Number(each.dataset.step) === current);
    const place = row && row.getBoundingClientRect();
    if (!place || place.height === 0) return;
    const covered = bar.getBoundingClientRect().height + 8;
    if (place.top < covered) window.scrollBy(0, place.top - covered);
    else if (place.bottom > innerHeight - 8) window.scrollBy(0, place.bottom - innerHeight + 8);
  };

  const go = (step) => {
    show(step);
    visible();
    history.replaceState(null, "", `#step-${current}`);
  };

  const switches = () => {
    page.classList.toggle("hide-control", !control.checked);
    svg.classList.toggle("hide-control", !control.checked);
    page.classList.toggle("changed-only", changed.checked);
  };

  const flip = (box) => {
    box.checked = !box.checked;
    switches();
  };

  // Steps over the receptions of control packets while these are not shown.
  const next = (by) => {
    let step = current + by;
    while (!control.checked && step > 0 && step < end &&
           items[step].classList.contains("control")) step += by;
    go(step);
  };

  const keys = {
    j: () => next(1), ArrowDown: () => next(1), ArrowRight: () => next(1),
    k: () => next(-1), ArrowUp: () => next(-1), ArrowLeft: () => next(-1),
    Home: () => go(0), g: () => go(0), End: () => go(end), G: () => go(end),
    c: () => flip(control), o: () => flip(changed),
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || !Object.hasOwn(keys, event.key)) return;
    event.preventDefault();
    keys[event.key]();
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#step-']");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    go(Number(link.getAttribute("href").slice(6)));
  });
  first.addEventListener("click", () => go(0));
  back.addEventListener("click", () => next(-1));
  forth.addEventListener("click", () => next(1));
  last.addEventListener("click", () => go(end));
  control.addEventListener("change", switches);
  changed.addEventListener("change", switches);
  window.addEventListener("hashchange", () => {
    if (named() !== null) go(named());
  });

  page.classList.add("js");
  switches();
  show(named() ?? end);
  if (named() !== null) window.addEventListener("load", visible);
})();
