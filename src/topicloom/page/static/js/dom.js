import { parted } from "./names.js";

/* Elements from tags, properties and children; text is always a text node. */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (key === "class") element.className = value;
    else if (key === "on")
      for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    else if (key === "style") for (const [name, part] of Object.entries(value)) element.style.setProperty(name, part);
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false));
  return element;
}

export const button = (text, click, properties = {}) =>
  h("button", { type: "button", on: { click }, ...properties }, text);
export const $ = (id) => document.getElementById(id);

/* A name: what it is called, and below it, smaller, where it is. Set apart, so that its direction cannot reach beyond it. */
export function label(name) {
  const [path, last] = parted(name, 160);
  return h("bdi", { class: "label" }, last, path && h("small", {}, path));
}
