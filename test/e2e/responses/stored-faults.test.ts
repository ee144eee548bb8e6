/** A response is stored before its receipt is written: either may fail. */

import { afterEach, beforeEach, expect, test } from "bun:test";
import type { Opened } from "../../../src/app/opened.ts";
import type { Configuration } from "../../../src/config/load.ts";
import type { ResponseStore } from "../../../src/responses/response.ts";
import { chatJson } from "../../fake/openai/chat-json.ts";
import { FaultyStore } from "../../faults/disk/faulty-store.ts";
import { startTestGateway, type TestGateway } from "../../setup/harness.ts";

let disk: FaultyStore;
let gateway: TestGateway;
let isAway: boolean;

async function open(configuration: Configuration): Promise<Opened> {
  const opened = await disk.open(configuration);
  const { store } = opened;
  const { responses } = store;
  const unlessAway = <T>(ask: () => Promise<T>) =>
    isAway ? Promise.reject(new Error("the database does not answer")) : ask();
  const faulty: ResponseStore = {
    save: (...given) => unlessAway(() => responses.save(...given)),
    find: (query) => unlessAway(() => responses.find(query)),
    findItems: (query) => unlessAway(() => responses.findItems(query)),
    chain: (query) => unlessAway(() => responses.chain(query)),
    remove: (query) => unlessAway(() => responses.remove(query)),
    sweep: (nowMs) => responses.sweep(nowMs),
    removeAll: (...given) => responses.removeAll(...given),
    totals: (accountId) => responses.totals(accountId),
  };
  return { ...opened, store: { ...store, responses: faulty } };
}

beforeEach(async () => {
  disk = new FaultyStore();
  const environment = { SVC_STORE_RESPONSES: "on" };
  isAway = false;
  gateway = await startTestGateway({ open, creditUsd: "10", environment });
  gateway.upstream.replyWith(chatJson());
});
afterEach(() => gateway.stop());

const ask = () => gateway.call("/responses", { model: "svc-3-flash", input: "Hi" });
const find = (id: string) =>
  fetch(`${gateway.baseUrl}/responses/${id}`, {
    headers: { authorization: `Bearer ${gateway.key}` },
  });
const idOf = ({ headers }: Response) => `resp_${headers.get("x-request-id")?.slice("req_".length)}`;

test("a reply that cannot be stored is sent, with store set to false", async () => {
  disk.setRefusing("stored_responses", true);
  const reply = await ask();
  expect(reply.status).toBe(200);
  const { id, store } = await reply.json();
  expect({ id, store }).toEqual({ id: idOf(reply), store: false });
  disk.setRefusing("stored_responses", false);
  expect((await find(id)).status).toBe(404);
});

test("what cannot be read from the store is a 503 to try again, and no vendor is called", async () => {
  const { id } = await (await ask()).json();
  const calls = gateway.upstream.requests.length;
  isAway = true;
  const headers = { authorization: `Bearer ${gateway.key}` };
  const url = `${gateway.baseUrl}/responses/${id}`;
  const body = { model: "svc-3-flash", input: "Go on", previous_response_id: id };
  const replies = [
    await find(id),
    await fetch(`${url}/input_items`, { headers }),
    await fetch(url, { method: "DELETE", headers }),
    await gateway.call("/responses", body),
  ];
  for (const reply of replies) {
    expect([reply.status, reply.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(await reply.json()).toMatchObject({ error: { code: "store_unavailable" } });
  }
  expect(gateway.upstream.requests.length).toBe(calls);
  isAway = false;
  expect((await find(id)).status).toBe(200);
});

test("a reply whose receipt cannot be written is not stored", async () => {
  const good = await ask();
  expect((await find(idOf(good))).status).toBe(200);
  disk.setRefusing("receipts", true);
  const reply = await ask();
  expect(reply.status).toBe(503);
  disk.setRefusing("receipts", false);
  expect((await find(idOf(reply))).status).toBe(404);
});
