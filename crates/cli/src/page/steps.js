"use strict";
(() => {
  const steps = JSON.parse(document.getElementById("steps").textContent);
  if (!steps.length) return;
  const by = (id) => document.getElementById(id);
  let now = steps.length - 1;
  const fill = (id, rows) => {
    const table = by(id);
    table.replaceChildren(...rows.map((cells) => {
      const row = document.createElement("tr");
      row.append(...cells.map((text) => {
        const cell = document.createElement("td");
        cell.textContent = text;
        return cell;
      }));
      return row;
    }));
  };
  const show = () => {
    const step = steps[now];
    const stack = [];
    const values = new Map();
    for (let i = 0; i <= now; i++) {
      const s = steps[i];
      while (stack.length && stack[stack.length - 1].depth >= s.depth) stack.pop();
      stack.push(s);
      for (const [name, value] of s.changes) values.set(s.function + "\u0000" + name, [name, value]);
    }
    by("where").textContent = `step ${now + 1} of ${steps.length}: ${step.file}:${step.line}`;
    by("what").textContent = step.text;
    fill("stack", stack.reverse().map((s) => [s.function || "?", `${s.file}:${s.line}`]));
    const here = [...values].filter(([key]) => key.startsWith(step.function + "\u0000"));
    fill("values", here.map(([, pair]) => pair));
    for (const row of document.querySelectorAll("tr.now")) row.classList.remove("now");
    const row = by(`${step.place}`);
    if (row) {
      row.classList.add("now");
      row.scrollIntoView({ block: "center" });
    }
  };
  const go = (to) => {
    now = Math.max(0, Math.min(steps.length - 1, to));
    show();
  };
  const keys = {
    ArrowRight: () => go(now + 1), j: () => go(now + 1), n: () => go(now + 1),
    ArrowLeft: () => go(now - 1), k: () => go(now - 1), p: () => go(now - 1),
    Home: () => go(0), g: () => go(0), End: () => go(steps.length - 1), e: () => go(steps.length - 1),
  };
  document.addEventListener("keydown", (event) => {
    if (!event.ctrlKey && !event.metaKey && !event.altKey && keys[event.key]) {
      event.preventDefault();
      keys[event.key]();
    }
  });
  by("first").onclick = keys.Home;
  by("back").onclick = keys.ArrowLeft;
  by("next").onclick = keys.ArrowRight;
  by("error").onclick = keys.End;
  show();
})();
