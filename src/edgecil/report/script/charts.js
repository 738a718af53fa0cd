// Tooltips.
const tip = document.getElementById("tip");
const showTip = (text, x, y) => {
  tip.textContent = text;
  tip.classList.toggle("long", text.length > 300);
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const left = Math.min(Math.max(8, x + 14), innerWidth - box.width - 8);
  const top = y + 18 + box.height > innerHeight ? y - box.height - 12 : y + 18;
  tip.style.left = `${left}px`;
  tip.style.top = `${Math.max(8, top)}px`;
};
const hideTip = () => { tip.hidden = true; };
const describe = (method, order) => {
  const { label, unit } = page.metrics[metric];
  const value = valueOf(method, order);
  const lines = [`${method}: ${label} ${value === null ? "–" : minus(value.toFixed(2))} ${unit}`];
  const chosen = chosenBy(order);
  if (chosen) lines.push(`chosen by ${chosen}`);
  if (zOf && zOf(order) !== null) lines.push(minus(`${page.predictor}: ${zOf(order).toFixed(2)} std from its mean`));
  if (repeatsOf) lines.push(`${repeatsOf(order)} training${repeatsOf(order) === 1 ? "" : "s"}`);
  const tasks = tasksOf(order).map((task, index) => `${index + 1}: ${namesOf(task)}`);
  const text = tasks.join("\n");
  const most = innerWidth < 600 ? 500 : 1400;
  lines.push(text.length > most ? `${text.slice(0, most)}…` : text);
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
      points.push({ x: +x, y: +y, order: +orders[index], method: path.dataset.method });
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
  showTip(describe(point.method, point.order), x, y);
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
for (const cells of all(".cells[data-box]")) {
  const svg = cells.ownerSVGElement;
  const [left, top, wide, high] = cells.dataset.box.split(" ").map(Number);
  const { names: labels, values: numbers, unit } = cells.closest("figure").querySelector("[data-values]").dataset;
  const names = labels.split("\n");
  const values = numbers.split(";").map((row) => row.split(","));
  const show = (row, column, x, y) => {
    const value = values[row]?.[column];
    if (value === undefined) hideTip();
    else showTip(`${names[row]}, in task ${column + 1}: ${value === "" ? "no value" : minus(`${value} ${unit}`)}`, x, y);
  };
  svg.addEventListener("pointermove", (event) => {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    show(Math.floor((at.y - top) / high), Math.floor((at.x - left) / wide), event.clientX, event.clientY);
  });
  const at = { row: 0, column: -1 };
  svg.tabIndex = 0;
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[event.key];
    if (event.key === "Escape") hideTip();
    if (!step) return;
    event.preventDefault();
    at.row = Math.min(Math.max(at.row + step[0], 0), values.length - 1);
    at.column = Math.min(Math.max(at.column + step[1], 0), values[0].length - 1);
    const { x, y } = toScreen(svg, left + (at.column + 0.5) * wide, top + (at.row + 0.5) * high);
    show(at.row, at.column, x, y);
  });
  svg.addEventListener("pointerleave", hideTip);
  svg.addEventListener("blur", hideTip);
}

// One method at a time where there are several.
for (const tabs of all("[data-tabs]")) {
  const parts = all(".tab", tabs);
  if (parts.length < 2) continue;
  const bar = make("div", { class: "tabs-bar", role: "group", "aria-label": tabs.dataset.tabs });
  parts.forEach((part) => {
    part.querySelector("h3").hidden = true;
    const button = make("button", { type: "button", "data-tab": part.dataset.tab }, part.dataset.tab);
    button.addEventListener("click", () => chooseTab(part.dataset.tab));
    bar.append(button);
  });
  tabs.prepend(bar);
}
const chooseTab = (name) => { // for every metric, so that the switch keeps the method
  for (const part of all(".tab")) part.hidden = part.dataset.tab !== name && all(".tab", part.parentElement).length > 1;
  for (const button of all(".tabs-bar button")) button.setAttribute("aria-pressed", button.dataset.tab === name);
};
if (all(".tab").length) chooseTab(all(".tab")[0].dataset.tab);

// Two methods on their common orders.
const MOST_DOTS = 4000;
const shorten = (name) => (name.length > 42 ? `${name.slice(0, 41)}…` : name);
const scatter = (figure, first, second) => {
  const key = figure.dataset.metric;
  const { label, unit, up: isHigherBetter } = page.metrics[key];
  const points = [];
  everyOrder.forEach((order) => {
    const [x, y] = [valueOf(second, order, key), valueOf(first, order, key)];
    if (x !== null && y !== null) points.push({ x, y, order });
  });
  const drawn = points.filter((_, index) => index % Math.ceil(points.length / MOST_DOTS) === 0);
  const size = 400;
  const [start, end] = [48, size - 12];
  let [low, high] = [Infinity, -Infinity];
  for (const { x, y } of points) [low, high] = [Math.min(low, x, y), Math.max(high, x, y)];
  const room = 0.04 * (high - low) || 1;
  [low, high] = [low - room, high + room];
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
  const radius = drawn.length > 400 ? 2 : drawn.length > 60 ? 2.8 : 4;
  svg.append(draw("path", {
    class: "dots s-c0", fill: "none", opacity: 0.7, "stroke-width": 2 * radius, "stroke-linecap": "round",
    "data-method": first, "data-orders": drawn.map((point) => point.order).join(" "),
    d: drawn.map((point) => `M${across(point.x).toFixed(1)} ${up(point.y).toFixed(1)}h0`).join(""),
  }));
  svg.append(draw("text", { class: "f-ink", x: (start + end) / 2, y: size - 6, "font-size": 12, "text-anchor": "middle" }, `${shorten(second)}, ${unit}`));
  svg.append(draw("text", { class: "f-ink", x: start, y: 9, "font-size": 12 }, `${shorten(first)}, ${unit}`));
  const better = points.filter((point) => (isHigherBetter ? point.y > point.x : point.y < point.x)).length;
  const caption = make("figcaption", {}, `${first} is better than ${second} on ${better} of ${points.length} common orders (dots ${isHigherBetter ? "above" : "below"} the line).${drawn.length < points.length ? ` ${drawn.length.toLocaleString("en")} of them are drawn.` : ""}`);
  figure.replaceChildren(caption, svg);
  figure.hidden = false;
  listen(svg);
};
for (const figure of all(".scatter")) { // two selects choose the pair
  const chosen = [0, 1].map((place) => {
    const options = page.methods.map((method, index) => make("option", { value: index, ...(index === place ? { selected: "" } : {}) }, method));
    return make("select", { "aria-label": ["First method", "Second method"][place] }, ...options);
  });
  figure.redraw = () => scatter(figure, ...chosen.map((select) => page.methods[select.value]));
  for (const select of chosen) select.addEventListener("input", figure.redraw);
  figure.before(make("div", { class: "tools" }, ...chosen, "on their common orders"));
}
const firstScatter = () => { // the charts of other metrics are drawn when they are chosen
  for (const figure of all(".scatter")) if (figure.parentElement.getClientRects().length && figure.hidden) figure.redraw();
};
firstScatter();
