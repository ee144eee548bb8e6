/** Suspended accounts, and budgets by the day and the month, on a clock that the tests move. */

import { beforeEach, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { join } from "node:path";
import { toUsd } from "../../../src/base/money.ts";
import { openLedgerReader } from "../../../src/store/sqlite/ledger/reader.ts";
import { usageOf } from "../../fake/openai/chat-json.ts";
import { chatJson } from "../../fake/recordings.ts";
import { expectRefusal, refusalOf } from "../../replies/refusal.ts";
import {
  clockAt,
  flash,
  heldCall,
  hello,
  helloMost,
  ledgerProblems,
  openPayer,
  type Payer,
  waitUntil,
} from "../../setup/money-home.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const cap = 10;
/** Each call uses all that is held for it. */
const cost = BigInt(helloMost) * flash.input + BigInt(cap) * flash.output;
const reply = chatJson({ usage: usageOf({ prompt: helloMost, completion: cap }) });

const clock = clockAt("2028-02-28T23:59:59.999Z");
const gateway = useTestGateway({ clock });
/** Each test has a leap year of its own, because the clock of a server must not go back. */
let year = 2024;
/** So many years after the test's own. */
const at = (moment: string, years = 0) => `${year + years}-${moment}`;

beforeEach(() => {
  // 2100 has no leap day.
  year += year === 2096 ? 8 : 4;
  clock.set(at("02-28T23:59:59.999Z"));
  gateway.upstream.replyWith(reply);
});

const ask = async (payer: Payer) => {
  const response = await payer.chat({ max_tokens: cap });
  return response.status === 200 ? "served" : (await refusalOf(response)).code;
};

describe("a budget of one call", () => {
  const periods: Readonly<Record<string, readonly (readonly [string, number, string])[]>> = {
    day: [
      ["02-28T23:59:59.999Z", 0, "served"],
      ["02-28T23:59:59.999Z", 0, "budget_exceeded"],
      ["02-29T00:00:00.000Z", 0, "served"],
      ["02-29T23:59:59.999Z", 0, "budget_exceeded"],
      ["03-01T00:00:00.000Z", 0, "served"],
      ["03-01T12:00:00.000Z", 0, "budget_exceeded"],
      ["03-01T12:00:00.000Z", 1, "served"],
    ],
    month: [
      ["02-28T23:59:59.999Z", 0, "served"],
      ["02-29T12:00:00.000Z", 0, "budget_exceeded"],
      ["02-29T23:59:59.999Z", 0, "budget_exceeded"],
      ["03-01T00:00:00.000Z", 0, "served"],
      ["03-31T23:59:59.999Z", 0, "budget_exceeded"],
      ["04-01T00:00:00.000Z", 0, "served"],
      ["12-31T23:59:59.999Z", 0, "served"],
      ["01-01T00:00:00.000Z", 1, "served"],
    ],
    total: [
      ["02-28T23:59:59.999Z", 0, "served"],
      ["02-29T00:00:00.000Z", 0, "budget_exceeded"],
      ["01-01T00:00:00.000Z", 2, "budget_exceeded"],
    ],
  };
  for (const [period, moments] of Object.entries(periods))
    for (const owner of ["key", "account"])
      test(`a ${period}, of the ${owner}`, async () => {
        const budget = `${toUsd(cost)}${period === "total" ? "" : `/${period}`}`;
        const payer = await openPayer(gateway, owner === "key" ? { budget } : {});
        if (owner === "account")
          await gateway.server.operations.accounts.setLimits({ account: payer.id, budget });
        const seen: string[] = [];
        for (const [moment, years] of moments) {
          clock.set(at(moment, years));
          seen.push(await ask(payer));
        }
        expect(seen).toEqual(moments.map(([, , expected]) => expected));
        await payer.settled(seen.filter((word) => word === "served").length);
      });

  test("in which a key has less left than its account is refused by the key's, and the other way round", async () => {
    const payer = await openPayer(gateway, { budget: toUsd(3n * cost) });
    const { operations } = gateway.server;
    await operations.accounts.setLimits({ account: payer.id, budget: `${toUsd(2n * cost)}/day` });
    expect([await ask(payer), await ask(payer), await ask(payer)]).toEqual([
      "served",
      "served",
      "budget_exceeded",
    ]);
    const { message } = await refusalOf(payer.chat({ max_tokens: cap }));
    expect(message).toContain(`the account's daily budget of ${toUsd(2n * cost)} USD`);
    clock.set(at("02-29T00:00:00Z"));
    expect([await ask(payer), await ask(payer)]).toEqual(["served", "budget_exceeded"]);
    const second = await refusalOf(payer.chat({ max_tokens: cap }));
    expect(second.message).toContain(`the key's budget of ${toUsd(3n * cost)} USD`);
    await payer.settled(3);
  });
});

describe("a budget that is set while calls run", () => {
  const running = 8;
  const runCalls = async (payer: Payer) => {
    const calls: Awaited<ReturnType<typeof heldCall>>[] = [];
    for (let call = 0; call < running; call++)
      calls.push(await heldCall(gateway, () => payer.chat({ max_tokens: cap }), reply));
    return calls;
  };
  const setBudget = (payer: Payer, owner: string, budget: string) =>
    owner === "key"
      ? gateway.server.operations.keys.setLimits({ id: payer.keyId, budget })
      : gateway.server.operations.accounts.setLimits({ account: payer.id, budget });

  for (const owner of ["key", "account"])
    for (const period of ["", "/day", "/month"])
      test(`counts them: of the ${owner}, ${period === "" ? "in total" : `per ${period.slice(1)}`}`, async () => {
        const payer = await openPayer(gateway);
        expect(await ask(payer)).toBe("served");
        const calls = await runCalls(payer);
        await setBudget(payer, owner, `${toUsd(3n * cost)}${period}`);
        expect(await ask(payer)).toBe("budget_exceeded");
        for (const call of calls) expect((await call.answer()).status).toBe(200);
        expect(await ask(payer)).toBe("budget_exceeded");
        const all = BigInt(running + 1);
        await setBudget(payer, owner, `${toUsd((all + 1n) * cost)}${period}`);
        expect([await ask(payer), await ask(payer)]).toEqual(["served", "budget_exceeded"]);
        await payer.settled(running + 2);
        const ownerId = owner === "key" ? payer.keyId : payer.id;
        expect(await budgetRows(ownerId)).toEqual([(all + 1n) * cost]);
      });

  test("counts each of them once, also when it changes its period, goes and comes back", async () => {
    const payer = await openPayer(gateway);
    const calls = await runCalls(payer);
    for (const budget of ["1/day", "1/month", "none", "1", "2/day", "none", "1/day"])
      await setBudget(payer, "account", budget);
    for (const call of calls) expect((await call.answer()).status).toBe(200);
    await payer.settled(running);
    const { budget } = await gateway.server.operations.accounts.show({ account: payer.id });
    expect(budget?.spent_usd).toBe(toUsd(BigInt(running) * cost));
    expect(await budgetRows(payer.id, at("02-28"))).toEqual([BigInt(running) * cost]);
  });

  test("counts exactly the calls that there are, whatever ends or begins at that moment", async () => {
    const payer = await openPayer(gateway);
    const calls: Promise<Response>[] = [];
    const ownerOf = (round: number) => (round % 2 === 0 ? "key" : "account");
    for (let round = 0; round < 24; round++) {
      for (let call = 0; call < 6; call++) calls.push(payer.chat({ max_tokens: cap }));
      const budget = ["9/day", "9/month", "none", "9", "8/day"][round % 5] ?? "none";
      const changed = setBudget(payer, ownerOf(round), budget);
      for (let turn = 0; turn < round % 4; turn++)
        await new Promise((resolve) => setImmediate(resolve));
      calls.push(payer.chat({ max_tokens: cap }));
      await changed;
    }
    for (const owner of ["key", "account"]) await setBudget(payer, owner, "9/day");
    for (const call of calls) expect((await call).status).toBe(200);
    await payer.settled(calls.length);
    const spent = BigInt(calls.length) * cost;
    for (const id of [payer.keyId, payer.id])
      expect(await budgetRows(id, at("02-28"))).toEqual([spent]);
    const { budget } = await gateway.server.operations.accounts.show({ account: payer.id });
    expect(budget?.spent_usd).toBe(toUsd(spent));
  });

  /** What is written of an owner's budget, in all periods or in that of a day. */
  const budgetRows = async (ownerId: string, day?: string) => {
    const reader = openLedgerReader(join(gateway.dataDir, "svc.db"));
    try {
      return (await reader.budgetSpends())
        .filter(
          (row) =>
            row.ownerId === ownerId &&
            (day === undefined || row.periodStartMs === Date.parse(`${day}T00:00:00Z`)),
        )
        .map(({ spent }) => spent);
    } finally {
      await reader.close();
    }
  };
});

test("a call that began before midnight is charged to the day it was let in", async () => {
  const payer = await openPayer(gateway, { budget: `${toUsd(cost)}/day` });
  const running = await heldCall(gateway, () => payer.chat({ max_tokens: cap }), reply);
  clock.set(at("02-29T00:00:00.001Z"));
  // Nothing of the new day is held or spent.
  expect(await ask(payer)).toBe("served");
  expect(await ask(payer)).toBe("budget_exceeded");
  expect((await running.answer()).status).toBe(200);
  await payer.settled(2);
  expect(await ask(payer)).toBe("budget_exceeded");
  clock.set(at("03-01T00:00:00Z"));
  expect(await ask(payer)).toBe("served");
  await payer.settled(3);
});

describe("while the body of a request is on its way", () => {
  /** A call whose head and half of whose body are there; the rest waits for the test. */
  async function beginSlowly(key: string): Promise<{ finish(): Promise<string> }> {
    const body = JSON.stringify({ ...hello, max_tokens: cap });
    const socket = connect({ host: "127.0.0.1", port: Number(new URL(gateway.origin).port) });
    const head = [
      "POST /v1/chat/completions HTTP/1.1",
      "host: gateway",
      "connection: close",
      `authorization: Bearer ${key}`,
      "content-type: application/json",
      "transfer-encoding: chunked",
    ].join("\r\n");
    const ended = new Promise<string>((resolve, reject) => {
      let all = "";
      socket.on("data", (bytes) => {
        all += bytes.toString();
      });
      socket.on("end", () => resolve(all));
      socket.on("error", reject);
    });
    const half = body.slice(0, 20);
    const before = clock.reads;
    socket.write(`${head}\r\n\r\n${half.length.toString(16)}\r\n${half}\r\n`);
    // A request looks at the clock when it begins.
    await waitUntil("the request to begin", () => clock.reads > before);
    return {
      async finish() {
        const rest = body.slice(20);
        socket.write(`${rest.length.toString(16)}\r\n${rest}\r\n0\r\n\r\n`);
        const text = await ended;
        socket.destroy();
        return text;
      },
    };
  }

  test("midnight passes: the books add up", async () => {
    const payer = await openPayer(gateway, { budget: `${toUsd(2n * cost)}/day` });
    const call = await beginSlowly(payer.key);
    clock.set(at("02-29T00:00:00.000Z"));
    expect(await call.finish()).toStartWith("HTTP/1.1 200");
    const [receipt] = await payer.receipts();
    expect(receipt?.durationMs).toBe(1);
    expect(await ledgerProblems(gateway)).toEqual([]);
  });

  test.each(["revoke", "pause"] as const)("the key is ended (%s): it is refused", async (end) => {
    const payer = await openPayer(gateway);
    const call = await beginSlowly(payer.key);
    await gateway.server.operations.keys[end]({ id: payer.keyId });
    expect(await call.finish()).toContain("invalid_api_key");
    expect(gateway.upstream.requests).toBeEmpty();
  });

  test("the budget is lowered: it holds", async () => {
    const payer = await openPayer(gateway, { budget: "5" });
    const call = await beginSlowly(payer.key);
    await gateway.server.operations.keys.setLimits({ id: payer.keyId, budget: "0.000000001" });
    expect(await call.finish()).toContain("budget_exceeded");
    expect(gateway.upstream.requests).toBeEmpty();
  });
});

describe("a suspended account", () => {
  test("is refused on every endpoint until it is resumed, whatever it has", async () => {
    const payer = await openPayer(gateway);
    const { operations } = gateway.server;
    await operations.accounts.suspend({ account: payer.id });
    const calls = {
      "/chat/completions": { ...hello },
      "/embeddings": { model: "svc-embedding-2", input: "x" },
      "/audio/speech": { model: "svc-2.5-flash-tts", input: "Hi", voice: "Kore" },
    };
    for (const [path, body] of Object.entries(calls)) {
      const response = await payer.call(path, body);
      expect(response.headers.get("x-should-retry")).toBe("false");
      await expectRefusal(response, { status: 402, code: "account_suspended" });
    }
    expect((await refusalOf(payer.chat({ model: "svc-2-flash" }))).code).toBe("account_suspended");
    expect(gateway.upstream.requests).toEqual([]);
    await payer.settled(0);
    await operations.accounts.resume({ account: payer.id });
    expect(await ask(payer)).toBe("served");
    await payer.settled(1);
  });

  test("pays for the call that was running", async () => {
    const payer = await openPayer(gateway);
    const running = await heldCall(gateway, () => payer.chat({ max_tokens: cap }), reply);
    await gateway.server.operations.accounts.suspend({ account: payer.id });
    expect((await running.answer()).status).toBe(200);
    expect((await payer.receipt()).charged).toBe(cost);
    expect((await payer.standing()).status).toBe("suspended");
  });
});
