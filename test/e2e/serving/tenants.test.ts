/** What one account sends never takes a target from the others. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { RecordedRequest } from "../../fake/exchange.ts";
import { chatAnswers, failures } from "../../fake/recordings.ts";
import { openPayer, type Payer, waitUntil } from "../../setup/money-home.ts";
import { type ServingHome, startServing } from "../../setup/serving-home.ts";

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

const only = { model: "only" };
const poison = { ...only, messages: [{ role: "user", content: "POISON" }] };
const isPoison = ({ body }: RecordedRequest) => body.includes("POISON");
/** What the gateway sends on its own account. */
const isProbe = ({ body }: RecordedRequest) => !body.includes("Say hello");
const probes = () =>
  home.first.requests.filter((request) => !isPoison(request) && isProbe(request));
const state = async () => (await home.targets("first"))["m1"]?.state;
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
    expect(await state()).toBe("closed");
  });

  test("nor where it alone calls: one probe shows that the target works, and costs nobody", async () => {
    home.first.replyWith(answerUnlessPoisoned);
    for (let call = 0; call < 10; call++) expect((await hostile.chat(poison)).status).toBe(502);
    await waitUntil("the probe", async () => probes().length === 1);
    for (let call = 0; call < 10; call++) expect((await hostile.chat(poison)).status).toBe(502);
    expect((await other.chat(only)).status).toBe(200);
    expect(await state()).toBe("closed");
    expect(probes().length).toBe(1);
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
    expect(await state()).toBe("open");
    expect(probes().length).toBe(0);
  });

  test("when only one account calls and the probe fails as well", async () => {
    home.first.replyWith(failures.internal());
    for (let call = 0; call < 2; call++) await other.chat(only);
    await waitUntil("out of service", async () => (await state()) === "open");
    expect(probes().length).toBe(1);
  });
});
