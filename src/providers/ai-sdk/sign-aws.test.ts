import { expect, test } from "bun:test";
import { AwsSigner } from "./sign-aws.ts";

/** Amazon's own examples. */
const credentials = {
  accessKeyId: "AKIDEXAMPLE",
  secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
  sessionToken: undefined,
};
const nowMs = Date.UTC(2015, 7, 30, 12, 36, 0);
const request = { method: "GET", host: "example.amazonaws.com", path: "/", body: "", nowMs };
const signer = new AwsSigner({ credentials, region: "us-east-1", service: "service" });

test("a request is signed as Amazon's examples are", () => {
  for (const [method, signature] of [
    ["GET", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"],
    ["POST", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"],
  ] as const)
    expect(signer.sign({ ...request, method })).toEqual({
      "x-amz-date": "20150830T123600Z",
      authorization: `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=${signature}`,
    });
});

test("each part of a request changes its signature, and the key follows the day", () => {
  const signed = [
    request,
    { ...request, path: "/model/a%3A0/converse" },
    { ...request, path: "/model/a:0/converse" },
    { ...request, body: "{}" },
    { ...request, host: "other.amazonaws.com" },
    { ...request, nowMs: nowMs + 1_000 },
    { ...request, nowMs: nowMs + 86_400_000 },
  ].map((one) => signer.sign(one)["authorization"]);
  expect(new Set(signed).size).toBe(signed.length);
  expect(signer.sign(request)["authorization"]).toBe(signed[0]);
});

test("a session's token is signed and sent", () => {
  const session = new AwsSigner({
    credentials: { ...credentials, sessionToken: "token" },
    region: "us-east-1",
    service: "service",
  });
  const { authorization, "x-amz-security-token": token } = session.sign(request);
  expect(token).toBe("token");
  expect(authorization).toContain("SignedHeaders=host;x-amz-date;x-amz-security-token,");
});
