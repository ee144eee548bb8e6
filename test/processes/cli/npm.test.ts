import { expect, test } from "bun:test";
import { join } from "node:path";
import { useHome } from "../../setup/use-home.ts";

const home = useHome({ isBare: true });

test("SIGTERM to npm stops the gateway, and npm with its exit code", async () => {
  const root = join(import.meta.dir, "../../..");
  const npm = Bun.spawn(["npm", "start", "--silent"], {
    cwd: root,
    env: home.environment({ HOME: process.env["HOME"] ?? "" }),
    stdout: "pipe",
    stderr: "ignore",
  });
  let text = "";
  for await (const bytes of npm.stdout) {
    text += new TextDecoder().decode(bytes);
    if (text.includes("Ctrl-C stops the server")) break;
  }
  const address = /gateway +(http\S+)\/v1/.exec(text)?.[1] ?? "";
  expect((await fetch(`${address}/healthz`)).status).toBe(200);
  npm.kill("SIGTERM");
  expect(await npm.exited).toBe(0);
  await expect(fetch(`${address}/healthz`)).rejects.toThrow();
});
