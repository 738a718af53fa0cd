// The table of orders: all of them, sorted, filtered, drawn around the part that is on the screen.
const table = (() => {
  const STEP = 60; // rows drawn at a time
  const PRINTED = 2000; // rows on paper
  const NAMED = 24; // classes; beyond, colours without names
  const figure = document.getElementById("table-orders");
  const box = figure.querySelector(".scroll");
  const element = figure.querySelector("table");
  const body = element.tBodies[0];
  const named = width <= NAMED;
  const columns = [
    ...page.methods.map((method) => ({ title: method, method, numeric: true })),
    ...(zOf ? [{ title: "z", numeric: true, get: zOf, digits: 2 }] : []),
    ...(repeatsOf ? [{ title: "repeats", numeric: true, get: repeatsOf, digits: 0 }] : []),
    { title: width ? "chosen by" : "run", get: chosenBy, text: chosenBy },
    ...(width ? [{ title: "tasks", get: (order) => classKey(order), isTasks: true }] : []),
  ];
  const classKey = (order) => String.fromCharCode(...tasksOf(order).flat().map((id) => id + 32));
  const read = (one, order) => (one.method ? valueOf(one.method, order) : one.get(order));
  const state = { column: 0, down: false, orders: [], first: 0, end: 0, hits: new Set(), ranges: [] };

  const search = make("input", { type: "search", placeholder: "Class names, protocol or label", "aria-label": "Filter orders" });
  const where = make("select", { "aria-label": "In which task" }, make("option", { value: "" }, "together in any task"),
    ...Array.from({ length: page.number_of_tasks }, (_, index) => make("option", { value: index }, `in task ${index + 1}`)));
  const sorting = make("select", { "aria-label": "Sort orders by", class: "sorting" }, ...columns.flatMap((one, index) => [
    make("option", { value: `${index} up` }, `${one.title} ▲`), make("option", { value: `${index} down` }, `${one.title} ▼`)]));
  const count = make("output", { "aria-live": "polite" });
  const rest = make("p", { class: "quiet printed" });
  box.before(make("div", { class: "tools" }, search, where, sorting, count));
  box.after(rest);

  const sort = (index, down) => { Object.assign(state, { column: index, down }); update(); };
  const headers = columns.map((one) => make("th", { scope: "col", role: "columnheader", class: one.numeric ? "number" : "" }));
  element.tHead.rows[0].append(...headers);
  headers.forEach((header, index) => {
    const button = make("button", { type: "button", title: columns[index].title }, columns[index].title);
    header.append(button);
    button.addEventListener("click", () => sort(index, state.column === index && !state.down));
  });
  sorting.addEventListener("input", () => { const [index, way] = sorting.value.split(" "); sort(+index, way === "down"); });

  const lowered = page.classes.map((name) => name.replace(/[\u2068\u2069]/g, "").toLowerCase().split(/[\s_-]+/));
  const begins = (words, word) => words.some((one) => one.startsWith(word));
  // A word is a protocol or label if some order's text has it, otherwise the beginning of a class name.
  const matches = () => {
    const words = search.value.toLowerCase().split(/[\s,]+/).filter(Boolean);
    const texts = words.length ? everyOrder.map((order) => chosenBy(order).toLowerCase().split(/[\s,]+/)) : [];
    const isChoice = (word) => texts.some((text) => begins(text, word));
    const ofChoice = words.filter(isChoice);
    const sets = words.filter((word) => !ofChoice.includes(word))
      .map((word) => lowered.flatMap((name, id) => (begins(name, word) ? [id] : [])));
    state.hits = new Set(sets.flat());
    const task = where.value === "" ? null : +where.value;
    const together = (order) => {
      const taskOf = page.tasks[order];
      const first = sets[0].map((id) => taskOf[id]).filter((one) => task === null || one === task);
      return first.some((one) => sets.every((set) => set.some((id) => taskOf[id] === one)));
    };
    return (order) => ofChoice.every((word) => begins(texts[order], word)) && (!sets.length || together(order));
  };

  const row = (order) => {
    const line = make("tr", { tabindex: -1, role: "row", "data-order": order, "aria-current": pinned.order === order });
    columns.forEach((one, index) => {
      if (one.isTasks) { line.append(tasksCell(order)); return; }
      const value = read(one, order);
      const text = one.text ? one.text(order) : value === null ? "–" : minus(value.toFixed(one.digits ?? 1));
      const cell = make("td", { class: one.numeric ? "number" : "chosen", role: "cell", "data-label": one.title }, text);
      const range = state.ranges[index];
      if (value !== null && range) {
        cell.classList.add("value");
        cell.style.setProperty("--v", `${(100 * (value - range[0])) / (range[1] - range[0] || 1)}%`);
      }
      line.append(cell);
    });
    return line;
  };
  const tasksCell = (order) => {
    const cell = make("td", { class: "tasks", role: "cell" });
    for (const ids of tasksOf(order)) {
      if (named) {
        cell.append(make("span", { class: "task" }, ...ids.map((id) =>
          make("span", { class: state.hits.has(id) ? "chip hit" : "chip", style: `--h:${hue(id)}` }, page.classes[id]))));
        continue;
      }
      const size = Math.max(2, Math.min(9, 420 / width));
      const some = state.hits.size > 0;
      const colour = (id) => (some && !state.hits.has(id) ? "var(--line)" : `oklch(${some ? 0.65 : "var(--chip-l)"} ${some ? 0.15 : 0.11} ${hue(id)})`);
      const stops = ids.map((id, index) => `${colour(id)} ${index * size}px ${(index + 1) * size}px`);
      cell.append(make("span", { class: "strip", role: "img", "aria-label": namesOf(ids), title: namesOf(ids), style: `width:${ids.length * size}px;background:linear-gradient(to right,${stops.join(",")})` }));
    }
    return cell;
  };

  const later = () => {
    const next = state.orders.slice(state.end, state.end + STEP);
    body.append(...next.map(row));
    state.end += next.length;
  };
  const earlier = () => {
    const start = Math.max(0, state.first - STEP);
    const before = box.scrollHeight;
    body.prepend(...state.orders.slice(start, state.first).map(row));
    state.first = start;
    box.scrollTop += box.scrollHeight - before;
  };
  const redraw = (start) => {
    body.replaceChildren();
    state.first = state.end = start;
    later();
    if (body.rows[0]) body.rows[0].tabIndex = 0; // the others are reached with the arrow keys
  };
  const update = () => {
    const fits = matches();
    const one = columns[state.column];
    const keyed = everyOrder.filter(fits).map((order) => [read(one, order), order]);
    const sign = state.down ? -1 : 1;
    const compare = one.text ? new Intl.Collator("en", { numeric: true }).compare : (a, b) => (a < b ? -1 : a > b ? 1 : 0);
    keyed.sort(([a, i], [b, j]) => {
      if (a === null || b === null) return (a === null) - (b === null) || i - j;
      return sign * compare(a, b) || i - j;
    });
    state.orders = keyed.map(([, order]) => order);
    state.ranges = columns.map((own) => {
      if (!own.method) return null;
      let [low, high] = [Infinity, -Infinity];
      for (const order of everyOrder) {
        const value = valueOf(own.method, order);
        if (value === null) continue;
        if (value < low) low = value;
        if (value > high) high = value;
      }
      return low < high ? [low - 0.15 * (high - low), high] : null;
    });
    headers.forEach((header, index) => {
      if (index === state.column) header.setAttribute("aria-sort", state.down ? "descending" : "ascending");
      else header.removeAttribute("aria-sort");
    });
    sorting.value = `${state.column} ${state.down ? "down" : "up"}`;
    element.classList.toggle("filtered", state.hits.size > 0);
    const whole = page.count.toLocaleString("en");
    count.textContent = `${state.orders.length.toLocaleString("en")} of ${whole} orders`;
    rest.textContent = state.orders.length > PRINTED
      ? `The first ${PRINTED.toLocaleString("en")} of ${state.orders.length.toLocaleString("en")} orders are printed; the CSV file has all of them.` : "";
    redraw(0);
    box.scrollTop = 0;
  };
  const mark = () => {
    for (const line of all("tr[data-order]", body)) line.setAttribute("aria-current", +line.dataset.order === pinned.order);
  };
  const show = () => {
    const at = pinned.order === null ? -1 : state.orders.indexOf(pinned.order);
    if (at >= 0 && (at < state.first || at >= state.end)) redraw(Math.max(0, at - STEP / 3));
    mark();
    const line = at < 0 ? null : body.querySelector(`tr[data-order="${pinned.order}"]`);
    if (line) box.scrollTop += line.getBoundingClientRect().top - box.getBoundingClientRect().top - box.clientHeight / 2;
  };

  const select = (event) => {
    const line = event.target.closest("tr[data-order]");
    if (line) pin(+line.dataset.order);
  };
  box.addEventListener("scroll", () => {
    if (box.scrollTop + box.clientHeight > box.scrollHeight - 400 && state.end < state.orders.length) later();
    if (box.scrollTop < 200 && state.first > 0) earlier();
  });
  body.addEventListener("click", select);
  body.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") { event.preventDefault(); select(event); }
    const line = event.target.closest("tr");
    const next = { ArrowDown: line.nextElementSibling, ArrowUp: line.previousElementSibling }[event.key];
    if (!next) return;
    event.preventDefault();
    line.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  });
  search.addEventListener("input", update);
  where.addEventListener("input", update);
  addEventListener("beforeprint", () => {
    redraw(0);
    while (state.end < Math.min(state.orders.length, PRINTED)) later();
  });
  return { update, show };
})();
table.update();
