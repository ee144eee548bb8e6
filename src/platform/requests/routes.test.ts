import { beforeAll, expect, test } from "bun:test";
import { chatAnswers, embeddingsReply, failures } from "../../../test/fake/recordings.ts";
import { hello, openPayer, type Payer } from "../../../test/setup/money-home.ts";
import { joinMember, refusal, type Visitor } from "../../../test/setup/platform-home.ts";
import { usePlatform } from "../../../test/setup/use-platform.ts";

let viewer: Visitor;
let payer: Payer;
let other: Payer;
/** Of the account, in the order of the calls. */
const ids: string[] = [];

const manifest = `
providers:
  acme: { kind: openai, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }
models:
  svc-3-flash: { endpoint: chat, price: { input: "0.30", output: "2.50" }, routes: [{ provider: acme, model: acme-chat, cost: { input: "0.1", output: "1" } }] }
  svc-embedding-2: { endpoint: embeddings, input: text, price: { input: "0.02" }, routes: [{ provider: acme, model: acme-embed }] }
`;

const { gateway, operator } = usePlatform({ manifest });

/** An answer, a failure, an embedding and an answer; and one call of another account. */
beforeAll(async () => {
  gateway.upstream.replyWith(chatAnswers.plain());
  payer = await openPayer(gateway, { name: "payer" });
  other = await openPayer(gateway);
  viewer = await joinMember(gateway, operator, { account: payer.id, role: "viewer" });
  const note = (reply: Response) => ids.push(reply.headers.get("x-request-id") ?? "");
  note(await payer.chat());
  gateway.upstream.replyOnce(failures.internal());
  note(await payer.chat());
  gateway.upstream.replyOnce(embeddingsReply({ vectors: [[0.5, 0.25]] }));
  note(await payer.call("/embeddings", { model: "svc-embedding-2", input: "hello" }));
  note(await payer.chat());
  await payer.settled(4);
  await other.chat();
  await other.settled(1);
});

type Query = Readonly<Record<string, string>>;

const list = (query: Query = {}, who: Visitor = viewer) =>
  who.ask("GET /api/accounts/:account/requests", { params: { account: payer.id }, query });
const one = (id: string, who: Visitor = viewer) =>
  who.ask("GET /api/accounts/:account/requests/:id", { params: { account: payer.id, id } });
const found = async (query: Query) =>
  (await list(query)).body.requests.map(({ id }: { readonly id: string }) => ids.indexOf(id));

test("the requests of an account are listed, the newest first, and none of another's", async () => {
  expect(await found({})).toEqual([3, 2, 1, 0]);
});

test.each([
  [{ model: "svc-embedding-2" }, [2]],
  [{ endpoint: "chat" }, [3, 1, 0]],
  [{ dialect: "chat" }, [3, 1, 0]],
  [{ dialect: "messages" }, []],
  [{ outcome: "ok" }, [3, 2, 0]],
  [{ outcome: "failed" }, [1]],
  [{ outcome: "upstream_error" }, [1]],
  [{ outcome: "left" }, []],
  [{ from: "2020-01-01", to: "2020-02-01" }, []],
  [{ from: "2020-01-01T00:00:00Z" }, [3, 2, 1, 0]],
  [{ endpoint: "chat", outcome: "ok" }, [3, 0]],
])("filtered by %j, those that match are listed", async (query, expected) => {
  expect(await found(query)).toEqual(expected);
});

test("requests are found by their id, by how it begins and by their key", async () => {
  const [first = ""] = ids;
  expect(await found({ id: first })).toEqual([0]);
  expect(await found({ id: first.slice(0, 6) })).toEqual([3, 2, 1, 0]);
  expect(await found({ key: payer.keyId })).toEqual([3, 2, 1, 0]);
  expect(await found({ key: other.keyId })).toEqual([]);
});

test("what is asked for as nothing filters nothing", async () => {
  for (const field of ["id", "key", "model", "outcome", "after", "from", "to"])
    expect(await found({ [field]: "" })).toEqual([3, 2, 1, 0]);
  const all = async (query: Query) =>
    (await operator.ask("GET /api/requests", { query })).body.requests.length;
  const csv = async (query: Query) =>
    (await operator.ask("GET /api/requests.csv", { query })).body.trim().split("\n").length;
  for (const field of ["account", "provider"]) {
    expect(await all({ [field]: "" })).toBe(5);
    expect(await csv({ [field]: "" })).toBe(6);
  }
});

test("pages follow each other without a gap, to the end", async () => {
  const seen: string[] = [];
  let after: string | null = "";
  for (let pages = 0; after !== null && pages < 10; pages++) {
    const { body } = await list({ limit: "1", ...(after === "" ? {} : { after }) });
    expect(body.requests.length).toBeLessThan(2);
    seen.push(...body.requests.map(({ id }: { readonly id: string }) => id));
    after = body.after;
  }
  expect([seen, after]).toEqual([ids.toReversed(), null]);
});

test.each([
  ["from", "yesterday"],
  ["to", "2027-02-30"],
])("a member's question with %s=%s is refused at that field", async (field, value) => {
  expect(await refusal(list({ [field]: value }))).toEqual([400, field]);
});

test("one request opens with its timeline, its attempts and sums that add up", async () => {
  const { body } = await one(ids[0] ?? "");
  expect(body).toMatchObject({
    id: ids[0],
    account: payer.id,
    key: payer.keyId,
    model: hello.model,
    outcome_words: "OK",
    attempts: [{ number: 1, outcome: "served" }],
    arithmetic: { adds_up: true, cost_usd: body.cost_usd },
    charged_usd: body.cost_usd,
  });
  expect(Date.parse(body.timeline.ended_at) - Date.parse(body.timeline.started_at)).toBe(
    body.timeline.duration_ms,
  );
});

test("calls to chat models name their dialect, in lists, alone and in exports; others have none", async () => {
  const { body } = await list();
  const listed = body.requests.map(({ dialect }: { readonly dialect: string | null }) => dialect);
  expect(listed).toEqual(["chat", null, "chat", "chat"]);
  expect((await one(ids[0] ?? "")).body.dialect).toBe("chat");
  expect((await one(ids[2] ?? "")).body.dialect).toBeNull();
  const csv = await viewer.ask("GET /api/accounts/:account/requests.csv", {
    params: { account: payer.id },
    query: { dialect: "chat" },
  });
  const [header = "", ...lines] = csv.body.trim().split("\r\n");
  expect(header).toEndWith(",dialect");
  expect(lines.map((line: string) => line.split(",").at(-1))).toEqual(["chat", "chat", "chat"]);
});

test("members are told nothing of vendors, in no form", async () => {
  const params = { account: payer.id };
  const answers = [
    await list(),
    await one(ids[0] ?? ""),
    await one(ids[1] ?? ""),
    await viewer.ask("GET /api/accounts/:account/requests.csv", { params }),
  ];
  for (const { status, response } of answers) {
    const text = await response.text();
    expect(status).toBe(200);
    expect(text).toContain(hello.model);
    expect(text.match(/acme|provider"|vendor|margin|server had an error/)).toBeNull();
  }
});

test("the operator is told who was asked, what was said and what it cost", async () => {
  const ask = async (id: string | undefined) =>
    (await operator.ask("GET /api/requests/:id", { params: { id: id ?? "" } })).body;
  const served = await ask(ids[0]);
  expect(served).toMatchObject({
    provider: "acme",
    attempts: [{ provider: "acme", model: "acme-chat", detail: null }],
  });
  expect(Number(served.vendor_cost_usd) + Number(served.margin_usd)).toBeCloseTo(
    Number(served.charged_usd),
    9,
  );
  expect((await ask(ids[1])).attempts).toMatchObject([
    { outcome: "upstream_error", detail: expect.stringContaining("500") },
  ]);
});

test("a request of another account is told like one that there is not", async () => {
  const [receipt] = await other.receipts();
  const foreign = await one(receipt?.id ?? "");
  const missing = await one("req_none");
  expect([foreign.status, missing.status]).toEqual([404, 404]);
  expect(foreign.body.error.message.replace(receipt?.id, "req_none")).toBe(
    missing.body.error.message,
  );
  expect((await one(receipt?.id ?? "", operator)).status).toBe(404);
});

test("the operator lists all accounts, and can filter by account and provider", async () => {
  const count = async (query: Query) =>
    (await operator.ask("GET /api/requests", { query })).body.requests.length;
  expect(await count({})).toBe(5);
  expect(await count({ account: other.id })).toBe(1);
  expect(await count({ provider: "acme", account: payer.id })).toBe(4);
  expect(await count({ provider: "nobody" })).toBe(0);
});

const cells = (line: string) => line.split(",");

test("the export has a line a request that the filter lets through, the oldest first", async () => {
  const params = { account: payer.id };
  const { response, body } = await viewer.ask("GET /api/accounts/:account/requests.csv", {
    params,
    query: { endpoint: "chat" },
  });
  expect(response.headers.get("content-type")).toBe("text/csv; charset=utf-8");
  expect(response.headers.get("content-disposition")).toContain("attachment");
  const [head = [], ...lines] = body.trimEnd().split(/\r?\n/).map(cells);
  const column = (name: string) =>
    lines.map((line: readonly string[]) => line[head.indexOf(name)] ?? "");
  expect(column("id")).toEqual([ids[0], ids[1], ids[3]]);
  expect(column("account")).toEqual(["payer", "payer", "payer"]);
  expect(column("outcome")).toEqual(["ok", "upstream_error", "ok"]);
  const receipts = await payer.receipts();
  expect(column("duration_ms")).toEqual(
    [0, 1, 3].map((at) => String(receipts[at]?.durationMs ?? "none")),
  );
});

test("the operator's export is of all accounts, with providers", async () => {
  const { body } = await operator.ask("GET /api/requests.csv", { query: { provider: "acme" } });
  const [head = "", ...lines] = body.trimEnd().split(/\r?\n/);
  expect(cells(head)).toContain("vendor_cost_usd");
  expect(lines).toHaveLength(5);
});

test("an export of nothing has its head alone", async () => {
  const { body } = await operator.ask("GET /api/requests.csv", { query: { provider: "nobody" } });
  expect(body.trimEnd().split("\n")).toHaveLength(1);
});
