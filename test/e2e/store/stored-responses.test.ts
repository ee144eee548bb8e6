/** Responses that callers have stored: switched on by a setting, shared by gateways, and purged. */

import { afterEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startServer } from "../../../src/app/server.ts";
import { loadConfiguration } from "../../../src/config/load.ts";
import { type ApiVersion, v1 } from "../../../src/gateway/versions.ts";
import type { StoredResponses } from "../../../src/responses/stored-responses.ts";
import { createHome } from "../../setup/child.ts";
import { createMigratedDatabase } from "../../setup/empty-postgres.ts";
import { startTestGateway, type TestGatewayOptions } from "../../setup/harness.ts";
import { joinMember, joinOperator } from "../../setup/platform-home.ts";
import { dropDatabase } from "../../setup/postgres.ts";
import { loadingOf } from "../../store/response-samples.ts";

const dayMs = 86_400_000;
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

/** A version of the API that shows what endpoints have to work with. */
function watcher(): {
  readonly version: ApiVersion;
  readonly seen: () => StoredResponses | undefined;
} {
  let responses: StoredResponses | undefined;
  const version: ApiVersion = {
    prefix: "/watched",
    endpoints: (dependencies) => {
      ({ responses } = dependencies);
      return {};
    },
  };
  return { version, seen: () => responses };
}

async function start(options: TestGatewayOptions = {}) {
  const { version, seen } = watcher();
  const gateway = await startTestGateway({ ...options, versions: [v1, version] });
  closing.push(() => gateway.stop());
  return { gateway, responses: seen() };
}

function needed(responses: StoredResponses | undefined): StoredResponses {
  if (responses === undefined) throw new Error("storing is switched on");
  return responses;
}

const saveIn = (responses: StoredResponses | undefined, accountId: string, id = "resp_1") =>
  needed(responses).save({
    id,
    accountId,
    keyId: "key_1",
    model: "m",
    previousId: undefined,
    input: [{ role: "user", content: "hello" }],
    reply: { id, output: [{ type: "message", content: "hi" }] },
  });

test("nothing can be stored unless the operator has switched it on", async () => {
  expect((await start()).responses).toBeUndefined();
  for (const value of ["on", "true"]) {
    const { responses } = await start({ environment: { SVC_STORE_RESPONSES: value } });
    expect(needed(responses).maxStoredBytes).toBe(16 * 1024 * 1024);
  }
});

test("a response is kept for the days of the setting", async () => {
  let nowMs = Date.now();
  const environment = { SVC_STORE_RESPONSES: "on", SVC_STORED_RESPONSES_DAYS: "2" };
  const { gateway, responses } = await start({ environment, clock: { nowMs: () => nowMs } });
  await saveIn(responses, gateway.account);
  nowMs += 2 * dayMs - 1;
  expect(await needed(responses).history("resp_1", loadingOf(gateway.account))).toHaveLength(2);
  nowMs += 1;
  await expect(needed(responses).find("resp_1", loadingOf(gateway.account))).rejects.toMatchObject({
    status: 404,
  });
});

test("operators see how much an account has stored, and remove it; members do not", async () => {
  const { gateway, responses } = await start({ environment: { SVC_STORE_RESPONSES: "on" } });
  const { account } = gateway;
  const params = { account };
  const operator = await joinOperator(gateway);
  const owner = await joinMember(gateway, operator, { account, role: "owner" });
  for (const id of ["resp_1", "resp_2"]) await saveIn(responses, account, id);
  const stored = async () =>
    (await operator.ask("GET /api/accounts/:account/details", { params })).body.stored_responses;
  const { bytes } = await stored();
  expect(await stored()).toEqual({ responses: 2, bytes });
  expect(bytes).toBeGreaterThan(100);
  const purge = "DELETE /api/accounts/:account/responses";
  expect((await owner.ask(purge, { params })).status).toBe(403);
  expect((await operator.ask(purge, { params })).body).toEqual({ account, responses: 2, bytes });
  expect(await stored()).toEqual({ responses: 0, bytes: 0 });
  expect((await operator.ask(purge, { params })).body).toEqual({ account, responses: 0, bytes: 0 });
  const { body } = await operator.ask("GET /api/audit", { query: { action: "response.purge" } });
  expect(body.records).toMatchObject([{ account, detail: { responses: 2, bytes } }]);
});

test("gateways on one database read and delete what another has stored", async () => {
  const url = await createMigratedDatabase();
  closing.push(() => dropDatabase(url));
  const root = mkdtempSync(join(tmpdir(), "svc-stored-"));
  closing.push(async () => rmSync(root, { recursive: true }));
  const startNode = async (name: string) => {
    const { version, seen } = watcher();
    const server = await startServer({
      version: "0.0.0-test",
      versions: [v1, version],
      configuration: loadConfiguration({
        SVC_DATABASE_URL: url,
        SVC_SECRET: "s".repeat(32),
        SVC_NODE: name,
        SVC_DATA_DIR: join(root, name),
        SVC_CONFIG: "",
        SVC_PORT: "0",
        SVC_PLATFORM_PORT: "0",
        SVC_LOG_LEVEL: "silent",
        SVC_ENGINE: "off",
        SVC_STORE_RESPONSES: "on",
      }),
    });
    closing.push(() => server.stop());
    return { server, responses: needed(seen()) };
  };
  const [one, other] = [await startNode("one"), await startNode("other")];
  const { id: account } = await one.server.operations.accounts.create({ name: "shared" });
  await saveIn(one.responses, account);
  expect((await other.responses.find("resp_1", loadingOf(account))).input).toEqual([
    { role: "user", content: "hello" },
  ]);
  expect(await other.responses.history("resp_1", loadingOf(account))).toHaveLength(2);
  await other.responses.remove(account, "resp_1");
  await expect(one.responses.find("resp_1", loadingOf(account))).rejects.toMatchObject({
    status: 404,
  });
  await saveIn(other.responses, account, "resp_2");
  expect(await one.server.operations.responses.purge({ account })).toMatchObject({ responses: 1 });
  await expect(other.responses.find("resp_2", loadingOf(account))).rejects.toMatchObject({
    status: 404,
  });
});

test("svc shows what an account has stored, and purges it", async () => {
  const home = createHome();
  closing.push(() => home.remove());
  const { id } = await home.json<{ id: string }>(["account", "create", "acme"]);
  const environment = { SVC_STORE_RESPONSES: "on", SVC_DATA_DIR: home.dataDir };
  const { version, seen } = watcher();
  const server = await startServer({
    version: "0.0.0-test",
    versions: [v1, version],
    configuration: loadConfiguration({
      ...environment,
      SVC_CONFIG: home.configPath,
      SVC_PORT: "0",
      SVC_PLATFORM_PORT: "0",
      SVC_LOG_LEVEL: "silent",
      SVC_ENGINE: "off",
    }),
  });
  await saveIn(seen(), id);
  expect((await home.svc(["account", "show", "acme"])).stdout).toContain(
    "  stored     1 response, 0.0 MiB",
  );
  await server.stop();
  const { stdout } = await home.svc(["responses", "purge", "--account", "acme"]);
  expect(stdout).toBe("deleted 1 response, 0.0 MiB\n");
  const again = await home.svc(["responses", "purge", "--account", "acme"]);
  expect([again.code, again.stdout]).toEqual([0, "No responses are stored.\n"]);
  expect((await home.svc(["account", "show", "acme"])).stdout).not.toContain("stored");
  const unknown = await home.svc(["responses", "purge", "--account", "none"]);
  expect([unknown.code, unknown.stderr]).toEqual([
    3,
    expect.stringContaining('Unknown account "none".'),
  ]);
});
