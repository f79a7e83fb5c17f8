// Addresses for other devices, with codes to photograph.

import { byId, make } from "./dom.js";

/** Shows them in their dialog. */
export function showLinks(links) {
  byId("links-list").replaceChildren(...links.map(entry));
}

function entry({ url, qr, warning }) {
  const code =
    qr && make("img", { src: `data:image/svg+xml,${encodeURIComponent(qr)}`, alt: `QR code of ${url}`, width: 132, height: 132 });
  const words = make(
    "div",
    {},
    make("a", { href: url, text: url }),
    warning && make("p", { class: "hint", text: `Expect: ${warning}` }),
  );
  return make("li", {}, code || null, words);
}
