import { beforeEach, describe, expect, test } from "bun:test";
import type { TrialView } from "../../../../src/platform/providers/schemas.ts";
import { operatorErrors, vendorError } from "../../../fake/openai/error-replies.ts";
import { httpReply } from "../../../fake/recordings.ts";
import { willingVendor } from "../../../fake/willing-vendor.ts";
import { standardManifest } from "../../../setup/harness.ts";
import { waitUntil } from "../../../setup/money-home.ts";
import { refusal, succeeds } from "../../../setup/outcomes.ts";
import { useProviderHome } from "../../../setup/provider-home.ts";

const secret = "sk-upstream-0123456789-very-secret";

const stage = useProviderHome();

describe("provider test of a vendor that lists all its models", () => {
  const manifest = () => `
providers:
  local: { vendor: ollama, base_url: "${stage.upstream.baseUrl}", allow_private: true }
models:
  chat: { endpoint: chat, price: { input: 1, output: 1 }, routes: [{ provider: local, model: big-chat }] }
  voice: { endpoint: speech, price: { input: 1, audio_output: 1 }, routes: [{ provider: local, model: loud-tts, voices: same }] }
  old-voice: { endpoint: speech, price: { input: 1, audio_output: 1 }, routes: [{ provider: local, model: gone-preview-tts, voices: same }] }
`;
  beforeEach(async () => {
    await stage.apply(manifest());
  });

  test("names the routes to models that are not listed, and is no failure", async () => {
    const said = succeeds(await stage.provider("test local"));
    expect(said).toContain("local does not list gone-preview-tts, which serves old-voice.");
    expect(said).not.toContain("does not list loud-tts");
    const trials = await stage.home.json<readonly TrialView[]>("provider test local");
    expect(trials.map(({ kind, ok, unlisted }) => [kind, ok, unlisted])).toEqual([
      ["chat", true, []],
      ["stream", true, []],
      ["speech", true, []],
      ["models", true, [{ model: "old-voice", upstream: "gone-preview-tts" }]],
    ]);
    expect(succeeds(await stage.provider("test local --model voice"))).not.toContain("not list");
  });
});

describe("provider test", () => {
  beforeEach(async () => {
    stage.home.writeConfig(standardManifest.replaceAll("UPSTREAM", stage.upstream.baseUrl));
    succeeds(
      await stage.home.svc(["apply", stage.home.configPath], { environment: { FAKE_KEY: secret } }),
    );
  });
  const withKey = { environment: { FAKE_KEY: secret } };

  test("makes one small call of each kind that its routes have", async () => {
    const trials = await stage.home.json<readonly TrialView[]>("provider test fake", withKey);
    expect(trials.map(({ kind, model, ok, problem }) => [kind, model, ok, problem])).toEqual([
      ["chat", "upstream-old-chat", true, null],
      ["stream", "upstream-old-chat", true, null],
      ["embeddings", "upstream-embed", true, null],
      ["media", "upstream-media", true, null],
      ["speech", "upstream-tts", true, null],
    ]);
    expect(stage.upstream.requests.map(({ path }) => path)).toEqual([
      "/v1/chat/completions",
      "/v1/chat/completions",
      "/v1/embeddings",
      "/v1/embeddings",
      "/v1/audio/speech",
    ]);
    const bodies = stage.upstream.requests.map(({ body }) => body.toString());
    expect(bodies[0]).toContain('"max_tokens":32');
    expect(bodies[3]).toContain("data:image/png;base64,");
  });

  test("tries the one model that is named, by our name, the upstream's, or one without a route", async () => {
    for (const [name, model] of [
      ["svc-2-flash", "upstream-old-chat"],
      ["upstream-slash", "upstream-slash"],
      ["brand-new", "brand-new"],
    ] as const) {
      const words = ["provider", "test", "fake", "--model", name];
      const trials = await stage.home.json<readonly TrialView[]>(words, withKey);
      expect(trials.map((trial) => [trial.kind, trial.model])).toEqual([
        ["chat", model],
        ["stream", model],
      ]);
    }
  });

  test("says in plain words what is wrong, for each call, and ends with 1", async () => {
    stage.upstream.replyWith(operatorErrors.badKey());
    const { code, stdout, stderr } = await stage.provider("test fake", withKey);
    expect(code).toBe(1);
    expect(stderr).toContain("5 of 5 calls failed");
    expect(stdout).toContain("fake rejected the key (401, invalid_api_key");
    expect(stdout).toContain("Check that the key in FAKE_KEY is for this vendor");
    expect(stdout).not.toContain("vendor****cret");
  });

  test("does not show a key that the upstream sends back", async () => {
    // One that looks like a word of code, and is therefore told as one.
    const key = "the_key_of_acme";
    stage.upstream.replyWith(vendorError(401, { message: key, code: key, type: key }));
    for (const line of ["test fake", "test fake --json"]) {
      const environment = { FAKE_KEY: key };
      const { code, stdout, stderr } = await stage.provider(line, { environment });
      expect([code, stdout.includes("401, …")]).toEqual([1, true]);
      expect(stdout + stderr).not.toContain(key);
    }
  });

  test("tells a missing model from a wrong address by what the server lists", async () => {
    const missing = operatorErrors.modelMissing();
    stage.upstream.replyWith((request) =>
      request.path.endsWith("/models") ? willingVendor(request) : missing,
    );
    const { stdout } = await stage.provider("test fake --model svc-3-flash", withKey);
    expect(stdout).toContain('fake has no model "upstream-chat"');
    expect(stdout).toContain("Available models: big-chat, small-embed");
    stage.upstream.replyWith(httpReply({ status: 404, body: ["<html>"], framing: "length" }));
    const trials = JSON.parse((await stage.provider("test fake --json", withKey)).stdout);
    for (const { problem } of trials) expect(problem.trouble).toBe("wrong_address");
  });

  test("says that a variable is not set where the gateway runs, and calls nobody", async () => {
    const server = await stage.home.serve();
    const { code, stdout } = await stage.provider("test fake", withKey);
    expect(code).toBe(1);
    expect(stdout).toContain("FAKE_KEY is not set in the gateway's environment");
    expect(stage.upstream.requests).toEqual([]);
    const listed = succeeds(await stage.provider("list"));
    expect(listed).toMatch(/fake\/upstream-chat +failing/);
    expect(listed).not.toContain("serving");
    expect(await server.stop()).toBe(0);
  });

  test("runs where the server runs, with the server's variables", async () => {
    const server = await stage.home.serve({ FAKE_KEY: secret });
    succeeds(await stage.provider("test fake"));
    for (const { headers } of stage.upstream.requests)
      expect(headers["authorization"]).toBe(`Bearer ${secret}`);
    expect(server.stdout() + server.stderr()).not.toContain(secret);
    expect(await server.stop()).toBe(0);
  });
});

describe("provider list and reset", () => {
  test("show a target that is out of service, and put it back by hand", async () => {
    stage.home.writeConfig(standardManifest.replaceAll("UPSTREAM", stage.upstream.baseUrl));
    const server = await stage.home.serve({ FAKE_KEY: secret });
    const messages = [{ role: "user", content: "Hi" }];
    const ask = () =>
      server.post("/chat/completions", { model: "svc-3-flash", max_tokens: 5, messages });
    const target = async () =>
      (await stage.list())[0]?.targets?.find(({ model }) => model === "upstream-chat");
    expect(await target()).toMatchObject({ state: "closed", requests: 0 });
    stage.upstream.replyWith(operatorErrors.badKey());
    expect((await ask()).status).toBe(502);
    // A probe confirms it beside the reply.
    await waitUntil("the target to be out", async () => (await target())?.state === "open");
    expect(await target()).toMatchObject({
      reason: "auth",
      until: expect.any(String),
    });
    const said = succeeds(await stage.provider("list"));
    expect(said).toMatch(/fake\/upstream-chat +failing \(skipped\) +key rejected/);
    expect(said).toMatch(/fake\/upstream-embed +untested/);
    expect(said).toContain("${FAKE_KEY} set");
    expect(said).toContain("svc provider reset");
    stage.upstream.replyWith(willingVendor);
    expect((await ask()).status).toBe(502);
    // A test calls the vendor itself: the router still leaves the target out, and that is told.
    const tested = succeeds(await stage.provider("test fake --model svc-3-flash"));
    expect(tested).toMatch(
      /upstream-chat is still out of service until 20\S+\. svc provider reset fake/,
    );
    expect(succeeds(await stage.provider("reset fake upstream-chat"))).toContain(
      "reset 1 target of fake",
    );
    expect(await target()).toMatchObject({ state: "closed" });
    expect((await ask()).status).toBe(200);
    const again = succeeds(await stage.provider("test fake --model svc-3-flash"));
    expect(again).not.toContain("out of service");
    const { code } = await stage.provider("reset fake nothing-there");
    expect(code).toBe(3);
    expect(await server.stop()).toBe(0);
  });

  test("a reset without a server says that there is nothing to do", async () => {
    succeeds(await stage.provider(`add ${stage.own(" --no-models")}`));
    expect(await stage.provider("reset mine")).toMatchObject(refusal(1, "is not running"));
  });
});
