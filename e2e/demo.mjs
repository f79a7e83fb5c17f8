// The program and a browser, for tests: both are what a user has, and both are stopped whatever happens.

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const program = process.env.EVENKEEL ?? join(root, "target/release/evenkeel");

/** Where pictures of what was seen are kept. */
export const pictures = join(root, "target/e2e");

/** The program, up to the line that says where to look. */
export class Program {
  static async start(...options) {
    const self = new Program();
    self.child = spawn(program, ["demo", ...options], { stdio: ["ignore", "pipe", "pipe"] });
    self.said = "";
    const address = new Promise((found, failed) => {
      const listen = (chunk) => {
        self.said += chunk;
        const match = /(http:\/\/\S+)/.exec(self.said);
        if (match) found(match[1]);
      };
      self.child.stdout.on("data", listen);
      self.child.stderr.on("data", (chunk) => (self.said += chunk));
      self.child.on("exit", (code) => failed(new Error(`the program ended with ${code}: ${self.said}`)));
      setTimeout(() => failed(new Error(`no address within 20 s: ${self.said}`)), 20_000).unref();
    });
    self.url = await address;
    self.port = Number(new URL(self.url).port);
    return self;
  }

  /** Processor time in seconds, and resident memory in MiB. */
  usage() {
    const fields = readFileSync(`/proc/${this.child.pid}/stat`, "utf8").split(") ")[1].split(" ");
    const status = readFileSync(`/proc/${this.child.pid}/status`, "utf8");
    return { seconds: (Number(fields[11]) + Number(fields[12])) / 100, mib: Number(/VmRSS:\s+(\d+)/.exec(status)[1]) / 1024 };
  }

  /** Ends it, by Ctrl-C unless said otherwise. Answers its exit code. */
  async stop(signal = "SIGINT") {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return this.child.exitCode;
    const ended = once(this.child, "exit");
    this.child.kill(signal);
    const [code] = await ended;
    return code;
  }
}

function browserPath() {
  if (process.env.CHROMIUM) return process.env.CHROMIUM;
  for (const name of ["chromium", "chromium-browser", "google-chrome"]) {
    try {
      return execFileSync("which", [name], { encoding: "utf8" }).trim();
    } catch {
      // The next one may be there.
    }
  }
  throw new Error("no Chromium found: install it, or say where it is with CHROMIUM=path");
}

/** Debian's Chromium, and what pages in it complained about. */
export class Browser {
  static async start() {
    if (!existsSync(program)) throw new Error(`no program at ${program}: cargo build --release`);
    mkdirSync(pictures, { recursive: true });
    const self = new Browser();
    self.browser = await chromium.launch({ executablePath: browserPath(), args: ["--no-sandbox", "--disable-dev-shm-usage"] });
    return self;
  }

  async open(url, options = {}) {
    const context = await this.browser.newContext({ viewport: { width: 1366, height: 768 }, ...options });
    const page = await context.newPage();
    page.complaints = [];
    page.on("pageerror", (error) => page.complaints.push(String(error)));
    page.on("console", (message) => message.type() === "error" && page.complaints.push(message.text()));
    await page.goto(url);
    return page;
  }

  stop() {
    return this.browser.close();
  }
}

/** Asks the page until the answer is true, or it takes too long. */
export async function until(page, what, test, argument = null, timeout = 30_000) {
  await page.waitForFunction(test, argument, { timeout, polling: 200 }).catch(async (error) => {
    const state = await page.evaluate(() => JSON.stringify(globalThis.evenkeelPage?.lastSecond ?? null)).catch(() => "?");
    throw new Error(`not within ${timeout / 1000} s: ${what} (${error.message.split("\n")[0]}; last second: ${state})`);
  });
}

export const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
