/* What the page does: theme, sorting, tooltips, lit series, copying. All text from data enters
 * through textContent, never as markup. picker.js follows in the same script. */
"use strict";
const root = document.documentElement;
const all = (selector, inside = document) => Array.from(inside.querySelectorAll(selector));
function make(tag, attributes = {}, ...children) {
  const svg = "svg g path rect circle text title".split(" ").includes(tag);
  const e = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
  e.append(...children);
  return e;
}

/* ---- theme: follows the system until chosen ---- */
const theme = document.getElementById("theme");
const themes = ["auto", "light", "dark"];
function setTheme(name) {
  if (name === "auto") delete root.dataset.theme; else root.dataset.theme = name;
  theme.textContent = "Theme: " + name;
}
theme.hidden = false;
setTheme("auto");
theme.addEventListener("click", () => {
  setTheme(themes[(themes.indexOf(root.dataset.theme || "auto") + 1) % 3]);
});

/* ---- sorting: numbers by their full value, words by language; gaps always last ---- */
function sortKey(cell) {
  if (!cell) return null;
  if (cell.dataset.value !== undefined) return Number(cell.dataset.value);
  const words = cell.textContent.trim();
  return words === "" || words.startsWith("–") ? null : words;
}
function compare(a, b) {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a === "number") return -1;
  if (typeof b === "number") return 1;
  return a.localeCompare(b, undefined, { numeric: true });
}
function sortBy(table, column) {
  const body = table.tBodies[0], heads = Array.from(table.tHead.rows[0].cells), head = heads[column];
  const rows = Array.from(body.rows).filter(row => !row.classList.contains("nothing"));
  rows.forEach((row, i) => { if (row.dataset.first === undefined) row.dataset.first = i; });
  /* numbers begin with the largest, words with a; the third click restores the first order */
  const order = head.classList.contains("number") ? ["descending", "ascending"] : ["ascending", "descending"];
  const next = order[order.indexOf(head.getAttribute("aria-sort")) + 1];
  heads.forEach(h => h.removeAttribute("aria-sort"));
  if (next) head.setAttribute("aria-sort", next);
  const sign = next === "descending" ? -1 : 1;
  const keys = new Map(rows.map(row => [row, sortKey(row.cells[column])]));
  rows.sort((a, b) => {
    const x = keys.get(a), y = keys.get(b), first = a.dataset.first - b.dataset.first;
    if (!next) return first;
    if (x === null || y === null) return (x === null) - (y === null) || first;
    return sign * compare(x, y) || first;
  });
  body.append(...rows);
}
document.addEventListener("click", event => {
  const button = event.target.closest(".sortable thead button");
  if (button) sortBy(button.closest("table"), button.closest("th").cellIndex);
});

/* ---- tooltips: at the pointer, or with the arrow keys inside a figure ---- */
const tooltip = document.getElementById("tooltip");
let active = null;
function tipText(element) {
  const title = element.querySelector(":scope > title");
  if (title) { /* the browser's own tooltip would come too, late */
    element.dataset.tip = title.textContent;
    title.remove();
  }
  return element.dataset.tip || "";
}
function showTip(element, x, y) {
  if (active && active !== element) active.classList.remove("active");
  active = element;
  element.classList.add("active");
  tooltip.textContent = tipText(element);
  tooltip.hidden = false;
  const width = tooltip.offsetWidth, height = tooltip.offsetHeight;
  const left = x + 14 + width > innerWidth ? x - 14 - width : x + 14;
  tooltip.style.left = Math.max(4, Math.min(left, innerWidth - width - 4)) + "px";
  tooltip.style.top = Math.max(4, y - 12 - height < 4 ? y + 16 : y - 12 - height) + "px";
}
function hideTip() {
  if (active) active.classList.remove("active");
  active = null;
  tooltip.hidden = true;
}
document.addEventListener("pointermove", event => {
  const tip = event.target.closest && event.target.closest(".fig .tip");
  if (tip) showTip(tip, event.clientX, event.clientY);
  else if (active && !active.matches(":focus-within")) hideTip();
});
document.addEventListener("pointerdown", event => {
  const tip = event.target.closest && event.target.closest(".fig .tip");
  if (tip) showTip(tip, event.clientX, event.clientY); else hideTip();
});
document.addEventListener("scroll", hideTip, { passive: true, capture: true });
function showBeside(element) {
  const box = element.getBoundingClientRect();
  showTip(element, box.x + box.width / 2, box.y);
}
document.addEventListener("keydown", event => {
  if (event.key === "Escape") hideTip();
  const figure = event.target.closest && event.target.closest("svg.fig");
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (!figure || !step) return;
  const tips = all(".tip", figure), at = tips.indexOf(active);
  if (!tips.length) return;
  event.preventDefault();
  showBeside(tips[at < 0 ? (step > 0 ? 0 : tips.length - 1) : (at + step + tips.length) % tips.length]);
});
document.addEventListener("focusout", event => { if (event.target.matches && event.target.matches("svg.fig")) hideTip(); });

/* ---- a legend entry lights its series ---- */
document.addEventListener("pointerover", event => {
  const key = event.target.closest && event.target.closest(".fig .key");
  all(".fig.dimmed").forEach(figure => {
    figure.classList.remove("dimmed");
    all(".lit", figure).forEach(e => e.classList.remove("lit"));
  });
  if (!key || key.dataset.series < 0) return;
  const figure = key.closest("svg.fig");
  const same = all(`[data-series="${key.dataset.series}"]`, figure);
  if (!same.some(e => e.classList.contains("series"))) return;
  same.forEach(e => e.classList.add("lit"));
  figure.classList.add("dimmed");
});

/* ---- commands can be copied ---- */
all(".command").forEach(box => {
  const button = make("button", { type: "button" }, "Copy");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(box.querySelector("code").textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(box.querySelector("code"));
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  box.append(button);
});

/* A table that is wider than the screen says so: phones show no scroll bar. */
function markScrolling() {
  all(".table").forEach(box => box.classList.toggle("scrolls", box.scrollWidth > box.clientWidth + 1));
}
markScrolling();
addEventListener("resize", markScrolling);
