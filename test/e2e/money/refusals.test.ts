/** A call is let in when its worst case is covered, and not when one nano-USD is missing. */

import { beforeEach, describe, expect, test } from "bun:test";
import { toUsd } from "../../../src/base/money.ts";
import { chatJson } from "../../fake/recordings.ts";
import { expectRefusal, refusalOf } from "../../replies/refusal.ts";
import {
  flash,
  heldCall,
  helloMost,
  moneyManifest,
  openPayer,
  type Payer,
} from "../../setup/money-home.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const gateway = useTestGateway({ manifest: moneyManifest });
beforeEach(() => {
  gateway.upstream.replyWith(chatJson());
});

const input = BigInt(helloMost) * flash.input;
const worst = (cap: number) => input + BigInt(cap) * flash.output;

/** What went upstream with the last call. */
const sent = () => gateway.upstream.requests.at(-1)?.json as Record<string, unknown>;

async function expectRefused(payer: Payer, body: Record<string, unknown>) {
  const response = await payer.chat(body);
  expect(response.headers.get("x-should-retry")).toBe("false");
  expect(response.headers.get("retry-after")).toBeNull();
  const refusal = await expectRefusal(response, { status: 402, type: "insufficient_quota" });
  expect(gateway.upstream.requests).toEqual([]);
  expect(await payer.receipts()).toEqual([]);
  expect((await payer.standing()).held).toBe(0n);
  return refusal;
}

describe("who named max_tokens", () => {
  test("is refused when one nano-USD is missing, by the numbers", async () => {
    const credit = worst(100) - 1n;
    const payer = await openPayer(gateway, { credit });
    const { code, message } = await expectRefused(payer, { max_tokens: 100 });
    expect(code).toBe("insufficient_quota");
    expect(message).toContain(`up to ${toUsd(worst(100))} USD`);
    expect(message).toContain(`${toUsd(credit)} USD available and 0.00 USD held`);
    expect(message).toContain("or ask the operator to add credit.");
  });

  test("for eight answers needs eight times as much", async () => {
    const payer = await openPayer(gateway, { credit: input + 800n * flash.output });
    await expectRefused(payer, { max_tokens: 101, n: 8 });
    expect((await payer.chat({ max_tokens: 100, n: 8 })).status).toBe(200);
    expect((await payer.receipt()).hold).toBe(input + 800n * flash.output);
  });
});

test("the message counts what running calls hold", async () => {
  const payer = await openPayer(gateway, { credit: worst(100) + 5n });
  const running = await heldCall(gateway, () => payer.chat({ max_tokens: 100 }), chatJson());
  expect(await payer.standing()).toMatchObject({ held: worst(100), free: 5n });
  const { message } = await refusalOf(payer.chat({ max_tokens: 100 }));
  expect(message).toContain(`${toUsd(5n)} USD available and ${toUsd(worst(100))} USD held`);
  expect((await running.answer()).status).toBe(200);
  await payer.settled(1);
});

test("the account `default` is told the command that adds credit", async () => {
  const payer = await openPayer(gateway, { credit: 0n, name: "default" });
  const { message } = await expectRefused(payer, { max_tokens: 1 });
  expect(message).toEndWith("or add credit: svc account credit default 5 --reference top-up-1");
});

test("a spent budget says whose it is, what it is, and what is left of it", async () => {
  const payer = await openPayer(gateway, { budget: `${toUsd(worst(100) - 1n)}/month` });
  const { code, message } = await expectRefused(payer, { max_tokens: 100 });
  expect(code).toBe("budget_exceeded");
  expect(message).toContain(`up to ${toUsd(worst(100))} USD`);
  const left = toUsd(worst(100) - 1n);
  expect(message).toContain(
    `the key's monthly budget of ${left} USD has ${left} USD left and 0.00 USD held`,
  );
});

describe("who named no length gets a shorter answer for want of money, and is told:", () => {
  test("at most half of what is free", async () => {
    const payer = await openPayer(gateway, { credit: 10_000_000n });
    const response = await payer.chat();
    expect(Number((10_000_000n / 2n - input) / flash.output)).toBe(1_989);
    expect(response.headers.get("x-svc-max-tokens")).toBe("1989");
    expect(sent()["max_tokens"]).toBe(1_989);
    expect((await payer.receipt()).hold).toBe(worst(1_989));
  });

  test("and one nano-USD less is refused, naming the whole need", async () => {
    const payer = await openPayer(gateway, { credit: worst(256) - 1n });
    const { message } = await expectRefused(payer, {});
    expect(message).toContain(`up to ${toUsd(worst(8_192))} USD`);
  });

  test("out of a budget too", async () => {
    const payer = await openPayer(gateway, { budget: toUsd(10_000_000n) });
    const response = await payer.chat();
    expect(response.headers.get("x-svc-max-tokens")).toBe("1989");
    expect((await payer.receipt()).hold).toBe(worst(1_989));
  });
});

describe("the one cap that goes upstream", () => {
  const caps = [
    [{ max_tokens: 50, max_completion_tokens: 30 }, 30],
    [{ max_tokens: 30, max_completion_tokens: 50 }, 30],
    [{ max_tokens: 100_000 }, 8_192],
  ] as const;
  for (const [named, cap] of caps)
    test(`for ${JSON.stringify(named)} is ${cap}`, async () => {
      const payer = await openPayer(gateway);
      expect((await payer.chat(named)).status).toBe(200);
      expect(sent()["max_tokens"]).toBe(cap);
      expect(sent()).not.toHaveProperty("max_completion_tokens");
      expect((await payer.receipt()).hold).toBe(worst(cap));
    });

  test("for a model that names no maximum is 4096", async () => {
    const payer = await openPayer(gateway);
    expect((await payer.chat({ model: "vendor/with-slash" })).status).toBe(200);
    expect(sent()["max_tokens"]).toBe(4_096);
    expect((await payer.receipt()).hold).toBe(BigInt(helloMost + 4_096) * 1_000n);
  });

  test("for a model that costs nothing is what the caller named, or none", async () => {
    const payer = await openPayer(gateway, { credit: 0n });
    expect((await payer.chat({ model: "svc-2-flash" })).status).toBe(200);
    expect(sent()).not.toHaveProperty("max_tokens");
    expect((await payer.chat({ model: "svc-2-flash", max_tokens: 9 })).status).toBe(200);
    expect(sent()["max_tokens"]).toBe(9);
    for (const { hold, cost, charged, units } of await payer.settled(2)) {
      expect([hold, cost, charged]).toEqual([0n, 0n, 0n]);
      expect(units.output).toBe(10);
    }
  });
});

test("a model that costs nothing is served although a lowered budget is overspent", async () => {
  const payer = await openPayer(gateway, { budget: "1" });
  expect((await payer.chat({ max_tokens: 100 })).status).toBe(200);
  await gateway.server.operations.keys.setLimits({ id: payer.keyId, budget: "0.000000001" });
  expect((await payer.chat({ model: "svc-2-flash" })).status).toBe(200);
});
