// Small helpers to make elements and to write numbers.

/** The element with this id. */
export const byId = (id) => document.getElementById(id);

/** A new element; `class`, `text`, `dataset` and `on` are what they say, `aria-…` and `data-…` are attributes. */
export function make(tag, { class: name, text, on = {}, ...rest } = {}, ...children) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  if (text !== undefined) element.textContent = text;
  for (const [event, handler] of Object.entries(on)) element.addEventListener(event, handler);
  for (const [key, value] of Object.entries(rest)) {
    if (key.includes("-") || key === "for" || key === "role" || key === "list") element.setAttribute(key, value);
    else element[key] = value;
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** Writes a text only where it differs: the page is not laid out anew for nothing. */
export function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** A number with about three digits that matter, or a dash. */
export function number(value, digits) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  return value.toFixed(digits ?? (size >= 100 ? 0 : size >= 10 ? 1 : 2));
}

/** A number with its unit. */
export const measure = (value, unit, digits) => `${number(value, digits)} ${unit}`;

/** A size in bytes. */
export const bytes = (value) => (value >= 10_000 ? `${number(value / 1000, 1)} kB` : `${number(value, 0)} B`);
