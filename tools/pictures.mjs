// Photographs the demo's page. Run by tools/pictures: URL, where pictures go, where frames go.

import { chromium } from "playwright-core";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

const [url, out, frames] = process.argv.slice(2);
const SETTLE_S = 25;
const FRAMES = 60;
const FRAME_MS = 100;

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });

async function open(options) {
  const context = await browser.newContext({ ignoreHTTPSErrors: true, ...options });
  const page = await context.newPage();
  await page.goto(url);
  await page.waitForFunction(() => window.evenkeelPage?.lastSecond, null, { timeout: 30_000 });
  return page;
}

/** The case that the demo is about: every third vector against `even`, with as many. */
async function set(page) {
  const world = (policy) => ({ policy, budget: "1/3" });
  const settings = { crowd: "papers", game: "tanks", clock: "global", left: world("base/3"), right: world("even") };
  await page.evaluate((patch) => window.evenkeelPage.send({ set: patch }), settings);
  const settled = (seconds) => window.evenkeelPage.lastSecond.window_s >= seconds;
  // The numbers of before are not to be taken for those of now.
  await page.waitForTimeout(2500);
  await page.waitForFunction(settled, SETTLE_S, { timeout: 120_000 });
}

/** A stretch of the views, frame by frame. */
async function film(page) {
  const box = await page.locator("main > section:has(#views)").boundingBox();
  const start = Date.now();
  for (let i = 0; i < FRAMES; i += 1) {
    await page.screenshot({ path: join(frames, `frame-${String(i).padStart(3, "0")}.png`), clip: box });
    await page.waitForTimeout(Math.max(0, start + (i + 1) * FRAME_MS - Date.now()));
  }
  // A slow machine takes longer than it should: the film is to run as fast as the game did.
  await writeFile(join(frames, "frame-ms"), String(Math.round((Date.now() - start) / FRAMES)));
}

const laptop = await open({ viewport: { width: 1366, height: 900 } });
await set(laptop);
await laptop.screenshot({ path: join(out, "demo.png") });
await film(laptop);

const phone = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true };
const small = await open({ ...phone, colorScheme: "dark" });
await small.waitForTimeout(5000);
await small.screenshot({ path: join(out, "demo-phone.png") });

await browser.close();
