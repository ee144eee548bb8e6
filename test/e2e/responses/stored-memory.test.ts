/** What requests load of stored responses: counted like bodies before it is read, and bounded. */

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { chatAnswers } from "../../fake/recordings.ts";
import { startTestGateway, type TestGateway } from "../../setup/harness.ts";
import { openPayer, type Payer, waitUntil } from "../../setup/money-home.ts";

const mib = 1024 * 1024;
const environment = { SVC_STORE_RESPONSES: "on", SVC_MAX_BODIES_MB: "32" };

let gateway: TestGateway;
let payer: Payer;
const sockets: Socket[] = [];
beforeEach(async () => {
  gateway = await startTestGateway({ creditUsd: "100", environment });
  gateway.upstream.replyWith(chatAnswers.plain());
  payer = await openPayer(gateway);
});
afterEach(async () => {
  leaveAll();
  await gateway.stop();
});

const ask = (fields: object, by = payer) =>
  by.call("/responses", { model: "svc-3-flash", input: "Hi", max_output_tokens: 20, ...fields });
/** Nothing of it can be priced or sent: the request is refused after everything was loaded. */
const refused = { temperature: 99 };

/** A field that no vendor gets. */
async function stored(x: unknown, by = payer): Promise<string> {
  const reply = await ask({ input: [{ role: "user", content: "Hi", x }] }, by);
  const { id, store } = await reply.json();
  expect({ status: reply.status, store }).toEqual({ status: 200, store: true });
  return id;
}
const large = (sizeMib: number, by?: Payer) => stored("x".repeat(sizeMib * mib), by);

const read = (id: string, by = payer, method = "GET") =>
  fetch(`${gateway.baseUrl}/responses/${id}/input_items`, {
    method,
    headers: { authorization: `Bearer ${by.key}` },
  });
const codeOf = async (reply: Response | Promise<Response>) => {
  const { status, ...body } = { status: (await reply).status, ...(await (await reply).json()) };
  return status === 200 ? "200" : `${status} ${body.error.code}`;
};

/** Resolves when the reply has begun; the rest of it is not read. */
function readNothing(id: string): Promise<void> {
  const { hostname, port, pathname } = new URL(gateway.baseUrl);
  const begun = Promise.withResolvers<void>();
  const socket = connect(Number(port), hostname, () => {
    const head = [
      `GET ${pathname}/responses/${id}/input_items HTTP/1.1`,
      "host: gateway",
      `authorization: Bearer ${payer.key}`,
    ];
    socket.write(`${head.join("\r\n")}\r\n\r\n`);
  });
  socket.on("error", begun.reject);
  socket.once("data", () => {
    socket.pause();
    begun.resolve();
  });
  sockets.push(socket);
  return begun.promise;
}
function leaveAll(): void {
  for (const socket of sockets.splice(0)) socket.destroy();
}

describe("memory", () => {
  test("a reply that nobody reads keeps its place until the caller leaves", async () => {
    const id = await large(12);
    const stranger = await openPayer(gateway);
    const theirs = await large(12, stranger);
    const [first, second] = [readNothing(id), readNothing(id)];
    await Promise.all([first, second]);
    // Of the account, and of all.
    expect(await codeOf(read(id))).toBe("429 rate_limit_exceeded");
    expect(await codeOf(ask({ ...refused, previous_response_id: id }))).toBe(
      "429 rate_limit_exceeded",
    );
    expect(await codeOf(read(theirs, stranger))).toBe("503 gateway_overloaded");
    const next = { ...refused, previous_response_id: theirs };
    expect(await codeOf(ask(next, stranger))).toBe("503 gateway_overloaded");
    const input = [{ type: "item_reference", id: `item_${theirs.slice("resp_".length)}_in_0` }];
    expect(await codeOf(ask({ input }, stranger))).toBe("503 gateway_overloaded");
    leaveAll();
    await waitUntil("the memory", async () => (await codeOf(read(theirs, stranger))) === "200");
    expect(await codeOf(ask(next, stranger))).toBe("400 invalid_request");
  });

  test("what was loaded is given back, however the request ends", async () => {
    const id = await large(12);
    for (let round = 0; round < 3; round++) {
      expect(await codeOf(ask({ ...refused, previous_response_id: id }))).toBe(
        "400 invalid_request",
      );
      expect(await codeOf(read(id))).toBe("200");
      expect((await read(id, payer, "HEAD")).status).toBe(200);
      expect((await read(`${id}x`)).status).toBe(404);
    }
  });
});

describe("a text of many fields", () => {
  const dense = Object.fromEntries(Array.from({ length: 35_000 }, (_, at) => [`k${at}`, 0]));

  test("is read once, and refused where several are read together", async () => {
    const ids = [await stored(dense), await stored(dense)];
    for (const id of ids) expect(await codeOf(read(id))).toBe("200");
    const input = ids.map((id) => ({
      type: "item_reference",
      id: `item_${id.slice("resp_".length)}_in_0`,
    }));
    const together = await ask({ input });
    expect(together.status).toBe(400);
    expect((await together.json()).error.param).toBe("input[1].id");
    const again = await ask({ previous_response_id: ids[0], input: input.slice(0, 1) });
    expect(again.status).toBe(400);
    expect((await again.json()).error.param).toBe("input[0].id");
    const next = await ask({
      previous_response_id: ids[0],
      input: [{ role: "user", content: "Hi", x: dense }],
    });
    const last = await ask({ previous_response_id: (await next.json()).id });
    expect(last.status).toBe(400);
    expect((await last.json()).error.param).toBe("previous_response_id");
  });
});
