/** Keys at the command line: named, paused, listed within a terminal. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { chatJson } from "../../fake/recordings.ts";
import { startFakeUpstream } from "../../fake/upstream.ts";
import { createHome } from "../../setup/child.ts";
import { standardManifest } from "../../setup/harness.ts";
import { hello } from "../../setup/money-home.ts";
import { refusal } from "../../setup/outcomes.ts";

const home = createHome();
const out = async (line: string) => (await home.svc(line)).stdout;
let first: { readonly id: string };

beforeAll(async () => {
  await home.json("account create acme-corporation-of-a-long-name");
  await home.json("account create beta");
  first = await home.json("key create --account acme-corporation-of-a-long-name --name laptop");
  await home.json("key create --account beta --name ci --models a,b,c");
  await home.json("key create --account beta --name twice");
  await home.json("key create --account beta --name twice");
});
afterAll(() => home.remove());

test("the list has the names of accounts and fits in 100 columns; --wide has all of it", async () => {
  const list = await out("key list");
  for (const line of list.split("\n")) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(100);
  expect(list).toMatch(/laptop .*acme-corporatio… .*active .*all .*never/);
  expect(list).toMatch(/ci .*beta .*3 models/);
  expect(list).not.toContain(first.id);
  const wide = await out("key list --wide");
  expect(wide).toContain(first.id);
  expect(wide).toContain("acme-corporation-of-a-long-name");
  expect(wide).toContain("command line");
  const [json] = await home.json<readonly { account_name: string }[]>("key list");
  expect(json?.account_name).toBe("acme-corporation-of-a-long-name");
});

test("a key is paused and resumed by its name", async () => {
  expect(await out("key pause laptop")).toStartWith(`paused ${first.id}`);
  expect(await out("key list")).toMatch(/laptop .*paused/);
  expect(await out("key resume laptop")).toStartWith(`resumed ${first.id}`);
  expect(await out("key list")).toMatch(/laptop .*active/);
});

test("the expiration date is set and taken away", async () => {
  const set = await home.json<{ expires_at: string }>("key update laptop --expires 2099-01-31");
  expect(set.expires_at).toBe("2099-01-31T00:00:00Z");
  expect(await out("key update laptop --expires never")).toContain("never expires");
  expect(await home.svc("key update laptop --expires 2001-01-31")).toMatchObject(
    refusal(2, "must be in the future"),
  );
});

test("a name that no key has, or two have, is refused with what helps", async () => {
  expect(await home.svc("key pause nobody")).toMatchObject(refusal(3, 'Unknown key "nobody"'));
  const both = await home.svc("key pause twice");
  expect([both.code, both.stderr]).toEqual([
    2,
    expect.stringContaining('2 keys are named "twice". Use the id of one of them.'),
  ]);
  expect(both.stderr).toContain("svc key list --wide");
});

test("a key is rotated in the running server, and its last use is written when that stops", async () => {
  const upstream = await startFakeUpstream();
  upstream.replyWith(chatJson());
  home.writeConfig(standardManifest.replaceAll("UPSTREAM", upstream.baseUrl));
  await home.json("account create payer");
  await home.json("account credit payer 5");
  const old = await home.json<{ id: string; key: string }>("key create --account payer");
  const server = await home.serve({ FAKE_KEY: "x" });
  const statusWith = async (key: string) =>
    (await server.post("/chat/completions", hello, key)).status;
  const rotate = `key rotate ${old.id} --overlap`;
  const fresh = await home.json<{ key: string }>(`${rotate} 7d`);
  expect([await statusWith(old.key), await statusWith(fresh.key)]).toEqual([200, 200]);
  expect(await out(`${rotate} 0`)).toContain("The previous secret no longer works.");
  expect([await statusWith(old.key), await statusWith(fresh.key)]).toEqual([401, 401]);
  expect(await out(`key update ${old.id} --name renamed --models all`)).toContain(
    "renamed, all models",
  );
  await server.stop();
  const keys = await home.json<readonly { id: string }[]>("key list --account payer");
  expect(keys).toMatchObject([{ id: old.id, name: "renamed", last_used_at: expect.any(String) }]);
  await upstream.stop();
});
