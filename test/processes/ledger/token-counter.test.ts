import { expect, test } from "bun:test";
import { join } from "node:path";

const counter = join(import.meta.dir, "../../../src/ledger/tokens/token-counter.ts");

test("a worker without work does not keep the process alive", async () => {
  const source = `
    import { TokenCounter } from ${JSON.stringify(counter)};
    const counter = new TokenCounter({ limitMs: 50_000 });
    const free = { accountId: "acme", purpose: "free" };
    const awake = setInterval(() => {}, 1_000);
    console.log(await counter.count(["hello world"], free), counter.isRunning);
    clearInterval(awake);`;
  const child = Bun.spawn([process.execPath, "-e", source], { stderr: "inherit" });
  const timer = setTimeout(() => child.kill(), 200_000);
  expect(await child.exited).toBe(0);
  clearTimeout(timer);
  expect(await new Response(child.stdout).text()).toBe("2 true\n");
});
