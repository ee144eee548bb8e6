import { expect, test } from "bun:test";
import { diagnose } from "./diagnosis.ts";
import { upstreamError } from "./kit/failure.ts";

const rejected = upstreamError("upstream_unavailable", {
  detail: "acme returned 401",
  reason: "auth",
  status: 401,
  vendorCode: "invalid_api_key invalid_request_error",
});
const about = { provider: "acme", baseUrl: "https://acme.example/v1", keyVariable: null };

test("a rejected key names the vendor's error code and no model", () => {
  expect(diagnose(rejected, { ...about, isNew: true })).toEqual({
    trouble: "bad_key",
    what: "acme rejected the key (401, invalid_api_key).",
    advice: "Check that the key is for this vendor, complete and not revoked.",
  });
});

test("a key that was rejected for a model may lack the right to use it", () => {
  const { advice } = diagnose(rejected, { ...about, isNew: true, model: "m-1" });
  expect(advice).toEndWith("not revoked, and allowed to use this model.");
});
