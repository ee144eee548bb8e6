/** What one account sends takes no target from the others, whatever the vendor has to say of it. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { chatAnswers, errorReply, failures, vendorError } from "../../fake/recordings.ts";
import type { RecordedRequest } from "../../fake/upstream.ts";
import { expectRefusal } from "../../replies/refusal.ts";
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

const filtered = { code: "permission-denied", error: "Content violates usage guidelines. " };
const toolless = { error: { message: "No endpoints found that support tool use.", code: 404 } };
const ownFault = (status: number, code: string) => ({ status, code });

test.each([
  ["403 for its content", 403, filtered, ownFault(400, "content_filtered")],
  ["404 for its tools", 404, toolless, ownFault(400, "upstream_rejected")],
  ["a bare 403", 403, {}, ownFault(502, "upstream_unavailable")],
  ["500", 500, { error: { message: "no" } }, ownFault(502, "upstream_error")],
])("a prompt that a vendor answers with %s takes the target from nobody", async (...row) => {
  const [, status, body, refusal] = row;
  home.first.replyWith((request) =>
    isPoison(request) ? errorReply({ status, body }) : chatAnswers.plain(),
  );
  for (let call = 0; call < 12; call++) {
    await expectRefusal(hostile.chat(poison), refusal);
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
  await expectRefusal(response, { code: "upstream_rate_limited" });
  expect((await other.chat(only)).status).toBe(200);
  expect(callsTo(home.first).length).toBe(2);
  expect(await health()).toMatchObject({ state: "closed", failures: 0 });
});

/** A healthy server that cannot read one kind of input. */
const answerUnlessPoisoned = (request: RecordedRequest) =>
  isPoison(request) ? failures.internal() : chatAnswers.plain();

describe("an account whose inputs make an upstream answer 500", () => {
  test("is not taken out where it alone calls: one probe shows that the target works, and costs nobody", async () => {
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
