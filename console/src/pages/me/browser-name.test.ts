import { expect, test } from "bun:test";
import { browserName } from "./browser-name.ts";

test.each([
  ["Mozilla/5.0 (Windows NT 10.0) Firefox/140.0", "Firefox on Windows"],
  ["Mozilla/5.0 (Macintosh; Intel Mac OS X) Chrome/140.0 Safari/537.36 Edg/140.0", "Edge on macOS"],
  ["curl/8.0", "curl/8.0"],
  ["", "Unknown browser"],
])("%s is shown as %s", (userAgent, shown) => {
  expect(browserName(userAgent)).toBe(shown);
});
