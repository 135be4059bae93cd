"use strict";
const number = (cell) => {
  const text = (cell.querySelector("span") || cell).textContent.replace(/[,\s]/g, "").replace(/^[>≈]/, "");
  const value = parseFloat(text);
  return Number.isNaN(value) ? null : value;
};
const compare = (first, second) => {
  const [x, y] = [number(first), number(second)];
  if (x !== null && y !== null) return x - y;
  if (x !== null || y !== null) return x === null ? 1 : -1;
  return first.textContent.localeCompare(second.textContent);
};
for (const table of document.querySelectorAll("table.sort")) {
  const rows = [...table.tHead.rows];
  const first = rows[0].cells, last = rows[rows.length - 1].cells;
  const heads = rows.length === 1 ? [...first] : [...first].filter((head) => head.rowSpan > 1);
  const below = rows.length === 1 ? [] : [...last];
  [...heads, ...below].forEach((head, column) => {
    if (head.colSpan > 1) return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      const sorted = [...table.tBodies[0].rows].sort((a, b) => compare(a.cells[column], b.cells[column]));
      table.tBodies[0].append(...(down ? sorted.reverse() : sorted));
      table.querySelectorAll("th[aria-sort]").forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
    });
  });
}
const root = document.documentElement, theme = document.getElementById("theme");
theme.hidden = false;
theme.addEventListener("click", () => {
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
});
const unfold = () => {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target && target.tagName === "DETAILS") target.open = true;
};
addEventListener("hashchange", unfold);
unfold();
