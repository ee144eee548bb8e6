import { afterAll, afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { openEmptyDatabase } from "../../test/setup/empty-database.ts";
import { auditOf } from "../../test/store/audit-sample.ts";
import { loadingOf } from "../../test/store/response-samples.ts";
import type { ApiError } from "../base/errors.ts";
import type { JsonObject } from "../call/chat.ts";
import { createSecrets } from "../secrets/secrets.ts";
import type { Sqlite } from "../store/sqlite/sqlite.ts";
import { createStore } from "../store/sqlite/store.ts";
import type { Store } from "../store/store.ts";
import { StoredResponses, type StoredResponsesOptions } from "./stored-responses.ts";

const root = mkdtempSync(join(tmpdir(), "svc-responses-"));
afterAll(() => rmSync(root, { recursive: true }));

const dayMs = 86_400_000;
const secrets = createSecrets("a".repeat(32));
let nowMs = 0;
let sqlite: Sqlite;
let store: Store;
let responses: StoredResponses;

const open = (given: Partial<StoredResponsesOptions> = {}) =>
  new StoredResponses({
    store: store.responses,
    sealer: secrets.responses,
    clock: { nowMs: () => nowMs },
    keptMs: 30 * dayMs,
    accountBytes: 64 * 1024 * 1024,
    ...given,
  });

beforeEach(async () => {
  nowMs = Date.parse("2027-03-04T12:00:00Z");
  sqlite = openEmptyDatabase(root);
  store = await createStore(sqlite, "x");
  for (const id of ["acct_1", "acct_2"])
    await store.accounts.insert({ id, name: id, createdAtMs: 0 }, auditOf());
  responses = open();
});
afterEach(() => store.close());

const message = (text: string): JsonObject => ({ role: "user", content: text });
const answer = (text: string): JsonObject => ({
  type: "message",
  content: [{ type: "output_text", text }],
});

interface Given {
  readonly accountId?: string;
  readonly previousId?: string;
  readonly input?: readonly JsonObject[];
  readonly reply?: JsonObject;
}

const save = (id: string, given: Given = {}) =>
  responses.save({
    id,
    accountId: "acct_1",
    keyId: "key_1",
    model: "m",
    previousId: undefined,
    input: [message(`to ${id}`)],
    reply: { id, object: "response", output: [answer(`from ${id}`)], usage: { total_tokens: 3 } },
    ...given,
  });

const find = (accountId: string, id: string) => responses.find(id, loadingOf(accountId));
const history = (accountId: string, id: string) => responses.history(id, loadingOf(accountId));

/** Status, param and message of what was thrown. */
async function refusalOf(work: Promise<unknown>): Promise<readonly unknown[]> {
  const {
    status,
    code,
    param,
    message: words,
  } = await work.then(
    () => ({}) as ApiError,
    (error: ApiError) => error,
  );
  return [status, code, param, words];
}

const notFound = [
  404,
  "response_not_found",
  null,
  "The response does not exist, was not stored, or has expired.",
];
const missing = [
  400,
  "invalid_request",
  "previous_response_id",
  "The response in previous_response_id does not exist or has expired. Send the whole conversation in input instead.",
];
const incomplete = [
  400,
  "invalid_request",
  "previous_response_id",
  "A response of the conversation that previous_response_id continues was deleted or has expired. Send the whole conversation in input instead.",
];

test("a response is read as it was sent, with its input and its fields in order", async () => {
  const reply = {
    id: "resp_1",
    output: [answer("ü 😀"), { type: "function_call", arguments: "{}" }],
    error: null,
    metadata: { a: "b" },
  };
  const input = [message("é"), { type: "item_reference", id: "x" }];
  expect(await save("resp_1", { reply, input })).toBe(true);
  const found = await find("acct_1", "resp_1");
  expect(found).toEqual({
    id: "resp_1",
    accountId: "acct_1",
    keyId: "key_1",
    model: "m",
    createdAtMs: nowMs,
    expiresAtMs: nowMs + 30 * dayMs,
    previousId: undefined,
    input,
    reply,
  });
  expect(JSON.stringify(found.reply)).toBe(JSON.stringify(reply));
  const plain = { id: "resp_2", output: null, status: "failed" };
  await save("resp_2", { reply: plain, input: [] });
  expect(await find("acct_1", "resp_2")).toMatchObject({ reply: plain, input: [] });
  expect(await history("acct_1", "resp_2")).toEqual([]);
});

test("a history has every item of the conversation, the oldest first", async () => {
  await save("resp_1");
  await save("resp_2", {
    previousId: "resp_1",
    input: [message("second"), message("third")],
    reply: { output: [{ type: "reasoning" }, answer("x")] },
  });
  await save("resp_3", { previousId: "resp_2" });
  await save("resp_branch", { previousId: "resp_1" });
  expect(await history("acct_1", "resp_3")).toEqual([
    message("to resp_1"),
    answer("from resp_1"),
    message("second"),
    message("third"),
    { type: "reasoning" },
    answer("x"),
    message("to resp_3"),
    answer("from resp_3"),
  ]);
  expect(await history("acct_1", "resp_branch")).toHaveLength(4);
});

test("an unknown, foreign, expired or deleted response is 404, and 400 where it is continued", async () => {
  await save("resp_1");
  await save("resp_deleted");
  await responses.remove("acct_1", "resp_deleted");
  const gone = [
    ["acct_1", "resp_none"],
    ["acct_1", "x".repeat(1_000_000)],
    ["acct_1", ""],
    ["acct_2", "resp_1"],
    ["acct_1", "resp_deleted"],
  ] as const;
  for (const [accountId, id] of gone) {
    expect(await refusalOf(find(accountId, id))).toEqual(notFound);
    expect(await refusalOf(responses.remove(accountId, id))).toEqual(notFound);
    expect(await refusalOf(history(accountId, id))).toEqual(missing);
  }
  nowMs += 30 * dayMs - 1;
  expect((await find("acct_1", "resp_1")).id).toBe("resp_1");
  nowMs += 1;
  expect(await refusalOf(find("acct_1", "resp_1"))).toEqual(notFound);
  expect(await refusalOf(responses.remove("acct_1", "resp_1"))).toEqual(notFound);
  expect(await refusalOf(history("acct_1", "resp_1"))).toEqual(missing);
});

test("a conversation that has lost a response is refused, and not continued without it", async () => {
  await save("resp_1");
  nowMs += dayMs;
  await save("resp_2", { previousId: "resp_1" });
  await save("resp_3", { previousId: "resp_2" });
  expect(await history("acct_1", "resp_3")).toHaveLength(6);
  nowMs += 29 * dayMs;
  expect(await refusalOf(history("acct_1", "resp_3"))).toEqual(incomplete);
  await responses.remove("acct_1", "resp_2");
  expect(await refusalOf(history("acct_1", "resp_3"))).toEqual(incomplete);
  expect((await find("acct_1", "resp_3")).previousId).toBe("resp_2");
});

test("a conversation is continued up to a number of responses and of bytes", async () => {
  for (let at = 1; at <= 120; at++)
    await save(`resp_${at}`, at === 1 ? {} : { previousId: `resp_${at - 1}` });
  expect(await history("acct_1", "resp_120")).toHaveLength(240);
  responses = open({ bounds: { responses: 119, bytes: 2 ** 20 } });
  expect(await history("acct_1", "resp_119")).toHaveLength(238);
  expect((await refusalOf(history("acct_1", "resp_120"))).slice(2)).toEqual([
    "previous_response_id",
    "The conversation has more than 119 responses. Send it in input instead.",
  ]);
  const text = "x".repeat(600_000);
  // What is said beside the items does not count.
  await save("resp_large", { input: [message(text)], reply: { output: [], instructions: text } });
  expect(await history("acct_1", "resp_large")).toHaveLength(1);
  await save("resp_larger", { input: [message(text)], previousId: "resp_large" });
  expect((await refusalOf(history("acct_1", "resp_larger"))).slice(2)).toEqual([
    "previous_response_id",
    "The conversation has more than 1 MiB. Shorten it, and send it in input.",
  ]);
});

test("a circle in the database ends", async () => {
  await save("resp_1", { previousId: "resp_2" });
  await save("resp_2", { previousId: "resp_1" });
  expect((await refusalOf(history("acct_1", "resp_1")))[3]).toContain("more than 1,000 responses");
});

test("a large response is stored whole, and one that is too large is not stored", async () => {
  const input = Array.from({ length: 9 }, (_, at) => message(`${at}é`.repeat(400_000)));
  const reply = { id: "resp_1", output: [answer("y".repeat(1_500_000))], text: "z".repeat(10) };
  expect(await save("resp_1", { input, reply })).toBe(true);
  const found = await find("acct_1", "resp_1");
  expect(Bun.deepEquals([found.input, found.reply], [input, reply])).toBe(true);
  expect(await history("acct_1", "resp_1")).toHaveLength(10);
  const most = [message("x".repeat(responses.maxStoredBytes))];
  expect(await save("resp_most", { input: most })).toBe(true);
  expect((await find("acct_1", "resp_most")).input[0]?.["content"]).toHaveLength(
    responses.maxStoredBytes,
  );
  const before = await store.responses.totals("acct_1");
  const tooLong = { output: [answer("x".repeat(5 * 1024 * 1024))] };
  expect(await save("resp_2", { input: most, reply: tooLong })).toBe(false);
  expect(await store.responses.totals("acct_1")).toEqual(before);
});

test("memory is asked for before anything is opened", async () => {
  await save("resp_1", { reply: { output: [], instructions: "x".repeat(9_000) } });
  await save("resp_2", { previousId: "resp_1" });
  const links = await store.responses.chain({ accountId: "acct_1", id: "resp_2", nowMs, most: 9 });
  const itemsBytes = links.map((link) => link.itemsBytes);
  const wanted = {
    find: links.slice(0, 1).map((link) => link.sizeBytes),
    items: itemsBytes.slice(0, 1),
    history: [itemsBytes.reduce((sum, bytes) => sum + bytes, 0)],
  };
  for (const what of ["find", "items", "history"] as const) {
    const held: number[] = [];
    const hold = (sizeBytes: number) => {
      held.push(sizeBytes);
      throw new Error("no memory");
    };
    const loading = loadingOf("acct_1", { hold });
    await expect(responses[what]("resp_2", loading)).rejects.toThrow("no memory");
    expect({ held, opened: loading.weight.total }).toEqual({ held: wanted[what], opened: 0 });
  }
});

test("what would be too heavy to parse is not stored", async () => {
  const fields = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 0]));
  expect(await save("resp_1", { input: [fields(40_000)] })).toBe(true);
  const reply = { output: [], metadata: fields(40_000) };
  expect(await save("resp_2", { input: [fields(40_000)], reply })).toBe(false);
  expect(await refusalOf(find("acct_1", "resp_2"))).toEqual(notFound);
});

test("the database files do not contain what was said", async () => {
  const secret = "the launch code is 0000";
  await save("resp_1", {
    input: [message(secret), message(secret.repeat(100_000))],
    reply: { output: [answer(secret)], instructions: secret, metadata: { secret } },
  });
  await store.sync();
  const dir = dirname(sqlite.path);
  const names = readdirSync(dir);
  expect(names.some((name) => name.endsWith("-wal"))).toBe(true);
  const files = names.map((name) => readFileSync(join(dir, name)));
  expect(files.some((bytes) => bytes.includes("resp_1"))).toBe(true);
  for (const bytes of files) {
    expect(bytes.includes("launch")).toBe(false);
    expect(bytes.includes(Buffer.from("launch", "utf16le"))).toBe(false);
  }
  const other = open({ sealer: createSecrets("b".repeat(32)).responses });
  await expect(other.find("resp_1", loadingOf("acct_1"))).rejects.toThrow("changed or moved");
});

test("rows that were swapped between accounts, ids or columns are refused", async () => {
  await save("resp_1");
  await save("resp_2", { previousId: "resp_1" });
  await save("resp_1", { accountId: "acct_2" });
  const { raw } = sqlite;
  const swaps = [
    "update stored_responses set account_id = 'acct_2', id = 'resp_9' where account_id = 'acct_1' and id = 'resp_1'",
    "update stored_responses set id = 'resp_9' where account_id = 'acct_1' and id = 'resp_1'",
    `update stored_responses set items = (select items from stored_responses
      where account_id = 'acct_2') where account_id = 'acct_1' and id = 'resp_1'`,
    `update stored_responses set items = (select items from stored_responses
      where id = 'resp_2') where account_id = 'acct_1' and id = 'resp_1'`,
    "update stored_responses set items = reply where account_id = 'acct_1' and id = 'resp_1'",
    "update stored_responses set previous_id = 'resp_2' where account_id = 'acct_1' and id = 'resp_1'",
    "update stored_responses set items = substr(items, 1, 20) where id = 'resp_1'",
  ];
  for (const swap of swaps) {
    let refused = 0;
    raw.run("begin");
    raw.run(swap);
    for (const [accountId, id] of [
      ["acct_1", "resp_1"],
      ["acct_1", "resp_9"],
      ["acct_2", "resp_9"],
    ] as const) {
      const isThere = raw
        .query("select 1 from stored_responses where account_id = ? and id = ?")
        .get(accountId, id);
      if (isThere === null) continue;
      refused++;
      await expect(find(accountId, id)).rejects.toThrow("changed or moved");
    }
    raw.run("rollback");
    expect({ swap, refused }).toEqual({ swap, refused: 1 });
  }
  expect((await find("acct_1", "resp_1")).id).toBe("resp_1");
});

test("an account keeps its newest responses within its bound", async () => {
  responses = open({ accountBytes: 100_000 });
  for (let at = 1; at <= 5; at++) {
    nowMs += 1;
    await save(`resp_${at}`, { input: [message("x".repeat(30_000))] });
  }
  await save("resp_1", { accountId: "acct_2" });
  const { bytes } = await store.responses.totals("acct_1");
  expect(bytes).toBeLessThanOrEqual(100_000);
  expect(await refusalOf(find("acct_1", "resp_2"))).toEqual(notFound);
  for (const id of ["resp_3", "resp_4", "resp_5"]) expect((await find("acct_1", id)).id).toBe(id);
  expect((await find("acct_2", "resp_1")).id).toBe("resp_1");
});
