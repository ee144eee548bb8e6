import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Checks } from "./checks.ts";
import { checkMachine } from "./machine.ts";

const root = join(import.meta.dir, "..", "..", "..");

/** What the doctor reports for a server that may open this number of files. */
async function examine(files: number) {
  const child = Bun.spawn(["sh", "-c", `ulimit -n ${files}; echo ready; exec cat`], {
    stdin: "pipe",
    stdout: "pipe",
  });
  try {
    await child.stdout.getReader().read();
    const checks = new Checks("machine");
    checkMachine(checks, undefined, child.pid);
    return checks.found.find(({ finding }) => finding.includes("may open"));
  } finally {
    child.kill();
    await child.exited;
  }
}

test("the limit of the running server counts, not that of the shell, and the advice is that of the docs", async () => {
  const found = await examine(1_000);
  expect(found).toMatchObject({
    state: "warning",
    finding: "The running server may open 1000 files, enough for about 500 calls at once.",
  });
  const unit = readFileSync(join(root, "deploy/systemd/svc-gateway.service"), "utf8");
  const [limit = "none"] = /^LimitNOFILE=\d+$/m.exec(unit) ?? [];
  expect(found?.advice).toContain(limit);
  const wanted = Number(limit.split("=")[1]);
  expect(readFileSync(join(root, "docs/deploy/README.md"), "utf8")).toContain(
    `The process may open ${wanted.toLocaleString("en-US")} files`,
  );
  expect(found?.advice).toContain(`ulimit -n ${wanted}`);
});
