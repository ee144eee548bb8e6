import { afterAll, beforeAll, expect, jest, test } from "bun:test";
import { chatAnswers } from "../../../test/fake/recordings.ts";
import { startTestGateway, type TestGateway } from "../../../test/harness.ts";
import { hello, openPayer, type Payer } from "../../../test/money-home.ts";
import { joinMember, joinOperator, type Visitor } from "../../../test/platform-home.ts";

let gateway: TestGateway;
let operator: Visitor;
let viewer: Visitor;
let other: Payer;

beforeAll(async () => {
  gateway = await startTestGateway();
  gateway.upstream.replyWith(chatAnswers.plain());
  operator = await joinOperator(gateway);
  viewer = await joinMember(gateway, operator, { account: gateway.account, role: "viewer" });
  other = await openPayer(gateway);
});
afterAll(() => gateway.stop());

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
  const { body } = await viewer.ask("GET /api/accounts/:account/requests", {
    params: { account: gateway.account },
    query: { id },
  });
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

test("a stream ends once its session has ended", async () => {
  const leaving = await joinMember(gateway, operator, { account: gateway.account, role: "viewer" });
  jest.useFakeTimers();
  try {
    const stream = await listen(ofAccount(), leaving);
    jest.advanceTimersByTime(15_000);
    expect(await stream.next()).toBe(": still here");
    expect((await leaving.ask("DELETE /api/session")).status).toBe(200);
    jest.advanceTimersByTime(15_000);
    expect(await stream.next()).toBeUndefined();
  } finally {
    jest.useRealTimers();
  }
});

test("who is nobody, or no member, hears nothing", async () => {
  const stranger = await joinMember(gateway, operator, { account: other.id, role: "owner" });
  const params = { account: gateway.account };
  expect((await stranger.ask("GET /api/accounts/:account/live", { params })).status).toBe(404);
  expect((await stranger.ask("GET /api/live")).status).toBe(403);
  expect((await fetch(`${gateway.platformUrl}${ofAccount()}`)).status).toBe(401);
});
