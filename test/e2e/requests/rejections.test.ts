/** Calls that were refused leave a record that their account and the operator can read. */

import { beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { startServer } from "../../../src/app/server.ts";
import { loadConfiguration } from "../../../src/config/load.ts";
import { badRequests, chatJson } from "../../fake/recordings.ts";
import { startTestGateway } from "../../setup/harness.ts";
import { clockAt, hello, ledgerProblems, openPayer, type Payer } from "../../setup/money-home.ts";
import { joinMember, joinOperator, machine, type Visitor } from "../../setup/platform-home.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

interface Row {
  readonly id: string;
  readonly at: string;
  readonly account: string;
  readonly key: string;
  readonly model: string | null;
  readonly endpoint: string | null;
  readonly dialect: string | null;
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly reason?: string | null;
  readonly count: number;
}
type Query = Readonly<Record<string, string>>;

const clock = clockAt("2027-03-15T12:00:30Z");
const gateway = useTestGateway({ clock });
let operator: Visitor;
beforeAll(async () => {
  operator = await joinOperator(gateway);
});
beforeEach(() => gateway.upstream.replyWith(chatJson()));

let payer: Payer;
beforeEach(async () => {
  payer = await openPayer(gateway);
});

const rowsOf = async (query: Query): Promise<readonly Row[]> =>
  (await operator.ask("GET /api/rejections", { query: { limit: "200", ...query } })).body
    .rejections;
const idOf = (reply: Response) => reply.headers.get("x-request-id") ?? "";
const keyed = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });
const operations = () => gateway.server.operations;

/** The one record of a reply, which says what the reply said. */
async function recordOf(payer: Payer, reply: Response): Promise<Row> {
  const rows = (await rowsOf({ account: payer.id })).filter(({ id }) => id === idOf(reply));
  expect(rows).toHaveLength(1);
  const [row] = rows;
  if (row === undefined) throw new Error("there is no record");
  const { error } = (await reply.clone().json()) as { error: { code: string; message: string } };
  expect(row).toMatchObject({
    account: payer.id,
    status: reply.status,
    code: error.code,
    count: 1,
  });
  expect(row.message).toBe(error.message);
  return row;
}

describe("every refusal is recorded", () => {
  test("400: a field is wrong, with the model that was asked for", async () => {
    const reply = await payer.chat({ temperature: 9 });
    expect(await recordOf(payer, reply)).toMatchObject({
      at: "2027-03-15T12:00:30Z",
      key: payer.keyId,
      model: hello.model,
      endpoint: "chat",
      dialect: "chat",
      status: 400,
    });
  });

  const ask = (path: string, method = "GET") =>
    fetch(`${gateway.baseUrl}${path}`, { method, ...keyed(payer.key) });
  const once = { headers: { "idempotency-key": "once" } };
  const halfJson = '{"messages": "a private word';
  const plain = { headers: { "content-type": "text/plain" } };
  const large = { body: "x".repeat(33 * 1024 * 1024) };
  test.each([
    [400, "invalid_json", { model: null }, () => payer.call("/chat/completions", halfJson)],
    [404, "not_found", { endpoint: null, model: null }, () => ask("/batches", "POST")],
    [404, "model_not_found", { endpoint: "models" }, () => ask("/models/no-such-model")],
    [405, "method_not_allowed", {}, () => ask("/chat/completions")],
    [409, "idempotency_key_reused", {}, () => payer.chat({ temperature: 1 }, once)],
    [413, "request_too_large", {}, () => payer.chat({}, large)],
    [415, "unsupported_media_type", {}, () => payer.chat({}, plain)],
    [429, "rate_limit_exceeded", {}, () => payer.chat()],
  ] as const)("%d %s, and nothing of a body is kept", async (status, code, more, refused) => {
    if (status === 429) await operations().keys.setLimits({ id: payer.keyId, rpm: "1" });
    expect((await payer.chat({}, once)).status).toBe(200);
    const row = await recordOf(payer, await refused());
    expect(row).toMatchObject({ status, code, ...more });
    expect(JSON.stringify(row)).not.toContain("private");
  });

  test("402: no credit, suspended", async () => {
    const poor = await openPayer(gateway, { credit: 0n });
    const reply = await poor.chat();
    expect((await recordOf(poor, reply)).code).toBe("insufficient_quota");
    await operations().accounts.suspend({ account: poor.id });
    expect((await recordOf(poor, await poor.chat())).code).toBe("account_suspended");
  });

  test("403: a model that the key may not call, or that does not exist", async () => {
    const row = await recordOf(payer, await payer.chat({ model: "no-such-model" }));
    expect(row).toMatchObject({ status: 403, model: "no-such-model" });
    const speech = { model: "no-such-voice", input: "x", voice: "Kore" };
    const other = await recordOf(payer, await payer.call("/audio/speech", speech));
    expect(other).toMatchObject({ status: 400, code: "model_not_allowed", endpoint: "speech" });
    expect(other.dialect).toBeNull();
    const ofDialect = await rowsOf({ account: payer.id, dialect: "chat" });
    expect(ofDialect.map(({ id }) => id)).toEqual([row.id]);
    expect(await rowsOf({ account: payer.id, dialect: "responses" })).toEqual([]);
  });

  test("401: a key that was revoked, has expired or was rotated", async () => {
    const expiring = await operations().keys.create({
      account: payer.id,
      expires: "2027-03-15T12:00:40Z",
    });
    const rotated = await operations().keys.create({ account: payer.id });
    await operations().keys.rotate({ id: rotated.id, overlap: "5s" });
    await operations().keys.revoke({ id: payer.keyId });
    clock.set("2027-03-15T12:00:45Z");
    try {
      for (const { key, id } of [{ key: payer.key, id: payer.keyId }, expiring, rotated]) {
        const reply = await gateway.call("/chat/completions", hello, keyed(key));
        expect(reply.status).toBe(401);
        expect((await recordOf(payer, reply)).key).toBe(id);
      }
    } finally {
      clock.set("2027-03-15T12:00:30Z");
    }
  });

  test("but a key that nobody has leaves no record", async () => {
    const before = (await rowsOf({})).length;
    for (const key of ["", "sk-svc-unknown", `${gateway.key.slice(0, -1)}!`])
      expect((await gateway.call("/chat/completions", hello, keyed(key))).status).toBe(401);
    expect((await rowsOf({ code: "invalid_api_key" })).every(({ key }) => key !== "")).toBe(true);
    expect((await rowsOf({})).length).toBe(before);
  });
});

test("a call that was admitted has a receipt and no record, whatever becomes of it", async () => {
  gateway.upstream.replyOnce(badRequests.contextTooLong());
  await payer.chat();
  await payer.chat();
  await payer.settled(2);
  expect(await rowsOf({ account: payer.id })).toEqual([]);
});

test("a secret that was sent as a name is in no record and in no reply about it", async () => {
  const secrets = [payer.key, "sk-proj-abcdefghijklmnopqrstuvwx", "AIzaSyA1234567890abcdefghijk"];
  for (const model of secrets) await payer.chat({ model });
  const text = JSON.stringify(await rowsOf({ account: payer.id }));
  expect(text).toContain("model_not_allowed");
  for (const secret of secrets) expect(text).not.toContain(secret.slice(8, 24));
});

test("a flood of refusals loses no receipt and no count", async () => {
  const flooder = await openPayer(gateway, { credit: 0n });
  const payer = await openPayer(gateway);
  const flood = 1_000;
  let left = flood;
  const refused = async () => {
    while (left-- > 0) {
      const reply = await fetch(`${gateway.baseUrl}/chat/completions`, {
        method: "POST",
        body: JSON.stringify(hello),
        headers: { authorization: `Bearer ${flooder.key}`, "content-type": "application/json" },
      });
      if (reply.status !== 402) throw new Error(`not refused: ${reply.status}`);
      await reply.arrayBuffer();
    }
  };
  const served = async () => {
    for (let at = 0; at < 50; at++) expect((await payer.chat()).status).toBe(200);
  };
  await Promise.all([...Array.from({ length: 16 }, refused), served()]);
  await payer.settled(50);
  const rows = await rowsOf({ account: flooder.id });
  expect(rows.reduce((sum, { count }) => sum + count, 0)).toBe(flood);
  expect(rows.length).toBe(11);
  const { body } = await operator.ask("GET /api/accounts/:account/usage", {
    params: { account: flooder.id },
  });
  expect(body.totals).toMatchObject({ requests: 0, failures: 0, rejected: flood });
  expect(await ledgerProblems(gateway)).toEqual([]);
});

describe("who may read them", () => {
  let payer: Payer;
  let viewer: Visitor;
  let stranger: Visitor;
  const ask = (who: Visitor, query: Query = {}) =>
    who.ask("GET /api/accounts/:account/rejections", { params: { account: payer.id }, query });
  beforeAll(async () => {
    payer = await openPayer(gateway, { credit: 0n });
    const other = await openPayer(gateway, { credit: 0n });
    viewer = await joinMember(gateway, operator, { account: payer.id, role: "viewer" });
    stranger = await joinMember(gateway, operator, { account: other.id, role: "owner" });
    await payer.chat();
    await payer.chat({ model: "no-such-model" });
    await other.chat();
  });

  test("a viewer of the account, and the operator; nobody of another account", async () => {
    const { body } = await ask(viewer);
    expect(body.rejections.map(({ code }: Row) => code)).toEqual([
      "model_not_allowed",
      "insufficient_quota",
    ]);
    expect(body.rejections.every(({ account }: Row) => account === payer.id)).toBe(true);
    const reasons = ["unknown_model", null];
    expect(await rowsOf({ account: payer.id })).toEqual(
      body.rejections.map((row: Row, at: number) => ({ ...row, reason: reasons[at] })),
    );
    expect((await ask(stranger)).status).toBe(404);
    expect((await stranger.ask("GET /api/rejections")).status).toBe(403);
    expect((await ask(machine(gateway.platformUrl, "svc-token-wrong"))).status).toBe(401);
  });

  test("both are found by their ids, and counted as calls", async () => {
    const { body } = await ask(viewer, { count: "true", limit: "1" });
    expect(body.total).toEqual({ count: 2, is_capped: false });
    const [{ id }] = body.rejections;
    expect((await ask(viewer, { id })).body.rejections).toEqual(body.rejections);
    expect((await ask(viewer, { id: id.slice(0, -1), count: "true" })).body.total.count).toBe(1);
    expect((await ask(viewer, { id: "req_zz" })).body.rejections).toEqual([]);
  });

  test.each([
    [{ code: "insufficient_quota" }, 1],
    [{ status: "403" }, 1],
    [{ key: "" }, 2],
    [{ from: "2027-03-15", to: "2027-03-16" }, 2],
    [{ to: "2027-03-15" }, 0],
  ])("filtered by %j there are %i", async (query, count) => {
    expect((await ask(viewer, query as Query)).body.rejections).toHaveLength(count);
  });

  test("the CSV has the same rows with the same filters, for the same readers", async () => {
    const params = { account: payer.id };
    const csv = (who: Visitor, query: Query = {}) =>
      who.ask("GET /api/accounts/:account/rejections.csv", { params, query });
    const lines = (text: string): readonly string[] => text.trim().split("\r\n");
    const [header, ...rows] = lines((await csv(viewer)).body);
    expect(header).toBe(
      "id,at,account,key,key_name,model,endpoint,status,code,message,count,dialect",
    );
    const { body } = await ask(viewer);
    expect(rows.map((row) => row.split(",")[0])).toEqual(body.rejections.map(({ id }: Row) => id));
    expect(rows[1]).toContain(
      `${payer.id},${payer.keyId},,svc-3-flash,chat,402,insufficient_quota`,
    );
    expect(lines((await csv(viewer, { status: "403" })).body)).toHaveLength(2);
    expect((await csv(stranger)).status).toBe(404);
    expect((await csv(viewer, { from: "yesterday" })).body.error.field).toBe("from");
    const all = await operator.ask("GET /api/rejections.csv", { query: params });
    const [operatorHeader, ...operatorRows] = lines(all.body);
    expect(operatorHeader).toBe(header?.replace(/dialect$/, "reason,dialect"));
    const withReason = (row = "", reason = "") => row.replace(/,chat$/, `,${reason},chat`);
    expect(operatorRows).toEqual([withReason(rows[0], "unknown_model"), withReason(rows[1], "")]);
    expect((await stranger.ask("GET /api/rejections.csv")).status).toBe(403);
  });

  test("pages end, and a wrong value is refused at its field", async () => {
    const { body } = await ask(viewer, { limit: "1" });
    const next = await ask(viewer, { limit: "1", after: body.after });
    expect([body.rejections.length, next.body.rejections.length, next.body.after]).toEqual([
      1,
      1,
      null,
    ]);
    for (const [field, value] of [
      ["limit", "201"],
      ["status", "200"],
      ["from", "yesterday"],
      ["endpoint", "images"],
      ["account", payer.id],
    ] as const) {
      const { status, body: problem } = await ask(viewer, { [field]: value });
      expect([status, problem.error.field]).toEqual([400, field]);
    }
  });
});

test("usage counts them apart from requests, by model, key and account", async () => {
  await operations().keys.setLimits({ id: payer.keyId, rpm: "2" });
  await payer.chat();
  await payer.chat({ temperature: 9 });
  await payer.chat();
  await payer.chat();
  await payer.settled(1);
  const params = { account: payer.id };
  for (const range of ["1h", "24h", "30d"]) {
    const ask = async (by: string) =>
      (await operator.ask("GET /api/accounts/:account/usage", { params, query: { range, by } }))
        .body;
    const byModel = await ask("model");
    expect(byModel.totals).toMatchObject({ requests: 1, failures: 0, rejected: 3 });
    expect(byModel.points.at(-1)).toMatchObject({ requests: 1, rejected: 3 });
    const named = (body: typeof byModel) =>
      body.series.map((one: { label: string; totals: { rejected: number } }) => [
        one.label,
        one.totals.rejected,
      ]);
    expect(named(byModel)).toEqual([
      [hello.model, 1],
      ["Unknown model", 2],
    ]);
    expect(named(await ask("key"))).toEqual([[expect.any(String), 3]]);
  }
  const { body } = await operator.ask("GET /api/usage", { query: { by: "account" } });
  const { totals } = body.series.find(({ name }: { name: string }) => name === payer.id);
  expect(totals.rejected).toBe(3);
});

test("records survive a restart, also those of the last moment", async () => {
  const first = await startTestGateway();
  const payer = await openPayer(first, { credit: 0n });
  await payer.chat();
  await first.server.stop();
  expect(existsSync(join(first.dataDir, "svc.db"))).toBe(true);
  const again = await startServer({
    version: "0.0.0-test",
    configuration: loadConfiguration({
      SVC_PORT: "0",
      SVC_PLATFORM_PORT: "0",
      SVC_DATA_DIR: first.dataDir,
      SVC_CONFIG: join(first.dataDir, "svc.yaml"),
      SVC_LOG_LEVEL: "silent",
      SVC_ENGINE: "off",
      FAKE_KEY: "vendor-secret",
    }),
  });
  const [call] = await again.operations.calls.list({ account: payer.id });
  expect(call).toMatchObject({ kind: "rejected", status: 402, outcome: "insufficient_quota" });
  const [key] = await again.operations.keys.list({ account: payer.id });
  expect(key?.rejected_last_hour).toEqual([{ status: 402, code: "insufficient_quota", count: 1 }]);
  await again.stop();
  await first.upstream.stop();
});
