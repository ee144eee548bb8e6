import { expect, test } from "bun:test";
import { proxyCheck } from "./proxy.ts";

const isProxied = (environment: Record<string, string>, address: string) =>
  proxyCheck(environment)(new URL(address));
const proxy = "http://proxy.example:3128";
const api = "https://api.acme.example/v1";

test("a proxy is one for its protocol only, by its name in either case", () => {
  expect(isProxied({}, api)).toBe(false);
  expect(isProxied({ HTTPS_PROXY: proxy }, api)).toBe(true);
  expect(isProxied({ https_proxy: proxy }, api)).toBe(true);
  expect(isProxied({ HTTP_PROXY: proxy }, api)).toBe(false);
  expect(isProxied({ HTTP_PROXY: proxy }, "http://api.acme.example/v1")).toBe(true);
  expect(isProxied({ HTTPS_PROXY: proxy }, "http://api.acme.example/v1")).toBe(false);
});

test("a variable that is there and empty is as if it were not", () => {
  expect(isProxied({ https_proxy: "", HTTPS_PROXY: proxy }, api)).toBe(true);
  expect(isProxied({ HTTPS_PROXY: "" }, api)).toBe(false);
  expect(isProxied({ HTTPS_PROXY: proxy, no_proxy: "", NO_PROXY: "acme.example" }, api)).toBe(
    false,
  );
  expect(isProxied({ HTTPS_PROXY: proxy, no_proxy: "", NO_PROXY: "" }, api)).toBe(true);
});

test("the lower-case name goes before the other", () => {
  expect(isProxied({ HTTPS_PROXY: proxy, no_proxy: "x.example", NO_PROXY: "*" }, api)).toBe(true);
  expect(isProxied({ HTTPS_PROXY: proxy, no_proxy: "*", NO_PROXY: "x.example" }, api)).toBe(false);
});

test("hosts that are called directly may be named in every usual form", () => {
  for (const direct of [
    "*",
    "api.acme.example",
    "API.Acme.Example",
    "acme.example",
    ".acme.example",
    "*.acme.example",
    "localhost, acme.example ,10.0.0.1",
  ])
    expect([direct, isProxied({ HTTPS_PROXY: proxy, NO_PROXY: direct }, api)]).toEqual([
      direct,
      false,
    ]);
  for (const direct of ["me.example", "acme.exampl", "other.example", "api", ",, ,"])
    expect([direct, isProxied({ HTTPS_PROXY: proxy, NO_PROXY: direct }, api)]).toEqual([
      direct,
      true,
    ]);
});

test("a host with a port is the one at that port only", () => {
  const environment = { HTTP_PROXY: proxy, NO_PROXY: "acme.example:8080" };
  expect(isProxied(environment, "http://acme.example:8080/v1")).toBe(false);
  expect(isProxied(environment, "http://acme.example:9090/v1")).toBe(true);
});
