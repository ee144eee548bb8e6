import { expect, test } from "bun:test";
import { referencedName } from "../base/stored-reference.ts";
import { createSecrets } from "./secrets.ts";

test("opens what it sealed, and nothing that was moved, changed or sealed under another secret", () => {
  const secrets = createSecrets("a".repeat(32));
  const sealed = secrets.seal("vendor key ü", "provider:acme");
  expect(sealed).not.toContain("vendor");
  expect(secrets.open(sealed, "provider:acme")).toBe("vendor key ü");
  expect(secrets.seal("vendor key ü", "provider:acme")).not.toBe(sealed);
  expect(() => secrets.open(sealed, "provider:other")).toThrow();
  expect(() => createSecrets("b".repeat(32)).open(sealed, "provider:acme")).toThrow();
  const changed = Buffer.from(sealed, "base64");
  changed[30] = (changed[30] ?? 0) ^ 1;
  expect(() => secrets.open(changed.toString("base64"), "provider:acme")).toThrow();
});

test("opens bytes of any size where they were sealed, and nowhere else", async () => {
  const { responses } = createSecrets("a".repeat(32));
  const plain = Buffer.from("ü".repeat(1_300_000));
  const cuts = [0, 5, 5, 1_100_000, plain.length];
  const pieces = cuts.slice(1).map((end, at) => plain.subarray(cuts[at], end));
  const sealed = await responses.seal(pieces, "acct_1 resp_1");
  expect(sealed.length).toBe(plain.length + 28);
  expect(plain.equals(await responses.open(sealed, "acct_1 resp_1"))).toBe(true);
  expect(await responses.open(await responses.seal([], "x"), "x")).toHaveLength(0);
  expect(Buffer.from(sealed).equals(await responses.seal(pieces, "acct_1 resp_1"))).toBe(false);
  const other = createSecrets("b".repeat(32)).responses;
  const changed = Buffer.from(sealed);
  changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1;
  for (const [sealer, bytes, place] of [
    [responses, sealed, "acct_2 resp_1"],
    [other, sealed, "acct_1 resp_1"],
    [responses, changed, "acct_1 resp_1"],
    [responses, sealed.subarray(0, -1), "acct_1 resp_1"],
    [responses, sealed.subarray(0, 20), "acct_1 resp_1"],
  ] as const)
    await expect(sealer.open(bytes, place)).rejects.toThrow();
});

test("tells a reference from a literal", () => {
  expect(referencedName("${ACME_KEY}")).toBe("ACME_KEY");
  for (const text of ["ACME_KEY", "${}", "x${A}", "${A}y", "${1A}"])
    expect(referencedName(text)).toBeUndefined();
});
