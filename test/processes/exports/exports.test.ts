/** What an export loses when its process is killed, and what a disk that hangs holds up: nothing. */

import { afterEach, expect, test } from "bun:test";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { ChildServer } from "../../setup/child.ts";
import {
  createExportsHome,
  type ExportsHome,
  idsIn,
  idsInBatches,
  linesOf,
  startReceiver,
} from "../../setup/exports-home.ts";
import { waitUntil } from "../../setup/money-home.ts";
import { s3Keys, startS3 } from "../../setup/s3-stand-in.ts";

let home: ExportsHome;
const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  await home.remove();
  await Promise.all(stops.splice(0).map((stop) => stop()));
});

const add = (name: string, to: string, ...more: readonly string[]) =>
  home.json<object>(["exports", "add", name, "--to", to, "--what", "receipts", ...more]);

test("a process that is killed before its cursor moves sends the same batch again", async () => {
  // Three batches in each hour.
  home = await createExportsHome(1_100);
  let server: ChildServer | undefined;
  const { promise: killed, resolve: kill } = Promise.withResolvers<void>();
  const receiver = startReceiver(async (_, received) => {
    // In the middle of the first hour.
    if (received.length === 2) {
      server?.signal("SIGKILL");
      await server?.exited;
      kill();
    }
    return new Response("");
  });
  stops.push(() => receiver.stop());
  const { received } = receiver;
  server = await home.serve({}, { isProcess: true });
  await add("hook", receiver.url, "--allow-private");
  await killed;
  const next = await home.serve({}, { isProcess: true });
  await waitUntil("all receipts", () => new Set(idsInBatches(received)).size === home.ids.length);
  const keys = received.map(({ headers }) => headers.get("idempotency-key"));
  expect(keys[2]).toBe(keys[1] ?? "");
  expect([keys.length, new Set(keys).size]).toEqual([7, 6]);
  expect(await next.stop()).toBe(0);
});

test("a process that is killed after an upload finds its object there", async () => {
  home = await createExportsHome(3);
  const s3 = startS3("eu-central-1");
  stops.push(() => s3.stop());
  const environment = {
    AWS_ACCESS_KEY_ID: s3Keys.id,
    AWS_SECRET_ACCESS_KEY: s3Keys.secret,
    AWS_SESSION_TOKEN: s3Keys.token,
  };
  let server: ChildServer | undefined;
  const { promise: killed, resolve: kill } = Promise.withResolvers<void>();
  s3.onStored = async () => {
    server?.signal("SIGKILL");
    await server?.exited;
    kill();
  };
  server = await home.serve(environment, { isProcess: true });
  const place = ["--endpoint", s3.url, "--region", "eu-central-1", "--allow-private"];
  await add("lake", "s3://bucket/svc/a=1", ...place);
  await killed;
  s3.onStored = () => {};
  const next = await home.serve(environment, { isProcess: true });
  await waitUntil("the other object", () => s3.objects.size === 2);
  expect(s3.puts).toHaveLength(2);
  expect([...s3.objects.values()].flatMap(linesOf).map(({ id }) => id)).toEqual(home.ids);
  expect(await next.stop()).toBe(0);
});

test("disks that hang delay neither other exports nor sign-ins nor the end", async () => {
  home = await createExportsHome(3);
  await add("archive", `file://${home.dir}`);
  // More than the threads of a process on a small machine.
  for (const name of ["hung-1", "hung-2", "hung-3", "hung-4"]) {
    const other = `${home.dir}-${name}`;
    mkdirSync(other);
    await add(name, `file://${other}`);
    // Whoever reads it waits for a writer.
    const marker = join(other, ".svc-export.json");
    rmSync(marker);
    expect(Bun.spawnSync(["mkfifo", marker]).exitCode).toBe(0);
  }
  const server = await home.serve({}, { isProcess: true });
  await waitUntil(
    "the other export",
    async () => (await home.show("archive")).streams[0]?.rows === 6,
  );
  expect(idsIn(home.dir)).toEqual(home.ids);
  const { origin } = new URL(server.platformUrl);
  const { status } = await fetch(`${origin}/api/session`, {
    method: "POST",
    headers: { "content-type": "application/json", origin },
    body: JSON.stringify({ email: "ada@acme.example", password: "a wrong password" }),
  });
  expect(status).toBe(401);
  expect(await server.stop()).toBe(0);
});
