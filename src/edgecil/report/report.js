"use strict";
// The page works without this script; it adds tooltips, sorting, filtering and linked orders.
const page = JSON.parse(document.getElementById("data").textContent);
const tip = document.getElementById("tip");
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const make = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
};
const SVG = "http://www.w3.org/2000/svg";
const draw = (tag, attributes, text) => {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  return element;
};
const minus = (text) => text.replace("-", "−");
const metric = () => document.querySelector("input[name=metric]:checked")?.value ?? Object.keys(page.metrics)[0];
const valueOf = (method, order, key = metric()) => page.metrics[key].values[method]?.[order] ?? null;

// Orders: a string with one letter per class, cut into tasks.
const place = new Map([...page.letters].map((letter, index) => [letter, index]));
const tasksOf = (order) => {
  const ids = [...page.orders[order]].map((letter) => place.get(letter));
  let start = 0;
  return page.sizes.map((size) => ids.slice(start, (start += size)));
};
const hue = (id) => Math.round((330 * id) / page.classes.length);
const namesOf = (ids) => ids.map((id) => page.classes[id]).join(", ");

// Tooltips.
const showTip = (text, x, y) => {
  tip.textContent = text;
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const left = Math.min(Math.max(8, x + 14), innerWidth - box.width - 8);
  const top = y + 18 + box.height > innerHeight ? y - box.height - 12 : y + 18;
  tip.style.left = `${left}px`;
  tip.style.top = `${Math.max(8, top)}px`;
};
const hideTip = () => { tip.hidden = true; };
const describe = (method, order, per) => {
  const { label, unit } = page.metrics[metric()];
  const value = valueOf(method, order);
  const lines = [`${method}: ${label} ${value === null ? "–" : minus(value.toFixed(2))} ${unit}`];
  const chosen = page.kinds[page.kind[order]];
  if (chosen) lines.push(`chosen by ${chosen}`);
  if (page.z && page.z[order] !== null) lines.push(minus(`${page.predictor}: ${page.z[order].toFixed(2)} std from its mean`));
  if (page.repeats) lines.push(`${page.repeats[order]} training${page.repeats[order] === 1 ? "" : "s"}`);
  const tasks = tasksOf(order).map((task, index) => `${index + 1}: ${namesOf(task)}`);
  const text = tasks.join("\n");
  lines.push(text.length > 420 ? `${text.slice(0, 420)}…` : text);
  if (per > 1) lines.push(`one of about ${per} orders here`);
  return lines.join("\n");
};
for (const element of all("[data-tip]")) {
  const show = () => {
    const box = element.getBoundingClientRect();
    showTip(element.dataset.tip, box.left, box.bottom - 12);
  };
  element.addEventListener("pointerenter", show);
  element.addEventListener("focus", show);
  element.addEventListener("pointerleave", hideTip);
  element.addEventListener("blur", hideTip);
}

// Dots: positions are read from the paths, the nearest one answers.
const charts = new Map();
const pointsOf = (svg) => {
  if (charts.has(svg)) return charts.get(svg);
  const points = [];
  for (const path of all(".dots[data-orders]", svg)) {
    const orders = path.dataset.orders.split(" ");
    const starts = path.getAttribute("d").split("M").slice(1);
    starts.forEach((start, index) => {
      const [x, y] = start.match(/-?[\d.]+/g);
      points.push({ x: +x, y: +y, order: +orders[index], method: path.dataset.method, per: +(path.dataset.per ?? 1) });
    });
  }
  points.sort((a, b) => a.y - b.y);
  const rows = new Map();
  for (const point of points) {
    if (!rows.has(point.method)) rows.set(point.method, []);
    rows.get(point.method).push(point);
  }
  const sorted = [...rows.values()].flatMap((row) => row.sort((a, b) => a.x - b.x || a.y - b.y));
  charts.set(svg, sorted);
  return sorted;
};
const toScreen = (svg, x, y) => new DOMPoint(x, y).matrixTransform(svg.getScreenCTM());
const nearest = (svg, event) => {
  const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
  let best = null;
  let least = 13 ** 2;
  for (const point of pointsOf(svg)) {
    const distance = (point.x - at.x) ** 2 + (point.y - at.y) ** 2;
    if (distance < least) [best, least] = [point, distance];
  }
  return best;
};
const showPoint = (svg, point) => {
  const { x, y } = toScreen(svg, point.x, point.y);
  showTip(describe(point.method, point.order, point.per), x, y);
  svg.lastPoint = point;
};
const pinned = { order: null };
const ring = () => {
  for (const element of all(".ring")) element.remove();
  if (pinned.order === null) return;
  for (const svg of all("svg.chart")) {
    if (!svg.querySelector(".dots[data-orders]") || !svg.getClientRects().length) continue;
    for (const point of pointsOf(svg)) {
      if (point.order !== pinned.order) continue;
      svg.append(draw("circle", { class: "ring halo", cx: point.x, cy: point.y, r: 6 }));
      svg.append(draw("circle", { class: "ring", cx: point.x, cy: point.y, r: 6 }));
    }
  }
};
const pin = (order) => {
  pinned.order = pinned.order === order ? null : order;
  ring();
  table.show();
};
const listen = (svg) => {
  svg.tabIndex = 0;
  svg.addEventListener("pointermove", (event) => {
    const point = nearest(svg, event);
    svg.style.cursor = point ? "pointer" : "";
    if (point) showPoint(svg, point);
    else hideTip();
  });
  svg.addEventListener("pointerleave", hideTip);
  svg.addEventListener("blur", hideTip);
  svg.addEventListener("click", (event) => {
    const point = nearest(svg, event);
    if (point) pin(point.order);
  });
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const points = pointsOf(svg);
    if (event.key === "Escape") { hideTip(); return; }
    if (event.key === "Enter" && svg.lastPoint) { pin(svg.lastPoint.order); return; }
    if (!step || !points.length) return;
    event.preventDefault();
    const now = points.indexOf(svg.lastPoint);
    showPoint(svg, points[now < 0 ? 0 : (now + step + points.length) % points.length]);
  });
};
for (const svg of all("svg.chart")) if (svg.querySelector(".dots[data-orders]")) listen(svg);

// Heat maps.
for (const cells of all(".cells[data-values]")) {
  const svg = cells.ownerSVGElement;
  const [left, top, width, height] = cells.dataset.box.split(" ").map(Number);
  const names = cells.dataset.names.split("\n");
  const values = cells.dataset.values.split(";").map((row) => row.split(","));
  svg.addEventListener("pointermove", (event) => {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    const [row, column] = [Math.floor((at.y - top) / height), Math.floor((at.x - left) / width)];
    const value = values[row]?.[column];
    if (value === undefined) hideTip();
    else showTip(`${names[row]}, in task ${column + 1}: ${value === "" ? "never there" : `${value} %`}`, event.clientX, event.clientY);
  });
  svg.addEventListener("pointerleave", hideTip);
}

// One learner at a time where there are several.
for (const tabs of all("[data-tabs]")) {
  const parts = all(".tab", tabs);
  if (parts.length < 2) continue;
  const bar = make("div", { class: "tabs-bar", role: "group", "aria-label": tabs.dataset.tabs });
  const choose = (chosen) => parts.forEach((part, index) => {
    part.hidden = index !== chosen;
    part.querySelector("h3").hidden = true;
    bar.children[index].setAttribute("aria-pressed", index === chosen);
  });
  parts.forEach((part, index) => {
    const button = make("button", { type: "button" }, part.dataset.tab);
    button.addEventListener("click", () => choose(index));
    bar.append(button);
  });
  tabs.prepend(bar);
  choose(0);
}

// Two learners on their common orders.
const scatter = (figure, first, second) => {
  const key = figure.dataset.metric;
  const { label, unit } = page.metrics[key];
  const points = [];
  page.orders.forEach((_, order) => {
    const [x, y] = [valueOf(second, order, key), valueOf(first, order, key)];
    if (x !== null && y !== null) points.push({ x, y, order });
  });
  const size = 400;
  const [start, end] = [48, size - 12];
  const values = points.flatMap((point) => [point.x, point.y]);
  const room = 0.04 * (Math.max(...values) - Math.min(...values)) || 1;
  const [low, high] = [Math.min(...values) - room, Math.max(...values) + room];
  const across = (value) => start + ((value - low) / (high - low)) * (end - start);
  const up = (value) => end - 36 - ((value - low) / (high - low)) * (end - 48);
  const svg = draw("svg", { viewBox: `0 0 ${size} ${size}`, class: "chart", role: "img", "aria-label": `${label} of ${first} against ${second} on ${points.length} common orders` });
  const power = 10 ** Math.floor(Math.log10((high - low) / 5));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= (high - low) / 5);
  for (let tick = Math.ceil(low / step) * step; tick <= high; tick += step) {
    const text = minus(String(+tick.toPrecision(6)));
    svg.append(draw("path", { class: "s-line", d: `M${across(tick)} ${up(low)}V${up(high)}M${start} ${up(tick)}H${end}` }));
    svg.append(draw("text", { class: "f-faint", x: across(tick), y: up(low) + 16, "font-size": 11, "text-anchor": "middle" }, text));
    svg.append(draw("text", { class: "f-faint", x: start - 6, y: up(tick) + 4, "font-size": 11, "text-anchor": "end" }, text));
  }
  svg.append(draw("path", { class: "s-faint", "stroke-dasharray": "4 4", d: `M${across(low)} ${up(low)}L${across(high)} ${up(high)}` }));
  const radius = points.length > 400 ? 2 : points.length > 60 ? 2.8 : 4;
  svg.append(draw("path", {
    class: "dots s-c0", fill: "none", opacity: 0.7, "stroke-width": 2 * radius, "stroke-linecap": "round",
    "data-method": first, "data-orders": points.map((point) => point.order).join(" "),
    d: points.map((point) => `M${across(point.x).toFixed(1)} ${up(point.y).toFixed(1)}h0`).join(""),
  }));
  svg.append(draw("text", { class: "f-ink", x: (start + end) / 2, y: size - 6, "font-size": 12, "text-anchor": "middle" }, `${second}, ${unit}`));
  svg.append(draw("text", { class: "f-ink", x: start, y: 9, "font-size": 12 }, `${first}, ${unit}`));
  const above = points.filter((point) => point.y > point.x).length;
  const caption = make("figcaption", {}, `${first} is higher than ${second} on ${above} of ${points.length} common orders (dots above the line).`);
  figure.replaceChildren(caption, svg);
  figure.hidden = false;
  listen(svg);
};
for (const wins of all(".wins")) {
  const figure = wins.parentElement.querySelector(".scatter");
  const buttons = all("button", wins);
  if (all("thead th", wins).length > 6) wins.classList.add("many");
  for (const button of buttons) {
    button.addEventListener("click", () => {
      for (const other of buttons) other.setAttribute("aria-pressed", other === button);
      scatter(figure, button.dataset.first, button.dataset.second);
    });
  }
  if (buttons.length) {
    buttons[0].setAttribute("aria-pressed", true);
    scatter(figure, buttons[0].dataset.first, buttons[0].dataset.second);
  }
}

// The table of orders: all of them, sorted, filtered, drawn as far as it is scrolled.
const table = (() => {
  const figure = document.getElementById("table-orders");
  const box = figure.querySelector(".scroll");
  const element = figure.querySelector("table");
  const body = element.tBodies[0];
  const named = element.dataset.names === "1";
  const columns = [
    ...page.methods.map((method) => ({ title: method, method, numeric: true })),
    ...(page.z ? [{ title: "z", numeric: true, get: (order) => page.z[order], digits: 2 }] : []),
    ...(page.repeats ? [{ title: "repeats", numeric: true, get: (order) => page.repeats[order], digits: 0 }] : []),
    { title: "chosen by", get: (order) => page.kinds[page.kind[order]] },
    { title: "tasks", get: (order) => page.orders[order] },
  ];
  const read = (column, order) => (column.method ? valueOf(column.method, order) : column.get(order));
  const state = { column: 0, down: false, orders: [], drawn: 0, hits: new Set() };
  const search = make("input", { type: "search", placeholder: "Class names, protocol or label", "aria-label": "Filter orders" });
  const where = make("select", { "aria-label": "In which task" }, make("option", { value: "" }, "together in any task"),
    ...page.sizes.map((_, index) => make("option", { value: index }, `in task ${index + 1}`)));
  const count = make("output", { "aria-live": "polite" });
  box.before(make("div", { class: "tools" }, search, where, count));

  const headers = [...element.tHead.rows[0].cells];
  headers.forEach((header, index) => {
    const button = make("button", { type: "button" }, columns[index].title);
    header.replaceChildren(button);
    button.addEventListener("click", () => {
      state.down = state.column === index && header.getAttribute("aria-sort") === "ascending";
      state.column = index;
      update();
    });
  });
  const lowered = page.classes.map((name) => name.toLowerCase().split(/[\s_-]+/));
  const kinds = page.kinds.map((kind) => kind.toLowerCase().split(/[\s,]+/));
  const begins = (words, word) => words.some((one) => one.startsWith(word));
  const matches = () => {
    const words = search.value.toLowerCase().split(/[\s,]+/).filter(Boolean);
    const ofKind = words.filter((word) => kinds.some((kind) => begins(kind, word)));
    const ofClass = words.filter((word) => !ofKind.includes(word));
    const sets = ofClass.map((word) => new Set(lowered.flatMap((name, id) => (begins(name, word) ? [id] : []))));
    state.hits = new Set(sets.flatMap((set) => [...set]));
    const right = kinds.map((kind) => ofKind.every((word) => begins(kind, word)));
    const task = where.value === "" ? null : +where.value;
    return (order) => right[page.kind[order]] && (!sets.length ||
      tasksOf(order).some((ids, index) => (task === null || task === index) && sets.every((set) => ids.some((id) => set.has(id)))));
  };
  const row = (order) => {
    const line = make("tr", { tabindex: 0, "data-order": order, "aria-selected": pinned.order === order });
    columns.forEach((column, index) => {
      if (column.title === "tasks" && index === columns.length - 1) { line.append(tasksCell(order)); return; }
      const value = read(column, order);
      const text = !column.numeric ? value : value === null ? "–" : minus(value.toFixed(column.digits ?? 1));
      const cell = make("td", column.numeric ? { class: "number" } : {}, text);
      const range = state.ranges[index];
      if (column.method && value !== null && range) {
        cell.classList.add("value");
        cell.style.setProperty("--v", `${(100 * (value - range[0])) / (range[1] - range[0] || 1)}%`);
      }
      line.append(cell);
    });
    return line;
  };
  const tasksCell = (order) => {
    const cell = make("td", { class: "tasks" });
    for (const ids of tasksOf(order)) {
      if (named) {
        cell.append(make("span", { class: "task" }, ...ids.map((id) =>
          make("span", { class: state.hits.has(id) ? "chip hit" : "chip", style: `--h:${hue(id)}` }, page.classes[id]))));
        continue;
      }
      const width = Math.max(3, Math.min(9, 420 / page.classes.length));
      const colour = (id) => (state.hits.size && !state.hits.has(id) ? "var(--line)" : `oklch(${state.hits.size ? 0.65 : "var(--chip-l)"} ${state.hits.size ? 0.15 : 0.11} ${hue(id)})`);
      const stops = ids.map((id, index) => `${colour(id)} ${index * width}px ${(index + 1) * width}px`);
      cell.append(make("span", { class: "strip", title: namesOf(ids), style: `width:${ids.length * width}px;background:linear-gradient(to right,${stops.join(",")})` }));
    }
    return cell;
  };
  const more = () => {
    const next = state.orders.slice(state.drawn, state.drawn + 60);
    body.append(...next.map(row));
    state.drawn += next.length;
  };
  const update = () => {
    const fits = matches();
    const column = columns[state.column];
    const keyed = page.orders.flatMap((_, order) => (fits(order) ? [[read(column, order), order]] : []));
    const sign = state.down ? -1 : 1;
    keyed.sort(([a, i], [b, j]) => {
      if (a === null || b === null) return (a === null) - (b === null) || i - j;
      return sign * (column.numeric ? a - b : a < b ? -1 : a > b ? 1 : 0) || i - j;
    });
    state.orders = keyed.map(([, order]) => order);
    state.ranges = columns.map((one) => {
      if (!one.method) return null;
      let [low, high] = [Infinity, -Infinity];
      for (const value of page.metrics[metric()].values[one.method]) {
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
    element.classList.toggle("filtered", state.hits.size > 0);
    count.textContent = `${state.orders.length.toLocaleString("en")} of ${page.all.toLocaleString("en")} orders`;
    body.replaceChildren();
    state.drawn = 0;
    more();
  };
  const select = (event) => {
    const line = event.target.closest("tr[data-order]");
    if (line) pin(+line.dataset.order);
  };
  const mark = () => {
    for (const line of all("tr[data-order]", body)) line.setAttribute("aria-selected", +line.dataset.order === pinned.order);
  };
  box.addEventListener("scroll", () => {
    if (box.scrollTop + box.clientHeight > box.scrollHeight - 400 && state.drawn < state.orders.length) more();
  });
  body.addEventListener("click", select);
  body.addEventListener("keydown", (event) => { if (event.key === "Enter") select(event); });
  search.addEventListener("input", update);
  where.addEventListener("input", update);
  addEventListener("beforeprint", () => { while (state.drawn < Math.min(state.orders.length, 2000)) more(); });
  const show = () => {
    if (pinned.order === null) { mark(); return; }
    const at = state.orders.indexOf(pinned.order);
    while (at >= state.drawn && state.drawn < state.orders.length) more();
    mark();
    const line = body.querySelector(`tr[data-order="${pinned.order}"]`);
    if (line) box.scrollTop += line.getBoundingClientRect().top - box.getBoundingClientRect().top - box.clientHeight / 2;
  };
  return { update, show };
})();
table.update();

// The metric switch: the style sheet shows the chosen parts, the table reads other numbers.
for (const input of all("input[name=metric]")) {
  input.addEventListener("change", () => { hideTip(); table.update(); ring(); });
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
