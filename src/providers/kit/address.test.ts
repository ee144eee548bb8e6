import { expect, test } from "bun:test";
import { addressProblem, placeOf } from "./address.ts";

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

test("where a cloud keeps its credentials is never called, whatever the operator says, in every spelling", () => {
  for (const host of [
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",
    "[::ffff:100.100.100.200]",
    "[64:ff9b::a83f:8110]",
    "[fd00:ec2::254]",
    "[fd00:ec2::23]",
    "[fd00:0ec2::254]",
    "[FD00:0EC2:0:0:0:0:0:0254]",
    "[fd20:ce::254]",
    "[fd20:00ce:0000::0254]",
    "metadata",
    "metadata.google.internal",
    "METADATA.google.internal.",
  ])
    expect([host, addressProblem(`http://${host}/`, true)]).toEqual([
      host,
      expect.stringContaining("cloud metadata address"),
    ]);
  expect(placeOf("fd00:0ec2::254")).toBe("metadata");
  expect(placeOf("fd20:ce:0:0::254%eth0")).toBe("metadata");
});

test("an address behind a translator of one's own lies where it leads, and is never a public one", () => {
  expect(placeOf("64:ff9b:1::a9fe:a9fe")).toBe("link-local");
  expect(placeOf("64:ff9b:1:0:0:0:a83f:8110")).toBe("metadata");
  expect(placeOf("64:ff9b:1::0808:0808")).toBe("private");
  expect(addressProblem("http://[64:ff9b:1::a9fe:a9fe]/", true)).toContain("link-local");
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
