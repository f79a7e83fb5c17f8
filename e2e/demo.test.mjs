// The demo as a newcomer meets it: the program as it is built, the page in a real browser.

import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Browser, Program, pictures, sleep, until } from "./demo.mjs";
import { furthest, marksOf, truth } from "./page.mjs";

let browser;
let program;
let page;

before(async () => {
  browser = await Browser.start();
  program = await Program.start("--port", "0");
  page = await browser.open(program.url);
});

after(async () => {
  await browser?.stop();
  await program?.stop("SIGKILL");
});

test("one line says where to look, and tanks move there", async () => {
  assert.match(program.said, /^Evenkeel demo: 4 tanks, receivers at 200, 500 and 800 ms\.\s+Open http:\/\/127\.0\.0\.1:\d+\S*\s+\(Ctrl-C stops\)\n$/);
  await until(page, "pictures come", () => globalThis.evenkeelPage.pictures > 20 && globalThis.evenkeelPage.state?.crafts.length === 4);
  const before = await page.evaluate(truth);
  await until(page, "everybody sees everything", () => globalThis.evenkeelPage.views.length === 6 && globalThis.evenkeelPage.views.every(({ error }) => error !== null));
  await sleep(1_500);
  const moved = furthest(before, await page.evaluate(truth));
  assert.ok(moved > 3, `the tank that moved most moved ${moved} m`);
});

test("within half a minute even is the fairer one", { timeout: 60_000 }, async () => {
  await page.evaluate(() => globalThis.evenkeelPage.send({ do: "reset" }));
  await until(page, "a window of 30 s", () => globalThis.evenkeelPage.lastSecond?.window_s < 5, null, 10_000);
  assert.match(await page.textContent("[data-test=summary-verdict]"), /measuring… \(1\d s to go\)/);
  await until(page, "a window of 30 s", () => globalThis.evenkeelPage.lastSecond?.window_s >= 29.5, null, 45_000);
  const { worlds } = await page.evaluate(() => globalThis.evenkeelPage.lastSecond);
  const [left, right] = worlds;
  assert.deepEqual([left.policy, right.policy], ["base/3", "even"]);
  assert.ok(right.std < left.std, `standard deviation: even ${right.std}, base/3 ${left.std}`);
  console.log(`std after 30 s: base/3 ${left.std.toFixed(3)} m, even ${right.std.toFixed(3)} m; mean ${left.mean.toFixed(3)}, ${right.mean.toFixed(3)} m`);
  const shown = await page.textContent("[data-test=right-std]");
  assert.ok(Math.abs(parseFloat(shown) - right.std) < 0.1 * right.std + 0.1, `the page says ${shown}`);
  assert.match(await page.textContent("[data-test=summary-verdict]"), /× as accurate, .*× as fair/);
  await page.screenshot({ path: join(pictures, "side-by-side.png") });
});

test("controls act at once, and what cannot be is refused with a reason", async () => {
  await page.selectOption("#set-left-policy", "credits");
  await until(page, "another policy", () => globalThis.evenkeelPage.lastSecond?.worlds[0].policy.startsWith("credits"));
  await page.evaluate(() => globalThis.evenkeelPage.send({ set: { bots: 99 } }));
  await until(page, "a reason", () => document.body.textContent.includes("bots must be 1 to 16"));
  await page.selectOption("#set-left-policy", "base");
  await until(page, "another policy", () => globalThis.evenkeelPage.lastSecond?.worlds[0].policy === "base");
});

const joined = () => globalThis.evenkeelPage.play.state === "joined" && globalThis.evenkeelPage.play.frame?.own;

async function joinAs(name) {
  await page.click("#play-open");
  await page.fill("#join-name", name);
  await page.click("#join-go");
  await until(page, "in the game", joined, null, 20_000);
}

/** Holds keys down for a while. */
async function hold(keys, ms) {
  for (const key of keys) await page.keyboard.down(key);
  await sleep(ms);
  for (const key of keys) await page.keyboard.up(key);
}

const own = () => globalThis.evenkeelPage.play.frame.own;

test("whoever joins over WebTransport drives by keys, and is shown where it is", { timeout: 60_000 }, async () => {
  await joinAs("Ada");
  assert.equal(await page.evaluate(() => globalThis.evenkeelPage.play.carrier), "WebTransport");
  await until(page, "alive", () => globalThis.evenkeelPage.play.frame.own.alive);
  let [driven, start] = [0, await page.evaluate(own)];
  // Walls may be in the way: then it turns and tries again.
  for (let attempt = 0; attempt < 6 && driven < 10; attempt += 1) {
    await hold(attempt % 2 ? ["ArrowDown", "ArrowLeft"] : ["ArrowUp"], 900);
    const now = await page.evaluate(own);
    driven = now.alive ? Math.hypot(now.x - start.x, now.y - start.y) : 0;
    if (!now.alive) await until(page, "alive again", () => globalThis.evenkeelPage.play.frame.own.alive, null, 10_000);
  }
  assert.ok(driven > 5, `it drove ${driven} m`);
  await page.screenshot({ path: join(pictures, "play.png") });
  // The farthest view is 0.8 s away; a second later no vector is under way, if nobody hit it meanwhile.
  let worst = Infinity;
  for (let attempt = 0; attempt < 5 && worst > 0.6; attempt += 1) {
    await sleep(1_500);
    const [mine, marks] = [await page.evaluate(own), await page.evaluate(marksOf, "Ada")];
    assert.ok(marks, "Ada is among the crafts");
    if (!mine.alive || marks.views.some(([, , flags]) => !(flags & 1))) continue;
    worst = Math.max(...marks.views.map(([x, y]) => Math.hypot(x - mine.x, y - mine.y)));
  }
  // Half a metre is the threshold, two centimetres the resolution of pictures; who stands still cannot be off by the clock.
  assert.ok(worst < 0.5 + 0.03, `shown ${worst} m from where it is`);
});

test("after a restart of the server watching and playing go on", { timeout: 60_000 }, async () => {
  await program.stop("SIGKILL");
  await until(page, "the page says so", () => !globalThis.evenkeelPage.online, null, 15_000);
  program = await Program.start("--port", String(program.port));
  await until(page, "pictures come again", () => globalThis.evenkeelPage.online && globalThis.evenkeelPage.state?.crafts.length >= 4, null, 20_000);
  await until(page, "in the game again", joined, null, 30_000);
  const before = await page.evaluate(() => globalThis.evenkeelPage.play.frame.time_s);
  await until(page, "time goes on", (then) => globalThis.evenkeelPage.play.frame.time_s > then + 1, before, 10_000);
  await page.click("#play-leave");
});

test("a phone has room for it, and nobody complained", async () => {
  const phone = await browser.open(program.url, { viewport: { width: 390, height: 844 }, colorScheme: "dark", hasTouch: true });
  await until(phone, "pictures come", () => globalThis.evenkeelPage.pictures > 20);
  const wide = await phone.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.ok(wide <= 0, `the page is ${wide} pixels too wide`);
  await phone.screenshot({ path: join(pictures, "phone.png") });
  assert.deepEqual(phone.complaints, []);
  // While the server was away, its absence was noted by the browser itself.
  const other = page.complaints.filter((text) => !/ERR_CONNECTION|WebSocket|WebTransport|QUIC|net::/.test(text));
  assert.deepEqual(other, []);
});

test("Ctrl-C ends it cleanly", async () => {
  assert.equal(await program.stop("SIGINT"), 0);
});
