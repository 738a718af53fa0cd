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

const page = JSON.parse(document.getElementById("data").textContent);
const everyOrder = Array.from({ length: page.count }, (_, order) => order);
const column = (values) => values && ((order) => values[order]);
const zOf = column(page.z);
const repeatsOf = column(page.repeats);
const chosenBy = column(page.chosen);
let metric = "";
const readMetric = () => { metric = document.querySelector("input[name=metric]:checked")?.value ?? Object.keys(page.metrics)[0]; };
readMetric();
const valueOf = (method, order, key = metric) => page.metrics[key].values[method]?.[order] ?? null;

// Classes by task.
const width = page.classes.length;
const tasksOf = (order) => {
  const tasks = Array.from({ length: page.number_of_tasks }, () => []);
  page.tasks[order]?.forEach((task, id) => tasks[task].push(id));
  return tasks;
};
const hue = (id) => Math.round((330 * id) / width);
const namesOf = (ids) => ids.map((id) => page.classes[id]).join(", ");
