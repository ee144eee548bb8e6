import { expect, test } from "bun:test";
import { requestPath } from "./request-path.ts";

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
