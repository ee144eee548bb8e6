/** What cannot be exported to is refused with the field and what to do. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { createHome } from "../../setup/child.ts";

const home = createHome();
beforeAll(async () => {
  await home.json("account create acme");
});
afterAll(() => home.remove());

const cases: readonly (readonly [to: string, flags: string, message: string])[] = [
  ["exports", "", "be a directory as file:///var/exports, an HTTP"],
  ["file://host/tmp", "", "name a directory with its whole path"],
  ["file:///", "", "name a directory with its whole path"],
  ["file:///a%zz", "", "percent sign"],
  ["file:///tmp", "--what receipts,keys", 'not "keys"'],
  ["file:///tmp", "--format csv", "be jsonl or parquet"],
  ["file:///tmp", "--from yesterday", "The date must be a day"],
  ["http://hook.example/", "", "start with https://"],
  ["https://127.0.0.1/", "", "private or loopback address"],
  ["http://169.254.169.254/", "--allow-private", "link-local"],
  ["https://user:word@hook.example/", "", "not contain a user name or password"],
  ["https://hook.example/?token=1", "", "query"],
  ["https://hook.example/", "--format parquet", "be jsonl for an HTTP endpoint"],
  ["https://hook.example/", "--region x", "does not go with an HTTP endpoint"],
  ["https://hook.example/", "--authorization AKIDSECRET", "be env:NAME or file:/path"],
  [
    "https://hook.example",
    "--authorization env:SVC_SECRET",
    "Variables that start with SVC_ are reserved for the gateway",
  ],
  ["s3://x", "", "name a bucket"],
  ["s3://bucket/a/../b", "--endpoint https://s3.example/path", "without a path"],
  ["s3://bucket", "--endpoint http://s3.example", "start with https://"],
  ["s3://bucket", "--endpoint http://10.0.0.1", "private or loopback address"],
  ["s3://bucket", "--endpoint http://169.254.169.254 --allow-private", "link-local"],
  ["s3://bucket", "--access-key-id env:ID", "be set together"],
  ["s3://bucket", "--access-key-id AKIDSECRET", "be env:NAME or file:/path"],
  ["s3://bucket", "--authorization env:X", "does not go with a bucket"],
];

test.each(cases)("--to %s %s", async (to, flags, message) => {
  const more = flags === "" ? [] : flags.split(" ");
  const { code, stderr } = await home.svc(["exports", "add", "x", "--to", to, ...more]);
  expect(code).not.toBe(0);
  expect(stderr).toContain(message);
  expect(stderr).not.toContain("AKIDSECRET");
});

test("names that are wrong, taken or unknown are refused", async () => {
  const add = (name: string) =>
    home.svc(["exports", "add", name, "--to", "file:///tmp", "--no-test"]);
  expect((await add("Bad Name")).stderr).toContain("be 1 to 40 lowercase letters");
  expect((await add("taken")).code).toBe(0);
  expect((await add("taken")).stderr).toContain('Export "taken" exists already');
  for (const command of ["show", "test", "run", "pause", "resume", "remove"]) {
    const { stderr } = await home.svc(["exports", command, "nobody"]);
    expect(stderr).toContain('Export "nobody" does not exist');
  }
});
