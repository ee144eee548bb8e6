import { expect, test } from "bun:test";
import { addressProblem } from "./address.ts";

test("lets public addresses through", () => {
  for (const url of [
    "https://api.example/v1",
    "http://8.8.8.8/v1",
    "https://[2606:4700::1]/v1",
    "http://172.32.0.1/v1",
  ])
    expect(addressProblem(url, false)).toBeUndefined();
});

test("private and loopback addresses need the operator's word, in every spelling", () => {
  for (const host of [
    "127.0.0.1",
    "localhost",
    "a.localhost",
    "10.1.2.3",
    "192.168.0.1",
    "172.16.0.1",
    "100.64.0.1",
    "0.0.0.0",
    "[::1]",
    "[fd00::1]",
    "[::ffff:127.0.0.1]",
    "2130706433",
    "0x7f.1",
    "127.1",
  ]) {
    expect(addressProblem(`http://${host}:9000/v1`, false)).toContain("private or loopback");
    expect(addressProblem(`http://${host}:9000/v1`, true)).toBeUndefined();
  }
});

test("link-local addresses are never called", () => {
  for (const host of ["169.254.169.254", "[fe80::1]", "[::ffff:169.254.169.254]"])
    expect(addressProblem(`http://${host}/`, true)).toContain("link-local");
});

test("refuses what is no plain address", () => {
  for (const url of [
    "api.example",
    "ftp://a.example",
    "https://u:p@a.example/v1",
    "https://a.example/v1?key=x",
  ])
    expect(addressProblem(url, true)).toBeString();
});
