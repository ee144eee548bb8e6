/** Who comes again with an Idempotency-Key whose first request has failed and is being written off. */

import { beforeEach, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { openaiEvents } from "../../fake/openai/chat-stream.ts";
import { errorReply } from "../../fake/openai/error-replies.ts";
import { chatJson, chatStream, chatStreams } from "../../fake/recordings.ts";
import { pausedAfter } from "../../fake/script.ts";
import { FaultyStore } from "../../faults/disk/faulty-store.ts";
import { expectRefusal, refusalOf } from "../../replies/refusal.ts";
import { aroundCommits } from "../../setup/commits.ts";
import { startTestGateway } from "../../setup/harness.ts";
import { hello, openPayer, type Payer, waitUntil } from "../../setup/money-home.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

/** What the store does before it writes that a key is free. */
let beforeRelease: () => Promise<void> | undefined;
const open = aroundCommits((commit) => async (writes) => {
  if (writes.some(({ type }) => type === "claim-release")) await beforeRelease();
  return commit(writes);
});
const gateway = useTestGateway({ open });
let payer: Payer;
beforeEach(async () => {
  beforeRelease = () => undefined;
  payer = await openPayer(gateway);
});

const init = { headers: { "idempotency-key": "again" } };

/** The first request fails, and its key is not free before `goOn`. */
async function failFirst(
  stream: boolean,
  { gateway: at, payer: by } = { gateway, payer },
): Promise<{ goOn(): void }> {
  const { promise: until, resolve: goOn } = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  beforeRelease = () => {
    begun.resolve();
    return until;
  };
  at.upstream.replyOnce(errorReply({ status: 500, body: { error: { message: "no" } } }));
  at.upstream.replyWith(stream ? chatStreams.openai() : chatJson());
  expect((await by.chat({ stream }, init)).status).toBe(502);
  await begun.promise;
  return { goOn };
}

/** What was sent before, on other lines, has been read when a few more requests are answered. */
async function turns({ origin } = gateway): Promise<void> {
  for (let count = 0; count < 5; count++) await (await fetch(`${origin}/healthz`)).text();
}

for (const stream of [false, true])
  test(`of forty at once one is served and pays, ${stream ? "streamed" : "whole"}`, async () => {
    const { goOn } = await failFirst(stream);
    const replies = Array.from({ length: 40 }, async () => {
      const reply = await payer.chat({ stream }, init);
      await reply.text();
      return reply.headers.has("idempotent-replayed") ? "replayed" : reply.status;
    });
    await turns();
    goOn();
    const told = await Promise.all(replies);
    expect(told.filter((status) => status === 200)).toHaveLength(1);
    expect(told.every((status) => status === 409 || status === 200 || status === "replayed")).toBe(
      true,
    );
    expect(gateway.upstream.requests).toHaveLength(2);
    const paid = (await payer.settled(2)).filter(({ charged }) => charged > 0n);
    expect(paid).toHaveLength(1);
  });

test("one who has left meanwhile is not served, pays nothing and leaves the key free", async () => {
  const { goOn } = await failFirst(true);
  const body = JSON.stringify({ ...hello, stream: true });
  const socket = connect(Number(new URL(gateway.origin).port), "127.0.0.1");
  const closed = new Promise<void>((resolve) => socket.on("close", () => resolve()));
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${payer.key}\r\ncontent-type: application/json\r\nidempotency-key: again\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  await turns();
  socket.destroy();
  await closed;
  await turns();
  goOn();
  await waitUntil("the key serves the next", async () => {
    const reply = await payer.chat({ stream: true }, init);
    if (reply.status === 200) return (await reply.text()) !== "";
    expect((await refusalOf(reply)).code).toBe("idempotency_in_progress");
    return false;
  });
  expect(gateway.upstream.requests).toHaveLength(2);
  await payer.settled(2);
});

test("a key that was revoked meanwhile is refused", async () => {
  const { goOn } = await failFirst(false);
  const second = payer.chat({}, init);
  await turns();
  await gateway.server.operations.keys.revoke({ id: payer.keyId });
  goOn();
  await expectRefusal(second, { status: 401, code: "invalid_api_key" });
  expect(gateway.upstream.requests).toHaveLength(1);
});

describe("on a disk that fails", () => {
  test("a key is free again when its receipt was taken back after the caller had left", async () => {
    const disk = new FaultyStore();
    const lines: string[] = [];
    const faulty = await startTestGateway({
      open: disk.open,
      writeLog: (line) => lines.push(line),
      environment: { SVC_LOG_LEVEL: "info" },
    });
    const other = await openPayer(faulty);
    const { promise: until, resolve: goOn } = Promise.withResolvers<void>();
    // In one piece: nothing has gone out when its receipt is to be written.
    const recording = chatStream({ eventsPerPart: 99, events: openaiEvents() });
    faulty.upstream.replyOnce(pausedAfter({ recording, parts: 0, until }));
    faulty.upstream.replyWith(chatStreams.openai());
    const leaving = new AbortController();
    const first = other
      .chat({ stream: true }, { ...init, signal: leaving.signal })
      .then((reply) => reply.text())
      .catch(() => "left");
    await faulty.upstream.nextRequest();
    disk.setReadOnly(true);
    goOn();
    await waitUntil("the disk is known to fail", () =>
      lines.some((line) => line.includes("ledger is not writable")),
    );
    leaving.abort();
    expect(await first).toBe("left");
    await waitUntil("the receipt is taken back", async () => {
      const { balance, held } = await other.standing();
      return balance === other.credit && held === 0n;
    });
    disk.setReadOnly(false);
    await waitUntil("the key serves again", async () => {
      const reply = await other.chat({ stream: true }, init);
      await reply.text();
      return reply.status === 200;
    });
    expect(await other.settled(1)).toHaveLength(1);
    await faulty.stop();
  });
});

test("a gateway that shuts down begins no call for who waits", async () => {
  const own = await startTestGateway({ open });
  const caller = await openPayer(own);
  const { goOn } = await failFirst(false, { gateway: own, payer: caller });
  const second = caller.chat({}, init);
  await turns(own);
  const stopped = own.server.stop();
  // With its port closed it begins no calls.
  await waitUntil("the port to be closed", () =>
    fetch(`${own.origin}/healthz`, { headers: { connection: "close" } }).then(
      () => false,
      () => true,
    ),
  );
  goOn();
  await expectRefusal(second, { status: 503, code: "shutting_down" });
  await stopped;
  expect(own.upstream.requests).toHaveLength(1);
  await own.stop();
});
