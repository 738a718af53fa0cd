"use strict";
// Tables can be sorted by a click on a header and, where it says so, filtered by text.
// Without this script the page shows the same tables and figures.
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const number = (text) => {
    const value = Number.parseFloat(text.replace("<", ""));
    return Number.isNaN(value) ? null : value;
  };
  [...table.tHead.rows[0].cells].forEach((header, place) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = header.textContent;
    header.replaceChildren(button);
    const numeric = header.classList.contains("number");
    button.addEventListener("click", () => {
      const down = header.getAttribute("aria-sort") === "ascending";
      for (const other of header.parentElement.cells) other.removeAttribute("aria-sort");
      header.setAttribute("aria-sort", down ? "descending" : "ascending");
      const sign = down ? -1 : 1;
      const key = (row) => {
        const text = row.cells[place].textContent;
        return numeric ? number(text) : text;
      };
      const sorted = rows.map((row) => [key(row), row]).sort(([a], [b]) => {
        if (a === null || b === null) return (a === null) - (b === null);
        return sign * (numeric ? a - b : a.localeCompare(b));
      });
      body.append(...sorted.map(([, row]) => row));
    });
  });
  if (!table.hasAttribute("data-search")) continue;
  const search = document.createElement("input");
  search.type = "search";
  search.placeholder = "Filter rows, for example by class name";
  search.setAttribute("aria-label", "Filter rows");
  const count = document.createElement("output");
  const texts = rows.map((row) => row.textContent.toLowerCase());
  const show = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    rows.forEach((row, place) => {
      row.hidden = !words.every((word) => texts[place].includes(word));
      shown += !row.hidden;
    });
    count.textContent = `${shown} of ${rows.length}`;
  };
  search.addEventListener("input", show);
  const bar = document.createElement("p");
  bar.className = "search";
  bar.append(search, " ", count);
  table.parentElement.before(bar);
  show();
}
