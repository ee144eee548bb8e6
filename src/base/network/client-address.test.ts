import { expect, test } from "bun:test";
import { clientAddress, readNetwork, trustedProxies } from "./client-address.ts";

const trusted = trustedProxies(["127.0.0.1", "10.0.0.0/8", "fd00::/8", "2001:db8::7"]);
const from = (peer: string, forwardedFor: string | null) =>
  clientAddress({ peer, forwardedFor, trusted });

test.each([
  ["an untrusted peer's word is not taken", "203.0.113.9", "192.0.2.1", "203.0.113.9"],
  ["without the header it is the peer", "127.0.0.1", null, "127.0.0.1"],
  ["a trusted peer's word is", "127.0.0.1", "192.0.2.1", "192.0.2.1"],
  ["of a network too", "10.200.0.3", "192.0.2.1", "192.0.2.1"],
  ["what the client itself wrote is not", "127.0.0.1", "1.1.1.1, 192.0.2.1", "192.0.2.1"],
  ["proxies in a row are passed", "127.0.0.1", "1.1.1.1, 192.0.2.1, 10.0.0.9", "192.0.2.1"],
  ["where all are trusted it is the first", "127.0.0.1", "10.0.0.1,10.0.0.2", "10.0.0.1"],
  ["IPv6", "fd00::1", "2001:db8::1", "2001:db8::1"],
  ["IPv6, one address", "2001:db8::7", "2001:db8::8, fd12::3", "2001:db8::8"],
  ["IPv4 over an IPv6 socket", "::ffff:127.0.0.1", "::ffff:192.0.2.1", "192.0.2.1"],
  ["IPv4 over an IPv6 socket, untrusted", "::ffff:192.0.2.9", "192.0.2.1", "192.0.2.9"],
  ["a port is left out", "127.0.0.1", "192.0.2.1:4711", "192.0.2.1"],
  ["a port is left out of IPv6", "127.0.0.1", "[2001:db8::1]:4711", "2001:db8::1"],
  ["brackets too", "127.0.0.1", "[2001:db8::1]", "2001:db8::1"],
  ["what is no address ends it", "127.0.0.1", "192.0.2.1, unknown", "127.0.0.1"],
  ["also behind a proxy", "127.0.0.1", "1.1.1.1, evil, 10.0.0.9", "10.0.0.9"],
  ["an empty header", "127.0.0.1", "", "127.0.0.1"],
  ["an empty entry", "127.0.0.1", "192.0.2.1,", "127.0.0.1"],
  ["only commas", "127.0.0.1", ",,,", "127.0.0.1"],
  ["a leading comma", "127.0.0.1", ",10.0.0.1", "10.0.0.1"],
  ["a peer without an address", "", "192.0.2.1", ""],
])("%s", (_, peer, forwardedFor, client) => {
  expect(from(peer, forwardedFor)).toBe(client);
});

test("a header without end is not read to its end", () => {
  const long = `192.0.2.1,${"10.0.0.1,".repeat(2_000)}10.0.0.2`;
  expect(from("127.0.0.1", long)).toBe("10.0.0.1");
});

test("nobody is trusted where none is named", () => {
  const nobody = trustedProxies([]);
  const asked = { peer: "127.0.0.1", forwardedFor: "192.0.2.1", trusted: nobody };
  expect(clientAddress(asked)).toBe("127.0.0.1");
});

test.each(["127.0.0.1", "10.0.0.0/8", "10.1.2.3/32", "::1", "fd00::/8", "2001:db8::/128"])(
  "%s is an address or a network",
  (text) => {
    expect(readNetwork(text)).toBeDefined();
  },
);

test.each([
  "",
  "localhost",
  "10.0.0.0/",
  "10.0.0.0/33",
  "10.0.0.0/0",
  "::/0",
  "::1/129",
  "10.0.0.0/8/8",
  "10.0.0/8",
  "10.0.0.0/-1",
  "10.0.0.0/8x",
  "fe80::1%eth0",
])("%p is none", (text) => {
  expect(readNetwork(text)).toBeUndefined();
});
