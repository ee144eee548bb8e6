import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  accountEmail,
  accountKeyPem,
  readAssertion,
  serviceAccount,
  signInRefusals,
  tokenReply,
} from "../../../test/fake/vendors/vertex-account.ts";
import { vertexRefusals } from "../../../test/fake/vendors/vertex-replies.ts";
import { embed, errorOf, startMs, VertexScene } from "../../../test/fake/vendors/vertex-scene.ts";
import type { ApiError } from "../../base/errors.ts";

const scene = new VertexScene();
const lifeMs = 3_599_000;

describe("credentials", () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-vertex-"));
  const file = join(folder, "account.json");
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const ecKey = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  beforeAll(() => writeFileSync(file, serviceAccount(scene.tokenUrl)));
  afterAll(() => rmSync(folder, { recursive: true }));

  test("of a file are read when they are needed, and again with each refresh", async () => {
    const later = join(folder, "later.json");
    const provider = scene.provider({ credentials_file: later });
    writeFileSync(later, serviceAccount(scene.tokenUrl));
    await embed(provider);
    writeFileSync(later, serviceAccount(scene.tokenUrl, { client_email: "new@example" }));
    scene.clock.now = startMs + lifeMs;
    await embed(provider);
    const accounts = scene.signIns.map(({ body }) => readAssertion(body).claims["iss"]);
    expect(accounts).toEqual([accountEmail, "new@example"]);
  });

  test("that are nowhere are told with what to set", async () => {
    const error = await errorOf(embed(scene.provider({ credentials: "" })));
    expect(error).toMatchObject({ code: "upstream_unavailable", upstream: { reason: "auth" } });
    for (const option of ["credentials", "credentials_file", "api_key"])
      expect(error.detail).toContain(option);
    expect(scene.upstream.requests).toEqual([]);
  });

  test("of a file that is not there are told by its name", async () => {
    const missing = join(folder, "missing.json");
    const error = await errorOf(embed(scene.provider({ credentials_file: missing })));
    expect(error.detail).toBe(`cloud: credentials_file ${missing} cannot be read: ENOENT`);
    expect(error.upstream?.reason).toBe("auth");
  });

  test.each([
    ["{ not json", "is not valid JSON"],
    ["[]", "is not a JSON object"],
    [JSON.stringify({ type: "external_account" }), "must have the type service_account"],
    [JSON.stringify({ type: "service_account", private_key: accountKeyPem }), "no client_email"],
    [JSON.stringify({ type: "service_account", client_email: "a@b" }), "has no private_key"],
    [JSON.stringify({ type: "authorized_user", client_id: "a" }), "has no client_secret"],
    [
      JSON.stringify({ type: "service_account", client_email: "a@b", private_key: "secret" }),
      "not a PEM key",
    ],
    [
      JSON.stringify({ type: "service_account", client_email: "a@b", private_key: ecKey }),
      "not an RSA key",
    ],
  ])("that cannot be used are told with what is wrong: %#", async (text, words) => {
    writeFileSync(file, text);
    const error = await errorOf(embed(scene.provider({ credentials_file: file })));
    expect(error.detail).toStartWith(`cloud: credentials_file ${file} `);
    expect(error.detail).toContain(words);
    expect(error).toMatchObject({ code: "upstream_unavailable", upstream: { reason: "auth" } });
    expect(scene.upstream.requests).toEqual([]);
  });

  test.each([
    ["http://127.0.0.1:1/token", "private or loopback"],
    ["http://169.254.169.254/token", "link-local"],
    ["http://oauth.example/token", "must start with https://"],
  ])("are not sent to %s", async (tokenUrl, words) => {
    const provider = scene.provider(
      { credentials: serviceAccount(tokenUrl) },
      { allowPrivate: false, baseUrl: "" },
    );
    const error = await errorOf(embed(provider));
    expect(error.detail).toContain(words);
    expect(error.upstream?.reason).toBe("auth");
  });

  test("never stand in an error", async () => {
    const seen: string[] = [];
    const note = (error: ApiError) =>
      seen.push(`${error.message} ${error.detail} ${String(error.cause)}`);
    const body = accountKeyPem.split("\n")[1] ?? "";
    expect(body.length).toBeGreaterThan(40);
    for (const text of [serviceAccount(scene.tokenUrl).slice(0, -3), serviceAccount("nowhere")])
      note(await errorOf(embed(scene.provider({ credentials: text }))));
    for (const refuse of Object.values(signInRefusals)) {
      scene.token = refuse;
      note(await errorOf(embed(scene.provider())));
    }
    scene.token = () => tokenReply("token-of-the-operator");
    scene.api = vertexRefusals.endedToken();
    note(await errorOf(embed(scene.provider())));
    expect(seen).toHaveLength(3 + Object.keys(signInRefusals).length);
    expect(seen.filter((text) => text.includes(body) || text.includes("token-of-the"))).toEqual([]);
  });
});
