import { describe, expect, test } from "bun:test";
import { failure } from "../../test/setup/router-home.ts";
import { ApiError, type UpstreamReason } from "../base/errors.ts";
import type { TargetHealth } from "../catalog/health.ts";
import { Breaker } from "./breaker.ts";

/** A target on a clock that stands still unless it is moved. */
class Watched {
  nowMs = 1_000_000;
  readonly changes: TargetHealth[] = [];
  readonly breaker: Breaker;

  constructor(isEnabled = true) {
    this.breaker = new Breaker({
      provider: "p",
      model: "m",
      key: undefined,
      isEnabled,
      onChange: (health) => this.changes.push(health),
    });
  }

  get mayAsk(): boolean {
    return this.breaker.mayAsk(this.nowMs);
  }

  get state(): TargetHealth["state"] {
    return this.view.state;
  }

  get view(): TargetHealth {
    return this.breaker.view(this.nowMs);
  }

  pass(ms: number): this {
    this.nowMs += ms;
    return this;
  }

  succeed(times = 1): this {
    for (let time = 0; time < times; time++)
      this.breaker.succeed("a", this.nowMs, this.breaker.begin());
    return this;
  }

  fail(reason: UpstreamReason = "failed", times = 1, delayMs?: number): this {
    for (let time = 0; time < times; time++)
      this.end(this.breaker.begin(), failure(reason, delayMs));
    return this;
  }

  end(trial: number, error: ApiError, hasBegun = false): void {
    this.breaker.fail(error, { accountId: "a", nowMs: this.nowMs, trial, hasBegun });
  }

  /** For how long it is out from now on. */
  get outMs(): number {
    const startMs = this.nowMs;
    let ms = 0;
    while (!this.breaker.mayAsk(startMs + ms)) ms += 500;
    return ms;
  }
}

describe("a target is taken out of service", () => {
  test("when half of at least ten recent requests failed, and not at nine", () => {
    const target = new Watched();
    for (let pair = 0; pair < 4; pair++) target.fail().succeed();
    expect(target.fail().state).toBe("closed");
    target.succeed();
    for (let pair = 0; pair < 2; pair++) expect(target.succeed().state).toBe("closed");
    // Twelve requests, then thirteen and fourteen: 6 of 13 are not half, 7 of 14 are.
    expect(target.fail().state).toBe("closed");
    expect(target.fail().state).toBe("open");
    const ten = new Watched();
    for (let pair = 0; pair < 4; pair++) ten.fail().succeed();
    expect(ten.succeed().fail().state).toBe("open");
  });

  test("not when fewer than half failed, however many there were", () => {
    const target = new Watched();
    for (let round = 0; round < 100; round++) target.succeed(3).fail("failed", 2);
    expect(target.state).toBe("closed");
    expect(target.mayAsk).toBe(true);
  });

  test("for what is recent only: what failed more than ten seconds ago is forgotten", () => {
    const early = new Watched().fail("failed", 4).succeed(5).pass(9_999);
    expect(early.fail().state).toBe("open");
    const late = new Watched().fail("failed", 4).succeed(5).pass(10_000);
    expect(late.fail().state).toBe("closed");
    expect(late.view).toMatchObject({ requests: 1, failures: 1 });
  });

  test("for five seconds and the five before, which do not grow with what happens in them", () => {
    const target = new Watched().succeed(3).pass(7_000).succeed();
    expect(target.view.requests).toBe(4);
    expect(target.pass(2_999).view.requests).toBe(4);
    expect(target.pass(1).view.requests).toBe(1);
  });

  test("when five fail in a row, none more than 30 s after the one before", () => {
    const target = new Watched();
    for (let time = 0; time < 4; time++) target.fail().pass(30_000);
    expect(target.state).toBe("closed");
    expect(target.fail().state).toBe("open");
    const rare = new Watched();
    for (let time = 0; time < 20; time++) rare.fail().pass(30_001);
    expect(rare.state).toBe("closed");
  });

  test("not when one of the five succeeded", () => {
    const target = new Watched().fail("failed", 4).succeed().fail("failed", 4);
    expect(target.state).toBe("closed");
  });

  for (const reason of ["auth", "quota"] as const)
    test(`at once when it cannot work: ${reason}`, () => {
      const target = new Watched().succeed(1_000).fail(reason);
      expect(target.state).toBe("open");
      expect(target.outMs).toBe(30_000);
    });

  test("never for being limited: it is well, and says when to come back", () => {
    const target = new Watched().fail("limited", 100, 0);
    expect([target.state, target.mayAsk]).toEqual(["closed", true]);
    expect(target.view).toMatchObject({ requests: 100, failures: 0 });
  });

  test("for answers that broke off, each counted as one request", () => {
    const target = new Watched();
    for (let call = 0; call < 9; call++) {
      target.succeed();
      target.end(0, failure("failed"), true);
    }
    expect(target.view).toMatchObject({ state: "closed", requests: 9, failures: 9 });
    target.succeed();
    target.end(0, failure("failed"), true);
    expect(target.view).toMatchObject({ state: "open", requests: 10, failures: 10 });
  });

  test("never where breakers are switched off", () => {
    const target = new Watched(false).fail("auth").fail("failed", 50).fail("limited", 1, 60_000);
    expect([target.state, target.mayAsk, target.changes.length]).toEqual(["closed", true, 0]);
  });
});

describe("a target that is out", () => {
  test("is tried after its pause by one call, and no second one meanwhile", () => {
    const target = new Watched().fail("failed", 5);
    expect(target.pass(4_999).mayAsk).toBe(false);
    expect(target.state).toBe("open");
    expect(target.pass(1).mayAsk).toBe(true);
    expect(target.state).toBe("half-open");
    const trial = target.breaker.begin();
    expect(target.mayAsk).toBe(false);
    expect(target.pass(600_000).mayAsk).toBe(false);
    target.breaker.succeed("a", target.nowMs, trial);
    expect([target.mayAsk, target.state]).toEqual([true, "closed"]);
  });

  test("comes back clean: what opened it does not count towards the next time", () => {
    const target = new Watched().fail("failed", 5).pass(5_000).succeed();
    expect(target.view).toMatchObject({ state: "closed", reason: null, requests: 0, failures: 0 });
    expect(target.breaker.isClear).toBe(true);
    expect(target.fail("failed", 4).state).toBe("closed");
    expect(target.fail().outMs).toBe(5_000);
  });

  test("stays out for twice as long after each trial that fails, a minute at most", () => {
    const target = new Watched().fail("failed", 5);
    for (const outMs of [5_000, 10_000, 20_000, 40_000, 60_000, 60_000]) {
      expect(target.outMs).toBe(outMs);
      target.pass(outMs).fail();
    }
  });

  test("that cannot work stays out for half a minute, then longer, ten minutes at most", () => {
    const target = new Watched().fail("auth");
    for (const outMs of [30_000, 60_000, 120_000, 240_000, 480_000, 600_000, 600_000]) {
      expect(target.outMs).toBe(outMs);
      target.pass(outMs).fail("quota");
    }
  });

  test("stays out as long as it said itself, within the same bounds", () => {
    expect(new Watched().fail("quota", 1, 90_000).outMs).toBe(90_000);
    expect(new Watched().fail("quota", 1, 86_400_000).outMs).toBe(600_000);
    expect(new Watched().fail("failed", 5, 20_000).outMs).toBe(20_000);
    expect(new Watched().fail("failed", 5, 100).outMs).toBe(5_000);
  });

  test("frees the place of a trial that was abandoned", () => {
    const target = new Watched().fail("failed", 5).pass(5_000);
    const trial = target.breaker.begin();
    target.breaker.abandon(trial);
    expect([target.mayAsk, target.state]).toEqual([true, "half-open"]);
  });

  test("is tried again after its rest when the trial was told to wait", () => {
    const target = new Watched().fail("failed", 5).pass(5_000).fail("limited", 1, 800);
    expect(target.mayAsk).toBe(false);
    expect(target.pass(800).mayAsk).toBe(true);
    expect(target.succeed().state).toBe("closed");
  });

  test("does not stay out longer for calls that were under way when it was taken out", () => {
    const target = new Watched();
    const underWay = Array.from({ length: 40 }, () => target.breaker.begin());
    for (const trial of underWay) target.end(trial, failure("failed"));
    expect(target.outMs).toBe(5_000);
    expect(target.changes.length).toBe(1);
  });

  test("does not come back for a call that was under way when it was taken out", () => {
    const target = new Watched();
    const old = target.breaker.begin();
    target.fail("auth");
    target.breaker.succeed("a", target.nowMs, old);
    expect(target.state).toBe("open");
  });

  test("judges by its trial alone, whatever else ends meanwhile", () => {
    const target = new Watched();
    const old = [target.breaker.begin(), target.breaker.begin(), target.breaker.begin()] as const;
    target.fail("failed", 5).pass(5_000);
    const trial = target.breaker.begin();
    target.breaker.abandon(old[0]);
    target.breaker.succeed("a", target.nowMs, old[1]);
    target.end(old[2], failure("failed"));
    expect([target.mayAsk, target.state]).toEqual([false, "half-open"]);
    target.end(trial, failure("failed"));
    expect(target.outMs).toBe(10_000);
  });

  test("is put back by hand, and a trial of before has no say any more", () => {
    const target = new Watched().fail("auth").pass(30_000);
    const before = target.breaker.begin();
    target.breaker.close(target.nowMs);
    expect([target.state, target.mayAsk, target.breaker.isClear]).toEqual(["closed", true, true]);
    target.fail("auth").pass(30_000);
    const trial = target.breaker.begin();
    target.breaker.succeed("a", target.nowMs, before);
    expect([target.state, target.mayAsk]).toEqual(["half-open", false]);
    target.breaker.succeed("a", target.nowMs, trial);
    expect(target.state).toBe("closed");
  });
});

describe("a target that asks to be left alone", () => {
  test("is left alone exactly as long, then asked like any other", () => {
    const target = new Watched().fail("limited", 1, 700);
    expect([target.mayAsk, target.breaker.isClear]).toEqual([false, false]);
    expect(target.breaker.restMs(target.nowMs)).toBe(700);
    expect(target.pass(699).mayAsk).toBe(false);
    expect(target.pass(1).mayAsk).toBe(true);
    expect(target.breaker.isClear).toBe(true);
    // Nobody is its trial: any number may come.
    target.breaker.begin();
    expect(target.mayAsk).toBe(true);
  });

  test("is taken at its word for five minutes at the most", () => {
    expect(new Watched().fail("limited", 1, 86_400_000).outMs).toBe(300_000);
  });

  test("without saying how long gets a second", () => {
    expect(new Watched().fail("limited").outMs).toBe(1_000);
  });

  test("is left alone when it is overloaded and says how long, and only then", () => {
    expect(new Watched().fail("overloaded", 1, 3_000).outMs).toBe(3_000);
    expect(new Watched().fail("overloaded").mayAsk).toBe(true);
    expect(new Watched().fail("failed", 1, 3_000).mayAsk).toBe(true);
  });

  test("is asked again when it is put back by hand", () => {
    const target = new Watched().fail("limited", 1, 60_000);
    target.breaker.close(target.nowMs);
    expect([target.mayAsk, target.state]).toEqual([true, "closed"]);
    // It was not out of service, so there is nothing to tell.
    expect(target.changes).toEqual([]);
  });
});

describe("repeats", () => {
  /** Takes as many as it may get. */
  const repeatsOf = (target: Watched) => {
    let count = 0;
    for (; count < 1_000 && target.breaker.mayRepeat(target.nowMs, "a"); count++)
      target.breaker.repeat("a");
    return count;
  };

  test("are three where there were few requests", () => {
    expect(repeatsOf(new Watched())).toBe(3);
    expect(repeatsOf(new Watched().succeed(14))).toBe(3);
  });

  test("are a fifth of the recent requests where there were many", () => {
    expect(repeatsOf(new Watched().succeed(100))).toBe(20);
    expect(repeatsOf(new Watched(false).fail("failed", 500))).toBe(100);
  });

  test("are counted as long as the requests are: there is nothing to be had by waiting a little", () => {
    const target = new Watched().succeed(100);
    expect(repeatsOf(target)).toBe(20);
    expect(repeatsOf(target.pass(5_000))).toBe(0);
    expect(repeatsOf(target.pass(4_999))).toBe(0);
    expect(repeatsOf(target.pass(1))).toBe(3);
  });

  test("are counted anew for a target that was put back", () => {
    const target = new Watched();
    expect(repeatsOf(target)).toBe(3);
    target.breaker.close(target.nowMs);
    expect(repeatsOf(target)).toBe(3);
  });
});

describe("what the operator is shown", () => {
  test("of one that is well: its recent requests and failures", () => {
    expect(new Watched().succeed(3).fail().view).toEqual({
      provider: "p",
      model: "m",
      key: null,
      state: "closed",
      reason: null,
      sinceMs: null,
      untilMs: null,
      requests: 4,
      failures: 1,
      hasServed: true,
    });
  });

  test("of one that is out: why, since when, until when, also after trials", () => {
    const target = new Watched().fail("quota");
    const sinceMs = target.nowMs;
    const told = { reason: "quota", sinceMs, untilMs: sinceMs + 30_000 } as const;
    expect(target.view).toMatchObject({ ...told, state: "open" });
    expect(target.pass(30_000).view).toMatchObject({ ...told, state: "half-open" });
    expect(target.fail("timeout").view).toMatchObject({
      state: "open",
      reason: "timeout",
      sinceMs,
      untilMs: target.nowMs + 10_000,
    });
  });

  for (const reason of ["limited", "overloaded"] as const)
    test(`of one that rests: that it is ${reason}, and until when`, () => {
      const target = new Watched().fail(reason, 1, 7_000);
      expect(target.view).toMatchObject({
        state: "resting",
        reason,
        sinceMs: null,
        untilMs: target.nowMs + 7_000,
      });
      expect(target.pass(7_000).view).toMatchObject({
        state: "closed",
        reason: null,
        untilMs: null,
      });
    });

  test("is told when it changes: out, and back, by a trial or by hand", () => {
    const target = new Watched().fail("failed", 5).pass(5_000).fail().pass(10_000).succeed();
    target.fail("auth").breaker.close(target.nowMs);
    target.breaker.close(target.nowMs);
    const seen = target.changes.map(({ state, reason }) => [state, reason]);
    expect(seen).toEqual([
      ["open", "failed"],
      ["open", "failed"],
      ["closed", null],
      ["open", "auth"],
      ["closed", null],
    ]);
  });
});
