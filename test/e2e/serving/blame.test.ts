/** What one account sends takes no target from the others, whatever the vendor has to say of it. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import {
  chatAnswers,
  errorReply,
  failures,
  operatorErrors,
  vendorError,
} from "../../fake/recordings.ts";
import type { RecordedRequest } from "../../fake/upstream.ts";
import { refusalOf } from "../../replies/refusal.ts";
import { openPayer, type Payer, waitUntil } from "../../setup/money-home.ts";
import { callsTo, probesTo, type ServingHome, startServing } from "../../setup/serving-home.ts";

let home: ServingHome;
let hostile: Payer;
let other: Payer;

beforeAll(async () => {
  home = await startServing();
});
afterAll(() => home.stop());
beforeEach(async () => {
  await home.reset();
  [hostile, other] = [await openPayer(home.gateway), await openPayer(home.gateway)];
});

const only = { model: "only", messages: [{ role: "user", content: "Say hello" }] };
const poison = { model: "only", messages: [{ role: "user", content: "POISON" }] };
const isPoison = ({ body }: RecordedRequest) => body.includes("POISON");
const health = async () => (await home.targets("first"))["m1"];

describe("a prompt that a vendor refuses with the status of another trouble is the caller's:", () => {
  for (const [name, status, body, code] of [
    [
      "403 for its content",
      403,
      { code: "permission-denied", error: "Content violates usage guidelines. " },
      "content_filtered",
    ],
    [
      "404 for its tools",
      404,
      { error: { message: "No endpoints found that support tool use.", code: 404 } },
      "upstream_rejected",
    ],
  ] as const)
    test(name, async () => {
      home.first.replyWith((request) =>
        isPoison(request) ? errorReply({ status, body }) : chatAnswers.plain(),
      );
      for (let call = 0; call < 12; call++) {
        expect(await refusalOf(hostile.chat(poison))).toMatchObject({ status: 400, code });
        expect((await other.chat(only)).status).toBe(200);
      }
      expect(await health()).toMatchObject({ state: "closed", failures: 0 });
      expect(probesTo(home.first).length).toBe(0);
    });
});

describe("words that blame the key", () => {
  test("that one caller's prompt causes: a probe is served, and so is everybody else", async () => {
    home.first.replyWith((request) =>
      isPoison(request) ? operatorErrors.badKey() : chatAnswers.plain(),
    );
    expect(await refusalOf(hostile.chat(poison))).toMatchObject({ status: 502 });
    await waitUntil("the probe", async () => probesTo(home.first).length === 1);
    for (let call = 0; call < 12; call++) {
      expect((await hostile.chat(poison)).status).toBe(502);
      expect((await other.chat(only)).status).toBe(200);
    }
    expect(await health()).toMatchObject({ state: "closed" });
    expect(probesTo(home.first).length).toBe(1);
  });

  test("that everybody hears: a probe hears them too, and nobody asks any more", async () => {
    home.first.replyWith(operatorErrors.badKey());
    expect((await other.chat(only)).status).toBe(502);
    await waitUntil("out of service", async () => (await health())?.state === "open");
    for (const payer of [hostile, other]) expect((await payer.chat(only)).status).toBe(502);
    expect([callsTo(home.first).length, probesTo(home.first).length]).toEqual([1, 1]);
  });
});

test("a bare 403 that one caller's prompt causes takes the target from nobody", async () => {
  home.first.replyWith((request) =>
    isPoison(request) ? errorReply({ status: 403, body: {} }) : chatAnswers.plain(),
  );
  for (let call = 0; call < 12; call++) {
    expect((await hostile.chat(poison)).status).toBe(502);
    expect((await other.chat(only)).status).toBe(200);
  }
  expect(await health()).toMatchObject({ state: "closed" });
  expect(probesTo(home.first).length).toBe(0);
});

test("a request that is over a limit by itself is refused at once, and smaller ones are served", async () => {
  const overLimit = () =>
    vendorError(413, {
      message:
        "Request too large for model `m1` on tokens per minute (TPM): Limit 10, Requested 20.",
      type: "tokens",
      code: "rate_limit_exceeded",
      headers: { "retry-after": "50" },
    });
  home.first.replyWith((request) => (isPoison(request) ? overLimit() : chatAnswers.plain()));
  const response = await hostile.chat(poison);
  expect([response.status, response.headers.get("x-should-retry")]).toEqual([429, "false"]);
  expect(await refusalOf(response)).toMatchObject({ code: "upstream_rate_limited" });
  expect((await other.chat(only)).status).toBe(200);
  expect(callsTo(home.first).length).toBe(2);
  expect(await health()).toMatchObject({ state: "closed", failures: 0 });
});

/** A healthy server that cannot read one kind of input. */
const answerUnlessPoisoned = (request: RecordedRequest) =>
  isPoison(request) ? failures.internal() : chatAnswers.plain();

describe("an account whose inputs make an upstream answer 500", () => {
  test("does not take the target from another account", async () => {
    home.first.replyWith(answerUnlessPoisoned);
    const statuses: number[] = [];
    for (let round = 0; round < 30; round++) {
      const [failed, served] = await Promise.all([hostile.chat(poison), other.chat(only)]);
      expect(failed.status).toBe(502);
      statuses.push(served.status);
    }
    expect(statuses).toEqual(Array.from({ length: 30 }, () => 200));
    expect((await health())?.state).toBe("closed");
  });

  test("nor where it alone calls: one probe shows that the target works, and costs nobody", async () => {
    home.first.replyWith(answerUnlessPoisoned);
    for (let call = 0; call < 10; call++) expect((await hostile.chat(poison)).status).toBe(502);
    await waitUntil("the probe", async () => probesTo(home.first).length === 1);
    for (let call = 0; call < 10; call++) expect((await hostile.chat(poison)).status).toBe(502);
    expect((await other.chat(only)).status).toBe(200);
    expect((await health())?.state).toBe("closed");
    expect(probesTo(home.first).length).toBe(1);
    expect((await hostile.settled(20)).map(({ charged }) => charged)).toEqual(
      Array.from({ length: 20 }, () => 0n),
    );
    expect((await other.settled(1)).length).toBe(1);
  });
});

describe("a target that fails for everybody is taken out of service", () => {
  test("when a second account has the failure, without a probe", async () => {
    home.first.replyWith(failures.internal());
    for (let call = 0; call < 2; call++) {
      await hostile.chat(only);
      await other.chat(only);
    }
    expect((await health())?.state).toBe("open");
    expect(probesTo(home.first).length).toBe(0);
  });

  test("when only one account calls and the probe fails as well", async () => {
    home.first.replyWith(failures.internal());
    for (let call = 0; call < 2; call++) await other.chat(only);
    await waitUntil("out of service", async () => (await health())?.state === "open");
    expect(probesTo(home.first).length).toBe(1);
  });
});
