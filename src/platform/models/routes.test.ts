import { expect, test } from "bun:test";
import { usePlatform } from "../../../test/setup/use-platform.ts";

const { gateway, viewer } = usePlatform({ members: ["viewer"] });

interface Listed {
  readonly id: string;
  readonly status: string;
  readonly keys: readonly { readonly id: string; readonly name: string }[];
}

const list = async (): Promise<readonly Listed[]> =>
  (await viewer.ask("GET /api/accounts/:account/models")).body;
const find = async (id: string) => (await list()).find((model) => model.id === id);

test("a model is listed with its price and what it takes, and nothing of who serves it", async () => {
  expect(await find("svc-3-flash")).toEqual({
    id: "svc-3-flash",
    aliases: [],
    endpoint: "chat",
    input: "text",
    owned_by: expect.any(String),
    status: "active",
    price: { input: "0.30", cached_input: "0.03", output: "2.50" },
    max_output_tokens: 8192,
    deprecated_at: null,
    retires_at: null,
    replacement: null,
    keys: expect.any(Array),
  } as never);
  const words = JSON.stringify(await list());
  for (const secret of ["fake", "upstream-", "routes", "cost"]) expect(words).not.toContain(secret);
});

test("models that cannot be called are not listed", async () => {
  const ids = (await list()).map(({ id }) => id);
  expect(ids).toContain("vendor/with-slash");
  expect(ids).not.toContain("unpriced");
  expect(ids).not.toContain("unrouted");
});

test("a model names the account's working keys that may call it, and no others", async () => {
  const { operations } = gateway.server;
  const { account } = gateway;
  const one = await operations.keys.create({ account, name: "one", models: ["svc-embedding-2"] });
  const gone = await operations.keys.create({ account, name: "gone" });
  await operations.keys.revoke({ id: gone.id });
  const other = await operations.accounts.create({ name: "neighbour" });
  await operations.keys.create({ account: other.id, name: "theirs" });
  const named = async (id: string) => (await find(id))?.keys.map(({ name }) => name);
  // The harness's own key has no name: its hint stands for it.
  const [nameless] = await operations.keys.list({ account });
  expect(await named("svc-embedding-2")).toEqual([nameless?.hint ?? "", "one"]);
  expect(await named("svc-3-flash")).toEqual([nameless?.hint ?? ""]);
  await operations.keys.revoke({ id: one.id });
  expect(await named("svc-embedding-2")).toEqual([nameless?.hint ?? ""]);
});

test("a deprecated model says when it ends and what to use, and stays listed when it is retired", async () => {
  const { operations } = gateway.server;
  const retires = "2999-01-31";
  await operations.models.deprecate({ id: "svc-2-flash", retires, replacement: "svc-3-flash" });
  expect(await find("svc-2-flash")).toMatchObject({
    status: "deprecated",
    deprecated_at: expect.any(String),
    retires_at: "2999-01-31T00:00:00Z",
    replacement: "svc-3-flash",
  } as never);
  await operations.models.retire({ id: "svc-2-flash" });
  expect(await find("svc-2-flash")).toMatchObject({
    status: "retired",
    replacement: "svc-3-flash",
  } as never);
});
