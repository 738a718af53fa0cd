"use strict";
// The page works without this script; it adds tooltips, sorting, filtering and linked orders.
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
const minus = (text) => text.replace(/-(?=\d)/g, "−");

// Columns are packed: codes of a few bits each, in base64; see packing.py.
const unpack = ({ low, bits, none, text }, size, array) => {
  const bytes = atob(text);
  const values = new array(size);
  let [byte, left, at] = [0, 0, 0];
  for (let index = 0; index < size; index += 1) {
    let code = 0;
    for (let bit = 0; bit < bits; bit += 1) {
      if (left === 0) { byte = bytes.charCodeAt(at); at += 1; left = 8; }
      left -= 1;
      code = code * 2 + ((byte >> left) & 1);
    }
    values[index] = code === none ? NaN : low + code;
  }
  return values;
};
const page = JSON.parse(document.getElementById("data").textContent);
const everyOrder = Array.from({ length: page.count }, (_, order) => order);
const column = (packed, scale = 1) => {
  if (!packed) return null;
  const values = unpack(packed, page.count, Float64Array);
  return (order) => (Number.isNaN(values[order]) ? null : values[order] / scale);
};
const zOf = column(page.z, 100);
const repeatsOf = column(page.repeats);
const stemOf = column(page.stem);
const numberOf = column(page.number);
const chosenBy = (order) => page.stems[stemOf(order)] + (numberOf(order) ?? "");
for (const one of Object.values(page.metrics)) {
  for (const [method, packed] of Object.entries(one.values)) one.values[method] = column(packed, 100);
}
let metric = "";
const readMetric = () => { metric = document.querySelector("input[name=metric]:checked")?.value ?? Object.keys(page.metrics)[0]; };
readMetric();
const valueOf = (method, order, key = metric) => page.metrics[key].values[method]?.(order) ?? null;

// Classes by task; `taskOf` has the task of every class of every order.
const width = page.classes.length;
const taskOf = unpack(page.tasks, page.count * width, Uint16Array);
const tasksOf = (order) => {
  const tasks = Array.from({ length: page.number_of_tasks }, () => []);
  for (let id = 0; id < width; id += 1) tasks[taskOf[order * width + id]].push(id);
  return tasks;
};
const hue = (id) => Math.round((330 * id) / width);
const namesOf = (ids) => ids.map((id) => page.classes[id]).join(", ");
