import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type OperationsHome,
  openOperations,
  problemOf,
} from "../../test/setup/operations-home.ts";
import { connectControl, controlPath, startControl } from "./control-socket.ts";
import type { Operations } from "./operations.ts";

const dataDir = mkdtempSync(join(tmpdir(), "svc-control-"));
let home: OperationsHome;
let socket: ReturnType<typeof startControl>;
let remote: Operations;

beforeAll(async () => {
  home = await openOperations();
  socket = startControl(dataDir, home.operations);
  const connected = await connectControl(dataDir);
  if (connected === undefined) throw new Error("nobody answers");
  remote = connected.operations;
});
afterAll(async () => {
  await socket.close();
  await home.remove();
  rmSync(dataDir, { recursive: true, force: true });
});

test("a change over the socket is made and audited as the command line's", async () => {
  const { id } = await remote.accounts.create({ name: "acme", rpm: "5" });
  expect((await remote.accounts.show({ account: "acme" })).id).toBe(id);
  const {
    records: [record],
  } = await home.store.audit.list({ limit: 1 });
  expect(record).toMatchObject({
    actor: { kind: "command", name: "command line" },
    action: "account.create",
    accountId: id,
    subject: "acme",
    detail: { rpm: "5" },
  });
});

test("a problem reaches the command with its code", async () => {
  expect((await problemOf(remote.keys.list({ account: "nobody" }))).code).toBe("not_found");
});

test("an operation that the server does not have is told as one of another version", async () => {
  const ask = async (path: string) => {
    const response = await fetch(`http://localhost${path}`, {
      unix: controlPath(dataDir),
      method: "POST",
      body: "{}",
    });
    return (await response.json()) as { readonly problem: { readonly message: string } };
  };
  for (const path of [
    "/ping",
    "/createKey",
    "/keys",
    "/keys/nothing",
    "/keys/toString",
    "/keys/list/all",
    "/constructor/name",
  ])
    expect((await ask(path)).problem.message).toContain("it is a different version");
});
