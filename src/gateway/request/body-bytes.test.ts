import { describe, expect, test } from "bun:test";
import { ApiError } from "../../base/errors.ts";
import { BodyBytes } from "./body-bytes.ts";

const mebibyte = 1024 * 1024;
const bodies = () =>
  new BodyBytes({ perProcess: 100 * mebibyte, perKey: 4 * mebibyte, perAccount: 40 * mebibyte });
const of = (keyId: string, accountId = `account of ${keyId}`) => ({ keyId, accountId });

function codeOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof ApiError) return error.code;
    throw error;
  }
  return "taken";
}

describe("bodies in memory", () => {
  test("of one key are bounded until they are admitted", () => {
    const all = bodies();
    const first = all.open(of("a"), 0);
    first.grow(3 * mebibyte);
    expect(codeOf(() => all.open(of("a"), 2 * mebibyte))).toBe("rate_limit_exceeded");
    const second = all.open(of("a"), 0);
    second.grow(mebibyte);
    expect(codeOf(() => second.grow(1))).toBe("rate_limit_exceeded");
    first.admitted();
    expect(codeOf(() => second.grow(3 * mebibyte))).toBe("taken");
  });

  test("of all are bounded until their calls have ended", () => {
    const all = bodies();
    const held = Array.from({ length: 33 }, (_, at) => {
      const body = all.open(of(`key ${at}`), 0);
      body.grow(3 * mebibyte);
      body.admitted();
      return body;
    });
    expect(codeOf(() => all.open(of("d"), 2 * mebibyte))).toBe("gateway_overloaded");
    held[0]?.release();
    expect(codeOf(() => all.open(of("d"), 2 * mebibyte))).toBe("taken");
  });

  test("of one account are bounded to the end, and leave room for others", () => {
    const all = bodies();
    const held = Array.from({ length: 13 }, (_, at) => {
      const body = all.open(of(`key ${at}`, "one"), 0);
      body.grow(3 * mebibyte);
      body.admitted();
      return body;
    });
    expect(codeOf(() => all.open(of("another key", "one"), 2 * mebibyte))).toBe(
      "rate_limit_exceeded",
    );
    expect(codeOf(() => all.open(of("a key", "other"), 2 * mebibyte))).toBe("taken");
    held[0]?.release();
    expect(codeOf(() => all.open(of("another key", "one"), 2 * mebibyte))).toBe("taken");
  });

  test("that are announced and do not come take nothing from others", () => {
    const all = bodies();
    for (let at = 0; at < 100; at++) all.open(of(`key ${at}`), 4 * mebibyte);
    expect(all.total).toBe(0);
  });

  test("leave nothing behind, however they end", () => {
    const all = bodies();
    for (const end of ["release", "admitted then release", "release twice", "refused"]) {
      const body = all.open(of(end), 0);
      body.grow(5);
      if (end === "refused") expect(codeOf(() => body.grow(200 * mebibyte))).not.toBe("taken");
      if (end.startsWith("admitted")) body.admitted();
      body.release();
      if (end.endsWith("twice")) body.release();
    }
    expect([all.total, all.owners]).toEqual([0, 0]);
  });
});
