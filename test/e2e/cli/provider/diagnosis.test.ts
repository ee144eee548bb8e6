import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { operatorErrors } from "../../../fake/openai/error-replies.ts";
import { httpReply } from "../../../fake/recordings.ts";
import { serviceAccount, signInRefusals } from "../../../fake/vendors/vertex-account.ts";
import type { Environment } from "../../../setup/child.ts";
import { freePort } from "../../../setup/platform-home.ts";
import { useProviderHome } from "../../../setup/provider-home.ts";

const stage = useProviderHome();

const beside = (name: string) => join(dirname(stage.home.configPath), name);

const { applied, problemOf } = stage;

describe("provider test names the cause", () => {
  test("of a key file that is not there", async () => {
    const file = beside("nowhere.json");
    await applied(
      `kind: vertex, project: a, location: us-central1, credentials_file: ${JSON.stringify(file)}`,
    );
    const { trouble, what, advice } = await problemOf();
    expect(trouble).toBe("credentials");
    expect(what).toBe(`p cannot sign in because credentials_file ${file} does not exist.`);
    expect(advice).toContain("key file of a service account");
    expect(what + advice).not.toContain("api_key");
  });

  test("of a service account that is refused", async () => {
    stage.upstream.replyWith(signInRefusals.badSignature());
    writeFileSync(beside("key.json"), serviceAccount(`${stage.origin()}/token`));
    await applied(
      `kind: vertex, base_url: "${stage.origin()}/v1", allow_private: true, project: a, location: us-central1, credentials_file: ${JSON.stringify(beside("key.json"))}`,
    );
    const { trouble, what, advice } = await problemOf();
    expect(trouble).toBe("sign_in");
    expect(what).toBe(
      "p's sign-in server rejected the credentials (400, invalid_grant): the key was removed, or belongs to another account.",
    );
    expect(advice).toContain("A replaced key takes effect");
    expect(stage.upstream.requests.map(({ path }) => path)).toContain("/token");
  });

  test("of a server for sign-ins that cannot be reached", async () => {
    const tokenUrl = `http://127.0.0.1:${freePort()}/token`;
    writeFileSync(beside("key.json"), serviceAccount(tokenUrl));
    await applied(
      `kind: vertex, base_url: "${stage.origin()}/v1", allow_private: true, project: a, location: us-central1, credentials_file: ${JSON.stringify(beside("key.json"))}`,
    );
    const { what, advice } = await problemOf();
    expect(what).toBe("p's sign-in server refused the connection.");
    expect(advice).toContain("token_uri");
    expect(stage.upstream.requests).toEqual([]);
  });

  test("of a key that cannot be sent, and shows nothing of it", async () => {
    await applied(
      `kind: openai, base_url: "${stage.upstream.baseUrl}", allow_private: true, api_key: "\${P_KEY}"`,
    );
    const problem = await problemOf({ P_KEY: "sk-ünïcode-key" });
    expect(problem.trouble).toBe("unsendable_key");
    expect(problem.what).toContain("contains characters that cannot be sent");
    expect(problem.advice).toContain("into P_KEY in the gateway's environment");
    expect(JSON.stringify(problem)).not.toContain("ünï");
    expect(stage.upstream.requests).toEqual([]);
  });

  test("of a model that the vendor says it does not have, also where it lists none", async () => {
    await applied(`kind: openai, base_url: "${stage.upstream.baseUrl}", allow_private: true`);
    stage.upstream.replyWith(operatorErrors.modelMissing());
    const { trouble, what } = await problemOf();
    expect([trouble, what]).toEqual([
      "model_missing",
      'p has no model "big-1", or this key cannot use it.',
    ]);
    stage.upstream.replyWith(httpReply({ status: 404, body: ["not here"], framing: "length" }));
    expect((await problemOf()).trouble).toBe("wrong_address");
  });
});

describe("a vendor that hangs", () => {
  const openai = () => `kind: openai, base_url: "${stage.upstream.baseUrl}", allow_private: true`;

  test("is waited for as long as the model says", async () => {
    stage.upstream.replyWith([{ hang: true }]);
    await applied(openai(), "timeouts: { first_byte: 0.5 }, ");
    expect(await problemOf()).toMatchObject({
      trouble: "timeout",
      what: "p did not respond within 0.5 s.",
    });
  });
});

describe("what to do is told for the command that was given", () => {
  const add = (line: string, environment: Environment = {}) =>
    stage.home.svc(["provider", "add", ...line.split(" ")], { environment });

  test("by flags and not by a file that has nothing of it", async () => {
    const port = freePort();
    const cases: readonly (readonly [string, string])[] = [
      [
        `mine --base-url http://127.0.0.1:${port}/v1 --allow-private`,
        "host and port in the address",
      ],
      [
        `vertex --option project=a --option location=us-central1 --option credentials_file=${beside("no.json")}`,
        "no.json does not exist",
      ],
      [`mine --base-url https://${"x".repeat(64)}.example/v1`, "Check the address for typos"],
    ];
    for (const [line, words] of cases) {
      const { code, stderr } = await add(`${line} --all-models`);
      expect([line, code]).toEqual([line, 1]);
      expect(stderr).toContain(words);
      expect(stderr).not.toContain("svc.yaml");
      expect(stderr).not.toContain("base_url");
    }
  });
});
