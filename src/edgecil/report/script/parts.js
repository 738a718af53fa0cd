// The metric switch: the style sheet shows the chosen parts, the table reads other numbers.
for (const input of all("input[name=metric]")) {
  input.addEventListener("change", () => { readMetric(); hideTip(); table.update(); firstScatter(); ring(); });
}
addEventListener("resize", ring);

// Other tables are sorted by a click on a header.
for (const element of all("table.sortable")) {
  const body = element.tBodies[0];
  const rows = [...body.rows];
  [...element.tHead.rows[0].cells].forEach((header, index) => {
    const button = make("button", { type: "button" }, header.textContent);
    header.replaceChildren(button);
    const numeric = header.classList.contains("number");
    button.addEventListener("click", () => {
      const down = header.getAttribute("aria-sort") === "ascending";
      for (const other of header.parentElement.cells) other.removeAttribute("aria-sort");
      header.setAttribute("aria-sort", down ? "descending" : "ascending");
      const key = (line) => {
        const text = line.cells[index].textContent;
        const value = Number.parseFloat(text.replace("<", "").replace("−", "-"));
        return numeric ? (Number.isNaN(value) ? null : value) : text;
      };
      const sorted = rows.map((line) => [key(line), line]).sort(([a], [b]) => {
        if (a === null || b === null) return (a === null) - (b === null);
        return (down ? -1 : 1) * (numeric ? a - b : a.localeCompare(b));
      });
      body.append(...sorted.map(([, line]) => line));
    });
  });
}

// Copying.
const copy = async (text, button) => {
  const before = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Press Ctrl+C";
  }
  setTimeout(() => { button.textContent = before; }, 1500);
};
for (const box of all(".copyable")) {
  const button = make("button", { type: "button" }, "Copy");
  button.addEventListener("click", () => {
    getSelection().selectAllChildren(box.querySelector("code"));
    copy(box.querySelector("code").textContent, button);
  });
  box.append(button);
}
for (const link of all("[data-copy]")) {
  link.setAttribute("role", "button");
  link.addEventListener("click", (event) => {
    const code = document.querySelector(`#${link.dataset.copy} code`);
    document.getElementById("cite").open = true;
    event.preventDefault();
    getSelection().selectAllChildren(code);
    copy(code.textContent, link);
  });
}
// A link into a folded part opens it.
const unfold = () => { const target = location.hash && document.getElementById(location.hash.slice(1)); if (target?.tagName === "DETAILS") target.open = true; };
addEventListener("hashchange", unfold);
unfold();
