import { expect, test } from "bun:test";
import { isLoopback, requestPath } from "./address.ts";

test.each(["localhost", "LOCALHOST", "127.0.0.1", "127.8.0.3", "::1", "[::1]"])(
  "%s is this machine",
  (host) => {
    expect(isLoopback(host)).toBe(true);
  },
);

test.each(["", "0.0.0.0", "::", "10.0.0.5", "127.example", "localhost.example", "1127.0.0.1"])(
  "%p is not",
  (host) => {
    expect(isLoopback(host)).toBe(false);
  },
);

test("finds the path with and without an address in front of it", () => {
  for (const [url, path] of [
    ["http://h:1/v1/models?a=//b#c", "/v1/models"],
    ["http://h", "/"],
    ["http://h/", "/"],
    ["https://h//v1//models/", "//v1//models/"],
    ["/v1/models?x=/y", "/v1/models"],
    ["//v1//models", "//v1//models"],
    ["/", "/"],
  ] as const)
    expect(requestPath(url)).toBe(path);
});
