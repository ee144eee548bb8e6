/** A response is stored before its receipt is written: either may fail. */

import { afterEach, beforeEach, expect, test } from "bun:test";
import { chatJson } from "../../fake/openai/chat-json.ts";
import { FaultyStore } from "../../faults/disk/faulty-store.ts";
import { startTestGateway, type TestGateway } from "../../setup/harness.ts";

let disk: FaultyStore;
let gateway: TestGateway;

beforeEach(async () => {
  disk = new FaultyStore();
  const environment = { SVC_STORE_RESPONSES: "on" };
  gateway = await startTestGateway({ open: disk.open, creditUsd: "10", environment });
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

test("a reply whose receipt cannot be written is not stored", async () => {
  const good = await ask();
  expect((await find(idOf(good))).status).toBe(200);
  disk.setRefusing("receipts", true);
  const reply = await ask();
  expect(reply.status).toBe(503);
  disk.setRefusing("receipts", false);
  expect((await find(idOf(reply))).status).toBe(404);
});
