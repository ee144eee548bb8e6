import { afterAll, expect, test } from "bun:test";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { serve } from "./installed-package.ts";

const root = join(import.meta.dir, "..", "..");
const clone = mkdtempSync(join(tmpdir(), "svc-clone-"));
afterAll(() => rmSync(clone, { recursive: true, force: true }));

/** What git would give to a newcomer, with the changes that are not committed yet. */
function copyTrackedFiles(): void {
  const { stdout, exitCode } = Bun.spawnSync(["git", "ls-files", "-z"], { cwd: root });
  if (exitCode !== 0) throw new Error("git ls-files failed");
  const paths = stdout.toString().split("\0").filter(Boolean);
  for (const path of paths.filter((one) => existsSync(join(root, one)))) {
    mkdirSync(join(clone, dirname(path)), { recursive: true });
    copyFileSync(join(root, path), join(clone, path));
  }
}

test("npm start in a fresh clone serves the gateway, and the console that it has just built", async () => {
  copyTrackedFiles();
  for (const folder of [".", "console", "engine"])
    expect(existsSync(join(clone, folder, "node_modules"))).toBe(false);
  const lock = readFileSync(join(clone, "package-lock.json"), "utf8");
  const server = await serve(["npm", "start"], clone, {
    NODE_ENV: "production",
    SVC_PORT: "0",
    SVC_PLATFORM_PORT: "0",
    SVC_DATA_DIR: join(clone, ".svc"),
    SVC_ENGINE: "off",
  });
  try {
    const has = (name: string) => existsSync(join(clone, "node_modules", name, "package.json"));
    expect([has("kysely"), has("openai")]).toEqual([true, false]);
    expect(readFileSync(join(clone, "package-lock.json"), "utf8")).toBe(lock);
    const models = await fetch(`${server.baseUrl}/models`, {
      headers: { authorization: `Bearer ${server.key}` },
    });
    expect([models.status, await models.json()]).toMatchObject([200, { object: "list" }]);

    const page = await fetch(server.platformUrl);
    expect([page.status, page.headers.get("content-type")]).toEqual([
      200,
      expect.stringContaining("text/html"),
    ]);
    const html = await page.text();
    const files = [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+\.(?:js|css))"/g)];
    const names = files.map(([, path = ""]) => path);
    expect(names.map((path) => path.split(".").pop())).toEqual(
      expect.arrayContaining(["js", "css"]),
    );
    let size = 0;
    for (const path of names) {
      const file = await fetch(new URL(path, server.platformUrl));
      expect([path, file.status]).toEqual([path, 200]);
      size += (await file.text()).length;
    }
    expect(size).toBeGreaterThan(100_000);
  } finally {
    expect(await server.stop()).toBe(0);
  }
}, 600_000);
