import { beforeAll, expect, jest, test } from "bun:test";
import { chatAnswers } from "../../../test/fake/recordings.ts";
import { hello, openPayer, type Payer } from "../../../test/setup/money-home.ts";
import {
  idOf,
  join,
  joinMember,
  machine,
  type Visitor,
} from "../../../test/setup/platform-home.ts";
import { usePlatform } from "../../../test/setup/use-platform.ts";
import { openStore } from "../../app/store.ts";

let other: Payer;
let aheadMs = 0;
/** Waited for where the account of a path is looked up. */
let beforeAccount: (() => Promise<void>) | undefined;

const { gateway, operator, viewer } = usePlatform({
  clock: { nowMs: () => Date.now() + aheadMs },
  liveEveryMs: 10,
  open: async (configuration) => {
    const { store, ...rest } = await openStore(configuration);
    const find = async (id: string) => {
      await beforeAccount?.();
      return store.accounts.find(id);
    };
    return { ...rest, store: { ...store, accounts: { ...store.accounts, find } } };
  },
  reply: chatAnswers.plain(),
  members: ["viewer"],
});
beforeAll(async () => {
  other = await openPayer(gateway);
});

interface Row {
  readonly id: string;
  readonly account: string;
}

/** Reads a stream of server-sent events, event by event. */
async function listen(path: string, who: Visitor) {
  const response = await fetch(`${gateway.platformUrl}${path}`, { headers: who.headers });
  expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
  const stream = response.body?.pipeThrough(new TextDecoderStream());
  if (stream === undefined) throw new Error("there is no stream");
  const reader = stream.getReader();
  let text = "";
  const next = async (): Promise<string | undefined> => {
    for (let end = text.indexOf("\n\n"); ; end = text.indexOf("\n\n")) {
      if (end !== -1) {
        const event = text.slice(0, end);
        text = text.slice(end + 2);
        return event;
      }
      const { done, value } = await reader.read();
      if (done) return undefined;
      text += value;
    }
  };
  expect(await next()).toBe("retry: 2000");
  return {
    next,
    /** Until this many requests were told. */
    async rows(count: number): Promise<readonly Row[]> {
      const rows: Row[] = [];
      let told = 0;
      while (rows.length < count) {
        const event = await next();
        const match = /^event: news\ndata: (.*)$/.exec(event ?? "");
        if (match === null) throw new Error(`not news: ${event}`);
        const news = JSON.parse(match[1] ?? "");
        told += news.count;
        rows.push(...news.requests);
      }
      expect(told).toBe(count);
      return rows;
    },
    close: () => reader.cancel(),
  };
}

const ofAccount = () => `/api/accounts/${gateway.account}/live`;

test("a request is told as soon as it has ended, to members without a word of vendors", async () => {
  const stream = await listen(ofAccount(), viewer);
  await other.chat();
  const reply = await gateway.call("/chat/completions", hello);
  const [row] = await stream.rows(1);
  const id = reply.headers.get("x-request-id") ?? "";
  expect(row).toMatchObject({ id, account: gateway.account, outcome: "ok" });
  const { body } = await viewer.ask("GET /api/accounts/:account/requests", { query: { id } });
  expect(body.requests).toEqual([row]);
  expect(Object.keys(row ?? {}).filter((name) => /provider|vendor|margin/.test(name))).toEqual([]);
  await stream.close();
});

test("the operator hears of all accounts, with who served", async () => {
  const stream = await listen("/api/live", operator);
  await gateway.call("/chat/completions", hello);
  await other.chat();
  const rows = await stream.rows(2);
  expect(new Set(rows.map(({ account }) => account))).toEqual(new Set([gateway.account, other.id]));
  expect(rows).toMatchObject([{ provider: "fake" }, { provider: "fake" }]);
  await stream.close();
});

const joinViewer = () => joinMember(gateway, operator, { role: "viewer" });

test("a stream says now and then that it is there, and ends where the session is past its time", async () => {
  const leaving = await joinViewer();
  jest.useFakeTimers();
  try {
    const stream = await listen(ofAccount(), leaving);
    jest.advanceTimersByTime(15_000);
    expect(await stream.next()).toBe(": still here");
    aheadMs = 91 * 86_400_000;
    jest.advanceTimersByTime(15_000);
    expect(await stream.next()).toBeUndefined();
  } finally {
    aheadMs = 0;
    jest.useRealTimers();
  }
});

test("a stream ends at once when its own session ends, and no other does", async () => {
  const [leaving, staying] = [await joinViewer(), await joinViewer()];
  const streams = [await listen(ofAccount(), leaving), await listen(ofAccount(), staying)];
  expect((await leaving.ask("DELETE /api/session")).status).toBe(200);
  expect(await streams[0]?.next()).toBeUndefined();
  await gateway.call("/chat/completions", hello);
  expect(await streams[1]?.rows(1)).toHaveLength(1);
  await streams[1]?.close();
});

test("a stream that was let in while its session ended ends at once", async () => {
  const leaving = await joinViewer();
  const { promise, resolve } = Promise.withResolvers<void>();
  const arrived = Promise.withResolvers<void>();
  beforeAccount = () => {
    arrived.resolve();
    return promise;
  };
  const opening = listen(ofAccount(), leaving);
  await arrived.promise;
  beforeAccount = undefined;
  expect((await leaving.ask("DELETE /api/session")).status).toBe(200);
  resolve();
  expect(await (await opening).next()).toBeUndefined();
});

test("a stream ends at once when the member is removed, or all sessions are ended", async () => {
  const [removed, ended] = [await joinViewer(), await joinViewer()];
  const streams = [await listen(ofAccount(), removed), await listen(ofAccount(), ended)];
  const params = { id: await idOf(removed) };
  const taken = await operator.ask("DELETE /api/accounts/:account/members/:id", { params });
  expect(taken.status).toBe(200);
  expect(await streams[0]?.next()).toBeUndefined();
  const of = { params: { id: await idOf(ended) } };
  expect((await operator.ask("DELETE /api/people/:id/sessions", of)).status).toBe(200);
  expect(await streams[1]?.next()).toBeUndefined();
});

test("who is an operator no more, but a member, has to ask anew", async () => {
  const { link } = await gateway.server.operations.operators.invite({});
  const email = "both@example.com";
  const both = await join(gateway.platformUrl, link, { email });
  const invited = await operator.ask("POST /api/accounts/:account/invites", {
    body: { role: "viewer" },
  });
  await join(gateway.platformUrl, invited.body.link, { email });
  const stream = await listen(ofAccount(), both);
  const params = { id: await idOf(both) };
  expect((await operator.ask("DELETE /api/people/:id/operator", { params })).status).toBe(200);
  expect(await stream.next()).toBeUndefined();
  const again = await listen(ofAccount(), both);
  await gateway.call("/chat/completions", hello);
  const [row] = await again.rows(1);
  expect(Object.keys(row ?? {})).not.toContain("provider");
  await again.close();
});

test("a token's stream ends at once when the token is revoked", async () => {
  const body = { name: "screen", role: "viewer", scopes: ["usage:read"] };
  const made = await operator.ask("POST /api/accounts/:account/tokens", { body });
  const stream = await listen(ofAccount(), machine(gateway.platformUrl, made.body.token));
  const params = { id: made.body.id };
  const revoked = await operator.ask("DELETE /api/accounts/:account/tokens/:id", { params });
  expect(revoked.status).toBe(200);
  expect(await stream.next()).toBeUndefined();
});

test("of eleven pages of one person the oldest ends, and nobody else's", async () => {
  const person = await joinViewer();
  const others = await listen(ofAccount(), viewer);
  const streams = [];
  for (let at = 0; at < 11; at++) streams.push(await listen(ofAccount(), person));
  expect(await streams[0]?.next()).toBeUndefined();
  await gateway.call("/chat/completions", hello);
  for (const stream of [others, ...streams.slice(1)]) {
    expect(await stream.rows(1)).toHaveLength(1);
    await stream.close();
  }
});
