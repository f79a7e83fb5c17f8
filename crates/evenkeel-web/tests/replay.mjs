// Tells the module all that a native player was told, and compares what it answers, bit for bit:
// node replay.mjs evenkeel.wasm log
import { readFileSync } from "node:fs";

const [modulePath, logPath] = process.argv.slice(2);
const { instance } = await WebAssembly.instantiate(readFileSync(modulePath), {});
const wasm = instance.exports;
const log = readFileSync(logPath);
const view = new DataView(log.buffer, log.byteOffset, log.length);

// By the numbers of the log, with two small arguments and the time.
const calls = [
  ["join", (a) => wasm.evenkeel_join(a), true],
  ["connected", () => wasm.evenkeel_connected(), true],
  ["lost", (a, b, now) => wasm.evenkeel_lost(now), false],
  ["handle", (a, b, now) => wasm.evenkeel_handle(a, now), true],
  ["poll", (a, b, now) => wasm.evenkeel_poll(now), true],
  ["timeout", (a, b, now) => wasm.evenkeel_timeout(now), false],
  ["keys", (a, b) => wasm.evenkeel_keys(a, b), false],
  ["fire", (a, b, now) => wasm.evenkeel_fire(now), false],
  ["step", (a, b, now) => wasm.evenkeel_step(now), false],
  ["frame", (a, b, now) => wasm.evenkeel_frame(now), true],
  ["texts", () => wasm.evenkeel_texts(), true],
  ["leave", () => wasm.evenkeel_leave(), false],
];

let at = 0;
const take = (length) => log.subarray(at, (at += length));
const bytes = () => {
  const length = view.getUint32(at, true);
  at += 4;
  return take(length);
};

let count = 0;
let numbers = 0;
while (at < log.length) {
  const [name, call, hasOutput] = calls[log[at]];
  const [a, b] = [view.getInt32(at + 1, true), view.getInt32(at + 5, true)];
  const now = view.getBigInt64(at + 9, true);
  at += 17;
  const input = bytes();
  const place = wasm.evenkeel_input(input.length);
  new Uint8Array(wasm.memory.buffer, place, input.length).set(input);
  const answer = BigInt(call(a, b, now) ?? 0);
  const expectedAnswer = view.getBigInt64(at, true);
  at += 8;
  const expected = bytes();
  const output = hasOutput ? Buffer.from(wasm.memory.buffer, wasm.evenkeel_output(), wasm.evenkeel_output_length()) : Buffer.alloc(0);
  if (answer !== expectedAnswer || !output.equals(expected)) {
    console.error(`call ${count}, ${name} at ${now}: ${answer}, not ${expectedAnswer}; ${output.toString("hex")}, not ${expected.toString("hex")}`);
    process.exit(1);
  }
  count += 1;
  if (name === "frame") numbers += output.length / 8;
}
console.log(`${count} calls and ${numbers} numbers are the same`);
