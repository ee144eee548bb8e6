import { expect, test } from "bun:test";
import { formatRelative } from "./moments.ts";

const nowMs = Date.parse("2026-03-10T12:00:00Z");
const away = (seconds: number) => formatRelative(nowMs + seconds * 1_000, nowMs);

test("a time is said as people say it", () => {
  expect(away(-2)).toBe("just now");
  expect(away(-40)).toBe("40 seconds ago");
  expect(away(-119)).toBe("1 minute ago");
  expect(away(-3 * 3_600)).toBe("3 hours ago");
  expect(away(-86_400)).toBe("yesterday");
  expect(away(6 * 86_400 - 5)).toBe("in 6 days");
  expect(away(-60 * 86_400)).toBe("Jan 9, 2026");
});
