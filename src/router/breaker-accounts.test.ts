import { describe, expect, test } from "bun:test";
import { failure } from "../../test/setup/router-home.ts";
import { ApiError, type UpstreamReason } from "../base/errors.ts";
import { Breaker, type Probed } from "./breaker.ts";

/** A target that several accounts call, and whose probes end when the test says so. */
class Shared {
  nowMs = 1_000_000;
  readonly probes: ((error?: ApiError) => Promise<void>)[] = [];
  readonly breaker = new Breaker({
    provider: "p",
    model: "m",
    key: undefined,
    isEnabled: true,
    onChange: () => {},
    probe: () => {
      const { promise, resolve } = Promise.withResolvers<Probed>();
      this.probes.push(async (error) => {
        resolve({ error, nowMs: this.nowMs });
        await promise;
      });
      return promise;
    },
  });

  get state(): string {
    return this.breaker.view(this.nowMs).state;
  }

  succeed(accountId: string, times = 1): this {
    for (let time = 0; time < times; time++)
      this.breaker.succeed(accountId, this.nowMs, this.breaker.begin());
    return this;
  }

  fail(accountId: string, times = 1, reason: UpstreamReason = "failed", hasBegun = false): this {
    for (let time = 0; time < times; time++) {
      const trial = this.breaker.begin();
      const call = { accountId, nowMs: this.nowMs, trial, hasBegun };
      this.breaker.fail(failure(reason), call);
    }
    return this;
  }

  pass(ms: number): this {
    this.nowMs += ms;
    return this;
  }

  /** Out of service, by two accounts, and due for a trial. */
  open(): this {
    this.fail("a", 4).fail("b");
    expect(this.state).toBe("open");
    return this.pass(5_000);
  }
}

const reply = (upstream: NonNullable<ApiError["upstream"]>) =>
  new ApiError({ code: "upstream_error", message: "words", upstream });

describe("failures that an input can cause", () => {
  for (const [what, reason, hasBegun] of [
    ["replies that fail", "failed", false],
    ["an overload without a time", "overloaded", false],
    ["streams that break off", "unreachable", true],
  ] as const)
    test(`open a target only when two accounts have them: ${what}`, () => {
      const target = new Shared().fail("a", 30, reason, hasBegun);
      expect(target.state).toBe("closed");
      expect(target.fail("b", 1, reason, hasBegun).state).toBe("open");
    });

  test("open a target only when a probe has them too: a model that is not found", async () => {
    const target = new Shared().fail("a", 4, "missing").fail("b", 9, "missing");
    expect([target.state, target.probes.length]).toEqual(["closed", 1]);
    await target.probes[0]?.(reply({ reason: "missing" }));
    expect(target.state).toBe("open");
  });

  test("of two accounts count together only within half a minute", () => {
    const target = new Shared().fail("a", 4).pass(30_001);
    expect(target.fail("b", 5).state).toBe("closed");
    expect(target.fail("a").state).toBe("open");
  });

  test("of one account that fails again and again are never those of two", () => {
    const target = new Shared().fail("a").pass(5_000).fail("b").pass(29_000);
    expect(target.fail("b", 20).state).toBe("closed");
  });

  test("ask for no probe while others are served", () => {
    const target = new Shared();
    for (let round = 0; round < 30; round++) target.fail("a", 3).succeed("b");
    expect([target.state, target.probes.length]).toEqual(["closed", 0]);
  });

  test("are not excused by what the account itself was served, nor by what others were before", () => {
    const target = new Shared().succeed("b").pass(1).fail("a", 4).succeed("a").fail("a", 5);
    expect(target.probes.length).toBe(1);
  });
});

for (const reason of ["unreachable", "timeout"] as const)
  test(`no input causes it, so that one account is enough: ${reason}`, () => {
    expect(new Shared().fail("a", 4, reason).state).toBe("closed");
    expect(new Shared().fail("a", 5, reason).state).toBe("open");
    // What an input causes does not add to it.
    const target = new Shared().fail("a", 20).fail("a", 4, reason);
    expect(target.state).toBe("closed");
    expect(target.fail("a", 1, reason).state).toBe("open");
  });

describe("a probe", () => {
  test("is asked for where one account fails; until it ends the target is in service", async () => {
    const target = new Shared().fail("a", 20);
    expect([target.state, target.probes.length]).toEqual(["closed", 1]);
    expect(target.breaker.mayAsk(target.nowMs)).toBe(true);
    await target.probes[0]?.(failure("failed"));
    expect(target.state).toBe("open");
  });

  test("that is served clears the account's failures, and is not repeated within a minute", async () => {
    const target = new Shared().fail("a", 5);
    await target.probes[0]?.();
    expect(target.breaker.view(target.nowMs)).toMatchObject({ state: "closed", failures: 0 });
    target.fail("a", 20).pass(59_000).fail("a", 20);
    expect([target.state, target.probes.length]).toEqual(["closed", 1]);
    target.pass(1_000).fail("a", 5);
    expect(target.probes.length).toBe(2);
  });

  test("has no say after the target was put back by hand", async () => {
    const target = new Shared().fail("a", 5);
    target.breaker.close(target.nowMs);
    await target.probes[0]?.(failure("failed"));
    expect(target.state).toBe("closed");
  });

  test("says what is wrong in its own words", async () => {
    const target = new Shared().fail("a", 5);
    await target.probes[0]?.(failure("auth"));
    expect(target.breaker.view(target.nowMs)).toMatchObject({ state: "open", reason: "auth" });
  });
});

describe("a trial that fails by what it asks", () => {
  test("leaves the word to a probe, so that nobody keeps a target out of service", async () => {
    const target = new Shared().open().fail("a");
    expect(target.probes.length).toBe(1);
    // The probe is the trial: no call is made meanwhile.
    expect(target.breaker.mayAsk(target.nowMs)).toBe(false);
    await target.probes[0]?.();
    expect(target.state).toBe("closed");
  });

  test("opens the target for longer where the probe fails too", async () => {
    const target = new Shared().open().fail("a");
    await target.probes[0]?.(failure("failed"));
    expect(target.breaker.openMs(target.nowMs)).toBe(10_000);
  });

  test("and a connection that fails needs no probe", () => {
    const target = new Shared().open().fail("a", 1, "unreachable");
    expect([target.state, target.probes.length]).toEqual(["open", 0]);
  });
});

describe("words that blame the key or the credit", () => {
  for (const reason of ["auth", "quota"] as const) {
    test(`are confirmed by a probe before anybody else is refused: ${reason}`, async () => {
      const target = new Shared().succeed("b").pass(60_000).fail("a", 1, reason);
      expect([target.state, target.probes.length]).toEqual(["closed", 1]);
      expect(target.breaker.mayAsk(target.nowMs)).toBe(true);
      await target.probes[0]?.(failure(reason));
      expect(target.breaker.view(target.nowMs)).toMatchObject({ state: "open", reason });
      expect(target.breaker.openMs(target.nowMs)).toBe(30_000);
    });

    test(`caused by one account's inputs take the target from nobody: ${reason}`, async () => {
      const target = new Shared().fail("a", 1, reason);
      await target.probes[0]?.();
      target.fail("a", 30, reason).succeed("b").pass(5_000).fail("a", 30, reason);
      expect([target.state, target.probes.length]).toEqual(["closed", 1]);
    });
  }

  test("ask for no further probe while another account is served", () => {
    const target = new Shared().fail("a").succeed("b").fail("a", 30, "auth");
    expect([target.state, target.probes.length]).toEqual(["closed", 0]);
  });

  test("from two accounts are looked into again within seconds of a probe that was served", async () => {
    const target = new Shared().fail("a", 1, "auth");
    await target.probes[0]?.();
    target.fail("a", 5, "auth").fail("b", 5, "auth");
    expect([target.state, target.probes.length]).toEqual(["closed", 1]);
    target.pass(10_000).fail("b", 1, "auth");
    expect([target.state, target.probes.length]).toEqual(["closed", 2]);
    await target.probes[1]?.(failure("auth"));
    expect(target.state).toBe("open");
  });

  test("in a trial leave the word to a probe", async () => {
    const target = new Shared().open().fail("a", 1, "auth");
    expect(target.probes.length).toBe(1);
    await target.probes[0]?.();
    expect(target.state).toBe("closed");
  });
});

test("what one account's repeats use up is not taken from the others", () => {
  const target = new Shared().fail("a");
  const repeat = (accountId: string) => {
    let count = 0;
    while (target.breaker.mayRepeat(target.nowMs, accountId) && count < 100) {
      target.breaker.repeat(accountId);
      count++;
    }
    return count;
  };
  expect(repeat("a")).toBe(3);
  expect(repeat("b")).toBe(3);
  expect([repeat("a"), repeat("b"), repeat("c")]).toEqual([0, 0, 0]);
});

describe("what one account is answered", () => {
  const answer = (target: Shared, accountId: string, error: ApiError) => {
    const trial = target.breaker.begin();
    target.breaker.fail(error, { accountId, nowMs: target.nowMs, trial, hasBegun: false });
  };

  test("with 504 does not take the target from others; our own timeouts do", () => {
    const told = new Shared().succeed("b");
    for (let time = 0; time < 30; time++)
      answer(told, "a", reply({ reason: "timeout", isReply: true }));
    expect(told.succeed("b").state).toBe("closed");
    const silent = new Shared().succeed("b");
    for (let time = 0; time < 30; time++) answer(silent, "a", reply({ reason: "timeout" }));
    expect(silent.state).toBe("open");
  });

  for (const reason of ["auth", "quota"] as const)
    test(`with a status that may blame the key or the credit counts like any other failure: ${reason}`, async () => {
      const inDoubt = reply({ reason, isReply: true });
      const alone = new Shared();
      for (let time = 0; time < 4; time++) answer(alone, "a", inDoubt);
      expect([alone.state, alone.probes.length]).toEqual(["closed", 0]);
      for (let time = 0; time < 30; time++) answer(alone, "a", inDoubt);
      expect([alone.state, alone.probes.length]).toEqual(["closed", 1]);
      // Two accounts can send the same prompt: the probe decides.
      for (let time = 0; time < 9; time++) answer(alone, "b", inDoubt);
      expect([alone.state, alone.probes.length]).toEqual(["closed", 1]);
      await alone.probes[0]?.(undefined);
      expect(alone.state).toBe("closed");
      const dead = new Shared();
      for (let time = 0; time < 5; time++) answer(dead, "a", inDoubt);
      await dead.probes[0]?.(inDoubt);
      expect(dead.breaker.openMs(dead.nowMs)).toBe(30_000);
    });

  test("because its request alone is over a limit puts nothing to rest", () => {
    const target = new Shared().succeed("a");
    const overLimit = reply({ reason: "limited", isReply: true, delayMs: 60_000 });
    for (let time = 0; time < 30; time++) answer(target, "a", overLimit);
    expect(target.breaker.view(target.nowMs)).toMatchObject({ state: "closed", failures: 0 });
    expect(target.breaker.mayAsk(target.nowMs)).toBe(true);
    answer(target, "a", reply({ reason: "limited", delayMs: 60_000 }));
    expect(target.state).toBe("resting");
  });

  test("with a time to come back puts it to rest for all only where it serves no others", () => {
    const overloaded = reply({ reason: "overloaded", delayMs: 300_000 });
    const alone = new Shared().succeed("a");
    answer(alone, "a", overloaded);
    expect(alone.state).toBe("resting");
    const shared = new Shared().succeed("b").succeed("a");
    answer(shared, "a", overloaded);
    expect(shared.state).toBe("closed");
    answer(shared, "b", overloaded);
    expect(shared.state).toBe("resting");
  });
});
