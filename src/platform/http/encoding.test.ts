import { expect, test } from "bun:test";
import { chooseEncoding } from "./encoding.ts";

test.each([
  [null, undefined],
  ["", undefined],
  ["identity", undefined],
  ["deflate, zstd", undefined],
  ["gzip", "gzip"],
  ["gzip, deflate, br", "br"],
  ["GZIP, Br", "br"],
  ["br;q=0, gzip", "gzip"],
  ["br;q=0.2, gzip;q=0.8", "gzip"],
  ["br ; q=0.5 , gzip ; q=0.5", "br"],
  ["*", "br"],
  ["*;q=0, gzip", "gzip"],
  ["br;q=0, *", "gzip"],
  ["br;q=7", undefined],
  ["br;q=x, gzip;q=0.1", "gzip"],
  ["broken", undefined],
] as const)("of %p, takes %p", (accepted, chosen) => {
  expect(chooseEncoding(accepted)).toBe(chosen);
});
