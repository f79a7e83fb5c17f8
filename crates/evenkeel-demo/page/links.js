// Addresses for other devices, with codes to photograph.

import { byId, make, write } from "./dom.js";

const ALONE =
  "This demo serves this computer only. Started as `evenkeel demo --lan`, or from its sources as `cargo run --release -- demo --lan`, it is open to other devices on the network.";
const SOME = "Open one of these addresses on a phone or another computer.";

/** Shows them in their dialog. */
export function showLinks(links) {
  write(byId("links-note"), links.length ? SOME : ALONE);
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
