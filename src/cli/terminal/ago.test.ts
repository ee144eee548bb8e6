import { expect, test } from "bun:test";
import { agoText, cutText } from "./ago.ts";

test("times are shown in the largest whole unit, and as a date after a month", () => {
  const nowMs = Date.parse("2027-03-15T12:00:00Z");
  const ago = (ms: number) => agoText(new Date(nowMs - ms).toISOString(), nowMs);
  expect([ago(-5_000), ago(59_999), ago(60_000), ago(3_600_000), ago(30 * 86_400_000)]).toEqual([
    "just now",
    "just now",
    "1 min ago",
    "1 h ago",
    "30 d ago",
  ]);
  expect(ago(31 * 86_400_000)).toBe("2027-02-12");
});

test("a text that is too wide is cut to its column, wide letters too", () => {
  expect(cutText("checkout", 8)).toBe("checkout");
  expect(cutText("checkout service", 8)).toBe("checkou…");
  expect(Bun.stringWidth(cutText("密钥密钥密钥", 8))).toBeLessThanOrEqual(8);
});
