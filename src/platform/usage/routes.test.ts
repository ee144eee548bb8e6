import { beforeAll, expect, test } from "bun:test";
import { chatAnswers, failures } from "../../../test/fake/recordings.ts";
import { fromUsd, hello, openPayer, type Payer } from "../../../test/setup/money-home.ts";
import {
  type Answer,
  joinMember,
  refusal,
  type Visitor,
} from "../../../test/setup/platform-home.ts";
import { usePlatform } from "../../../test/setup/use-platform.ts";

const { gateway, operator } = usePlatform({ reply: chatAnswers.plain() });
let viewer: Visitor;
let payer: Payer;
let other: Payer;

/** Three calls of one account, one of them in vain and one with another model; one of another. */
beforeAll(async () => {
  gateway.upstream.replyWith(chatAnswers.plain());
  payer = await openPayer(gateway, { name: "payer" });
  other = await openPayer(gateway, { name: "other" });
  viewer = await joinMember(gateway, operator, { account: payer.id, role: "viewer" });
  await payer.chat();
  await payer.chat({ model: "vendor/with-slash" });
  gateway.upstream.replyOnce(failures.internal());
  await payer.chat();
  await payer.settled(3);
  await other.chat();
  await other.settled(1);
});

type Query = Readonly<Record<string, string>>;
interface Series {
  readonly name: string;
  readonly label: string;
  readonly totals: { readonly requests: number };
  readonly points: readonly unknown[];
}

const ofAccount = (query: Query, who: Visitor = viewer): Promise<Answer> =>
  who.ask("GET /api/accounts/:account/usage", { params: { account: payer.id }, query });
const named = ({ body }: Answer) =>
  body.series.map(({ label, totals }: Series) => [label, totals.requests]);

test.each([
  ["1h", "minute", 60],
  ["24h", "hour", 24],
  ["7d", "hour", 168],
  ["30d", "day", 30],
  ["90d", "day", 90],
])("over %s the receipts of the account are counted, by the %s", async (range, grain, steps) => {
  const { body } = await ofAccount({ range });
  const charged = (await payer.receipts()).reduce((sum, receipt) => sum + receipt.charged, 0n);
  expect(body).toMatchObject({ range, grain, totals: { requests: 3, failures: 1 } });
  expect(fromUsd(body.totals.charged_usd)).toBe(charged);
  expect([body.points.length, Date.parse(body.points[0].start)]).toEqual([
    steps,
    Date.parse(body.from),
  ]);
  expect(body.series.map(({ points }: Series) => points.length)).toEqual([steps, steps]);
  expect(body.before === null).toBe(range === "1h");
});

test("times lie within those of the receipts, and answers that came whole have no first byte", async () => {
  const durations = (await payer.receipts()).map(({ durationMs }) => durationMs);
  for (const range of ["1h", "24h", "30d"]) {
    const { totals } = (await ofAccount({ range })).body;
    expect(totals).toMatchObject({ latency_p95_ms: Math.max(...durations) });
    expect(totals.latency_p50_ms).toBeGreaterThanOrEqual(Math.min(...durations));
    expect([totals.first_byte_p50_ms, totals.first_byte_p95_ms]).toEqual([null, null]);
  }
});

test("a day is what is shown unless another time is asked for", async () => {
  expect((await ofAccount({})).body).toMatchObject({ range: "24h", before: { requests: 0 } });
});

test("usage is told apart by model and by key, with the names that people gave", async () => {
  expect(named(await ofAccount({ by: "model" }))).toEqual([
    ["vendor/with-slash", 1],
    [hello.model, 2],
  ]);
  await gateway.server.operations.keys.update({ id: payer.keyId, name: "backend" });
  expect(named(await ofAccount({ by: "key" }))).toEqual([["backend", 3]]);
});

test("usage can be narrowed to a model and to a key", async () => {
  const requests = async (query: Query) => (await ofAccount(query)).body.totals.requests;
  expect(await requests({ model: hello.model })).toBe(2);
  expect(await requests({ model: hello.model, key: payer.keyId })).toBe(2);
  expect(await requests({ key: other.keyId })).toBe(0);
});

test("the keys of the playground are one", async () => {
  const owner = await joinMember(gateway, operator, { account: other.id, role: "owner" });
  const params = { account: other.id };
  for (let at = 0; at < 2; at++) {
    const { body } = await owner.ask("POST /api/accounts/:account/playground-key", { params });
    const headers = { authorization: `Bearer ${body.key}` };
    expect((await gateway.call("/chat/completions", hello, { headers })).status).toBe(200);
  }
  await other.settled(3);
  const answer = await owner.ask("GET /api/accounts/:account/usage", {
    params,
    query: { by: "key" },
  });
  const [listed] = await gateway.server.operations.keys.list({ account: other.id });
  expect(named(answer)).toEqual([
    ["temporary keys", 2],
    [listed?.hint, 1],
  ]);
});

test("the operator sees all accounts, and can tell them apart", async () => {
  const answer = await operator.ask("GET /api/usage", { query: { by: "account" } });
  expect(new Map(named(answer)).get("payer")).toBe(3);
  expect(answer.body.series.map(({ name }: Series) => name)).toContain(other.id);
  const sum = answer.body.series.reduce((all: number, one: Series) => all + one.totals.requests, 0);
  expect(answer.body.totals.requests).toBe(sum);
});

test("days begin in the time zone that is asked for, and the sums are the same", async () => {
  const { body } = await ofAccount({ range: "30d", time_zone: "Pacific/Kiritimati" });
  expect(body).toMatchObject({ time_zone: "Pacific/Kiritimati", totals: { requests: 3 } });
  // 14 hours ahead of UTC all year.
  expect(new Set(body.points.map(({ start }: { start: string }) => start.slice(11)))).toEqual(
    new Set(["10:00:00Z"]),
  );
  expect(body.points.at(-1).requests).toBe(3);
  const half = await ofAccount({ range: "30d", time_zone: "Asia/Kolkata" });
  expect(half.body).toMatchObject({ time_zone: "UTC", totals: { requests: 3 } });
});

test("a short custom range is shown by the hour", async () => {
  const today = new Date().toISOString().slice(0, 10);
  const { body } = await ofAccount({ from: today, to: today, compare: "none" });
  expect(body).toMatchObject({ range: "custom", grain: "hour", before: null });
  expect(body.from).toBe(`${today}T00:00:00Z`);
  const year = await ofAccount({ from: "2020-01-01", to: "2020-12-31" });
  expect(year.body).toMatchObject({ grain: "day", totals: { requests: 0 } });
  expect(year.body.before).toMatchObject({ from: "2018-12-31T00:00:00Z", requests: 0 });
});

test("every model is listed with what it comes to", async () => {
  const { body } = await ofAccount({ by: "model" });
  expect(body.all).toEqual(
    body.series.map(({ name, label, totals }: Series) => ({ name, label, totals })),
  );
});

test.each([
  ["time_zone", "Mars/Base"],
  ["from", "today"],
])("a member's question with %s=%s is refused at that field", async (field, value) => {
  expect(await refusal(ofAccount({ [field]: value }))).toEqual([400, field]);
});
