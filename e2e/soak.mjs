// Minutes of the demo with 16 tanks, 8 views and two worlds: frame times, processor, and whether memory grows.

import { Browser, Program, sleep } from "./demo.mjs";

const minutes = Number(process.env.EVENKEEL_DEMO_MINUTES ?? 10);
const browser = await Browser.start();
const program = await Program.start("--port", "0", "--crowd", "internet", "--bots", "16");
const page = await browser.open(program.url);
const session = await page.context().newCDPSession(page);
await session.send("HeapProfiler.enable");

/** Megabytes of the page that are in use, rubbish collected. */
async function heap() {
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  return usedSize / 1e6;
}

const rows = [];
let last = program.usage();
for (let minute = 1; minute <= minutes; minute += 1) {
  await sleep(60_000);
  const now = program.usage();
  const { median, p99, fps } = await page.evaluate(() => globalThis.evenkeelPage.frameTimes());
  const row = { minute, fps, median_ms: median, p99_ms: p99, processors: (now.seconds - last.seconds) / 60, server_mib: now.mib, page_mb: await heap() };
  last = now;
  rows.push(row);
  console.log(Object.entries(row).map(([name, value]) => `${name} ${Number(value).toFixed(2)}`).join("  "));
}
const { crafts, views } = await page.evaluate(() => ({ crafts: globalThis.evenkeelPage.state.crafts.length, views: globalThis.evenkeelPage.state.views.length }));
await browser.stop();
const code = await program.stop();

const early = rows[Math.min(1, rows.length - 1)];
const late = rows.at(-1);
const grown = { server: late.server_mib / early.server_mib, page: late.page_mb / early.page_mb };
console.log(`${crafts} tanks, ${views} views: server memory x ${grown.server.toFixed(3)}, page memory x ${grown.page.toFixed(3)} since minute ${early.minute}; exit code ${code}`);
if (crafts !== 16 || views !== 8 || code !== 0 || grown.server > 1.1 || grown.page > 1.2) process.exit(1);
