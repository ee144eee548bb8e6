/** A target that fails is left out, the others serve, and the operator sees it and can put it back. */

import { afterAll, beforeAll, beforeEach, describe, expect, setSystemTime, test } from "bun:test";
import { chatAnswers, failures, operatorErrors, rateLimits } from "../../fake/recordings.ts";
import { expectRefusal } from "../../replies/refusal.ts";
import { openPayer, waitUntil } from "../../setup/money-home.ts";
import { callsTo, probesTo, type ServingHome, startServing } from "../../setup/serving-home.ts";

const lines: string[] = [];
let home: ServingHome;

beforeAll(async () => {
  home = await startServing({
    environment: { SVC_LOG_LEVEL: "info" },
    writeLog: (line) => lines.push(line),
  });
});
afterAll(() => home.stop());
beforeEach(async () => {
  await home.reset();
  lines.length = 0;
});

const messages = [{ role: "user", content: "Say hello" }];
const ask = (model: string, more: object = {}) =>
  home.gateway.call("/chat/completions", { model, messages, ...more });
const counts = () => [callsTo(home.first).length, home.second.requests.length];
const stateOf = async (provider: string, model: string) => (await home.targets(provider))[model];
const untilOut = () =>
  waitUntil("out of service", async () => (await stateOf("first", "m1"))?.state === "open");

describe("when the operator's key or money is refused, and one probe has confirmed it:", () => {
  for (const [name, reply, reason] of [
    ["401", operatorErrors.badKey, "auth"],
    ["402", operatorErrors.outOfMoney, "quota"],
    ["403", operatorErrors.forbidden, "auth"],
    ["429 of the operator's quota", operatorErrors.outOfQuota, "quota"],
  ] as const)
    test(`${name}: the next call goes to the other provider alone`, async () => {
      home.first.replyWith(reply());
      home.second.replyWith(chatAnswers.plain({ text: "from the second" }));
      expect((await ask("chat")).status).toBe(200);
      await untilOut();
      expect([...counts(), probesTo(home.first).length]).toEqual([1, 1, 1]);
      expect(await stateOf("first", "m1")).toMatchObject({ state: "open", reason });
      for (let call = 0; call < 10; call++)
        expect(await (await ask("chat")).text()).toContain("from the second");
      expect([...counts(), probesTo(home.first).length]).toEqual([1, 11, 1]);
    });
});

describe("when there is no other target", () => {
  test("the caller hears 502 and never 401, also while it is not asked; nothing of the vendor leaks", async () => {
    const payer = await openPayer(home.gateway);
    home.first.replyWith(operatorErrors.badKey());
    const { host, port } = new URL(home.first.baseUrl);
    for (let call = 0; call < 3; call++) {
      const response = await payer.chat({ model: "only", stream: call === 2 });
      const text = await response.clone().text();
      await expectRefusal(response, { status: 502, code: "upstream_unavailable" });
      for (const word of ["vendor-secret", "vendor", "first", "m1", host, port, "401", "API key"])
        expect(`${text}${[...response.headers.values()].join("\n")}`).not.toContain(word);
      await untilOut();
    }
    expect(callsTo(home.first).length).toBe(1);
    const receipts = await payer.settled(3);
    expect(receipts.map(({ charged, outcome }) => [charged, outcome])).toEqual(
      Array.from({ length: 3 }, () => [0n, "upstream_unavailable"]),
    );
    // The first was asked; the others were not, and tell why.
    const why = "first returned 401 (invalid_api_key invalid_request_error))";
    expect(
      receipts.map(({ attempts }) => attempts.replace(/another \d+ s/, "another N s")),
    ).toEqual([
      `first/m1 upstream_unavailable (${why}`,
      `none: upstream_unavailable (skipped for another N s: ${why}`,
      `none: upstream_unavailable (skipped for another N s: ${why}`,
    ]);
    // The operator finds the reason in the log, though not the key.
    const told = lines.filter((line) => line.includes("skipped for another"));
    expect(told.length).toBe(2);
    expect(told[0]).toContain("first returned 401");
    expect(lines.join("")).not.toContain("vendor-secret");
  });

  test("one that failed five times is left out, and 502 told without asking", async () => {
    const payer = await openPayer(home.gateway);
    home.first.replyWith(failures.internal());
    await ask("only");
    await payer.chat({ model: "only" });
    // Three times for the first call, and two for the second, which is another account's.
    expect(await stateOf("first", "m1")).toMatchObject({ state: "open" });
    expect(home.first.requests.length).toBe(5);
    await expectRefusal(ask("only"), { status: 502, code: "upstream_error" });
    expect(home.first.requests.length).toBe(5);
  });

  test("one that is limited is told as limited, with the time that is left", async () => {
    home.first.replyWith(rateLimits.seconds(50));
    for (let call = 0; call < 3; call++) {
      const response = await ask("only");
      expect(response.status).toBe(429);
      expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(40);
    }
    expect(home.first.requests.length).toBe(1);
    expect(await stateOf("first", "m1")).toMatchObject({ state: "resting", reason: "limited" });
  });
});

describe("what callers do wrong is not held against a target:", () => {
  test("leaving", async () => {
    const leave = new AbortController();
    home.first.replyWith([{ hang: true }]);
    const arrivals = Array.from({ length: 8 }, () => home.first.nextRequest());
    const calls = arrivals.map(() =>
      home.gateway.call(
        "/chat/completions",
        { model: "chat", messages, stream: true },
        { signal: leave.signal },
      ),
    );
    for (const call of calls) call.catch(() => {});
    const requests = await Promise.all(arrivals);
    leave.abort();
    for (const request of requests) await request.closed;
    home.first.replyWith(chatAnswers.plain());
    expect((await ask("chat")).status).toBe(200);
    expect(await stateOf("first", "m1")).toMatchObject({ state: "closed", failures: 0 });
  });
});

describe("a target comes back", () => {
  test("by hand: the next call asks it", async () => {
    home.first.replyWith(operatorErrors.badKey());
    home.second.replyWith(chatAnswers.plain());
    await ask("chat");
    home.first.replyWith(chatAnswers.plain({ text: "from the first" }));
    expect(await home.gateway.server.operations.providers.reset({ name: "first" })).toEqual({
      targets: 1,
    });
    expect(await stateOf("first", "m1")).toMatchObject({ state: "closed", reason: null });
    expect(await (await ask("chat")).text()).toContain("from the first");
    const told = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(
      told
        .filter(({ provider }) => provider === "first")
        .map(({ message, reason }) => [message, reason]),
    ).toEqual([
      ["target out of service", "auth"],
      ["target back in service", null],
    ]);
  });

  test("by itself: one call tries it when its time has come, and all are served again", async () => {
    home.first.replyWith(failures.internal());
    home.second.replyWith(chatAnswers.plain({ text: "from the second" }));
    while ((await stateOf("first", "m1"))?.state !== "open") await ask("chat");
    home.first.replyWith(chatAnswers.plain({ text: "from the first" }));
    const asked = home.first.requests.length;
    expect(await (await ask("chat")).text()).toContain("from the second");
    setSystemTime(new Date(Date.now() + 600_000));
    try {
      expect(await stateOf("first", "m1")).toMatchObject({ state: "half-open" });
      expect(home.first.requests.length).toBe(asked);
      expect(await (await ask("chat")).text()).toContain("from the first");
      expect(await stateOf("first", "m1")).toMatchObject({ state: "closed" });
    } finally {
      setSystemTime();
    }
  });

  test("with another key or address, at once; other providers stay as they are", async () => {
    const own = await startServing();
    try {
      for (const upstream of [own.first, own.second]) upstream.replyWith(operatorErrors.badKey());
      const call = () => own.gateway.call("/chat/completions", { model: "chat", messages });
      expect((await call()).status).toBe(502);
      const { operations } = own.gateway.server;
      const { yaml } = await operations.manifest.export({});
      own.first.replyWith(chatAnswers.plain());
      await operations.manifest.apply({
        text: yaml.replace("${FAKE_KEY}", "${OTHER_KEY}"),
        file: "svc.yaml",
        dryRun: false,
      });
      expect((await call()).status).toBe(200);
      expect(own.first.requests.at(-1)?.headers["authorization"]).toBe("Bearer second-secret");
      expect((await own.targets("second"))["m2"]).toMatchObject({ state: "open" });
    } finally {
      await own.stop();
    }
  });
});

test("with SVC_BREAKERS=off every call asks the first again", async () => {
  const own = await startServing({ environment: { SVC_BREAKERS: "off" } });
  try {
    own.first.replyWith(operatorErrors.badKey());
    own.second.replyWith(chatAnswers.plain());
    for (let call = 0; call < 8; call++)
      await own.gateway.call("/chat/completions", { model: "chat", messages });
    expect([own.first.requests.length, own.second.requests.length]).toEqual([8, 8]);
  } finally {
    await own.stop();
  }
});
