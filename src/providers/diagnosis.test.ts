import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from "bun:test";
import { createServer } from "node:net";
import { createCertificate } from "../../test/fake/certificate.ts";
import { failures, operatorErrors } from "../../test/fake/openai/error-replies.ts";
import { chatStream, DONE, httpReply, vendorError } from "../../test/fake/recordings.ts";
import { type FakeUpstream, startFakeUpstream } from "../../test/fake/upstream.ts";
import { textOf, vendorErrors } from "../../test/providers/error-bodies.ts";
import type { TrialKind } from "../call/trial.ts";
import { createAiSdkProvider } from "./ai-sdk/provider.ts";
import { diagnose } from "./diagnosis.ts";
import type { Circumstances, Diagnosis } from "./finding.ts";
import { Dialer } from "./kit/dial.ts";
import { toApiFailure } from "./kit/failure.ts";
import { createOpenAiProvider } from "./openai/provider.ts";
import { listOffered, runTrial } from "./trial.ts";
import { createVertexProvider } from "./vertex/provider.ts";

const secret = "sk-a-very-secret-key";
const limits = { lookMs: 60_000, withinMs: 60_000 };

let upstream: FakeUpstream;
beforeAll(async () => {
  upstream = await startFakeUpstream();
});
afterEach(() => upstream.reset());
afterAll(() => upstream.stop());

const providerAt = (baseUrl: string, allowPrivate = true) =>
  createOpenAiProvider({
    name: "acme",
    baseUrl,
    apiKey: secret,
    dialer: new Dialer({ provider: "acme", allowPrivate }),
  });

interface Tried extends Partial<Circumstances> {
  readonly allowPrivate?: boolean;
  readonly kind?: TrialKind;
}

/** What is said of a real call that fails; there is never a key in it. */
async function diagnosisOf(baseUrl: string, tried: Tried = {}): Promise<Diagnosis> {
  const { allowPrivate, kind = "chat", ...more } = tried;
  try {
    await runTrial(providerAt(baseUrl, allowPrivate), { kind, model: "m-1" }, limits);
  } catch (error) {
    const diagnosis = diagnose(error, { provider: "acme", baseUrl, model: "m-1", ...more });
    expect(JSON.stringify(diagnosis)).not.toContain(secret);
    return diagnosis;
  }
  throw new Error("the call was made");
}

describe("what an upstream answers", () => {
  const answers: readonly (readonly [
    string,
    () => Parameters<FakeUpstream["replyWith"]>[0],
    Partial<Diagnosis>,
  ])[] = [
    [
      "a bad key",
      operatorErrors.badKey,
      {
        trouble: "bad_key",
        what: "acme rejected the key (401, invalid_api_key).",
      },
    ],
    ["overload", failures.unavailable, { trouble: "overloaded" }],
    ["its own time limit", failures.gatewayTimeout, { trouble: "timeout" }],
    [
      "its own failure",
      failures.internal,
      { trouble: "failed", what: "acme failed with status 500." },
    ],
    [
      "a page of a web server",
      () =>
        httpReply({
          headers: { "content-type": "text/html" },
          body: ["<!doctype html><title>Welcome</title>"],
          framing: "length",
        }),
      { trouble: "wrong_address" },
    ],
    ["a redirect", operatorErrors.redirect, { trouble: "wrong_address" }],
    [
      "a method that is not allowed there",
      () => httpReply({ status: 405, body: [], framing: "length" }),
      { trouble: "wrong_address" },
    ],
    [
      "a proxy that wants a password",
      () =>
        httpReply({
          status: 407,
          headers: { "proxy-authenticate": "Basic" },
          body: [],
          framing: "length",
        }),
      { trouble: "proxy", what: "The proxy requires a user name and password (407)." },
    ],
  ];
  for (const [name, reply, expected] of answers)
    test(`${name} is told in plain words, with what to do`, async () => {
      upstream.replyWith(reply());
      const diagnosis = await diagnosisOf(upstream.baseUrl);
      expect(diagnosis).toMatchObject(expected);
      expect(diagnosis.what).toMatch(/^\S.*\.$/);
      expect(diagnosis.advice.length).toBeGreaterThan(10);
    });

  test("every known vendor error gets its own diagnosis", () => {
    const troubles = {
      caller: "refused",
      key: "bad_key",
      credit: "no_credit",
      limit: "limited",
      overloaded: "overloaded",
      model: "model_missing",
      vendor: "failed",
    } as const;
    for (const { vendor, bodies } of vendorErrors)
      for (const row of bodies) {
        const { what, status, headers = {}, fault } = row;
        if (status === 200) continue;
        const error = toApiFailure({
          provider: "acme",
          status,
          headers: new Headers(headers),
          body: textOf(row),
        });
        const about = { provider: "acme", baseUrl: "https://x.example/v1", model: "m-1" };
        // What it offers is known; where it is not, a status other than 404 is enough.
        const offered = status === 404 ? ["m-2"] : null;
        expect([vendor, what, diagnose(error, { ...about, offered }).trouble]).toEqual([
          vendor,
          what,
          troubles[fault],
        ]);
      }
  });

  test("the vendor's own sentences are never repeated: they may quote keys", async () => {
    upstream.replyWith(vendorError(400, { message: `bad: ${secret} and more`, code: "odd_code" }));
    const { what, advice } = await diagnosisOf(upstream.baseUrl);
    expect(what + advice).not.toContain("and more");
    expect(what).toContain("odd_code");
  });

  test("a stream that ends without its end is a failure", async () => {
    upstream.replyWith(
      chatStream({ events: ['data: {"choices":[{"index":0,"delta":{"content":"O"}}]}'] }),
    );
    expect((await diagnosisOf(upstream.baseUrl, { kind: "stream" })).trouble).toBe("failed");
    const whole = [
      'data: {"choices":[{"index":0,"delta":{"content":"OK"},"finish_reason":"stop"}]}',
      DONE,
    ];
    upstream.replyWith(chatStream({ events: whole }));
    const trial = { kind: "stream", model: "m-1" } as const;
    expect(await runTrial(providerAt(upstream.baseUrl), trial, limits)).toContain("answered");
  });
});

describe("404", () => {
  const about = (offered: Circumstances["offered"]) => diagnosisOf(upstream.baseUrl, { offered });

  test("is a missing model where the server lists others", async () => {
    upstream.replyWith(operatorErrors.modelMissing());
    const { trouble, what, advice } = await about(["m-2", "m-3"]);
    expect(trouble).toBe("model_missing");
    expect(what).toContain('no model "m-1"');
    expect(advice).toContain("m-2, m-3");
  });

  test("is a missing model where the vendor says so, although it lists nothing", async () => {
    upstream.replyWith(operatorErrors.modelMissing());
    expect(await about(null)).toMatchObject({ trouble: "model_missing" });
  });

  test("is a wrong address where it lists nothing", async () => {
    upstream.replyWith(httpReply({ status: 404, body: ["not here"], framing: "length" }));
    expect(await about(null)).toMatchObject({ trouble: "wrong_address" });
  });
});

describe("the key's place", () => {
  const advice = async (keyVariable: Circumstances["keyVariable"]) => {
    upstream.replyWith(operatorErrors.badKey());
    return (await diagnosisOf(upstream.baseUrl, { keyVariable })).advice;
  };

  test("is told, so that the right one is mended", async () => {
    expect(await advice("ACME_KEY")).toContain("the key in ACME_KEY is for this vendor");
    expect(await advice(null)).toContain("replace the stored key");
    expect(await advice(undefined)).toContain("The provider has no key. Add one.");
    const isNew = true;
    const added = await diagnosisOf(upstream.baseUrl, { isNew, keyVariable: "ACME_KEY" });
    expect(added.advice).toStartWith("Check that the key in ACME_KEY is ");
    expect((await diagnosisOf(upstream.baseUrl, { isNew })).advice).toContain("Add the API key.");
  });
});

describe("the way there", () => {
  test("a port where nobody listens", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    await new Promise((resolve) => server.close(resolve));
    expect(await diagnosisOf(`http://127.0.0.1:${port}/v1`)).toMatchObject({
      trouble: "wrong_address",
      what: `http://127.0.0.1:${port}/v1 refused the connection.`,
    });
  });

  test("a name that nobody has", async () => {
    // Longer than a part of a name can be: it is refused without asking anybody.
    const diagnosis = await diagnosisOf(`https://${"x".repeat(64)}.example/v1`);
    expect(diagnosis.trouble).toBe("wrong_address");
    expect(diagnosis.what).toContain("cannot be resolved");
    expect(diagnosis.advice).toContain("Check base_url for typos");
    const usual = { isUsualAddress: true };
    const own = await diagnosisOf(`https://${"x".repeat(64)}.example/v1`, usual);
    expect(own.advice).toBe("Check that this machine is online and can resolve host names.");
  });

  test("an address of the own network that was not allowed", async () => {
    const diagnosis = await diagnosisOf("http://127.0.0.1:9/v1", { allowPrivate: false });
    expect(diagnosis.trouble).toBe("private_address");
    expect(diagnosis.advice).toContain("set allow_private on the provider");
    const added = { allowPrivate: false, isNew: true };
    expect((await diagnosisOf("http://127.0.0.1:9/v1", added)).advice).toContain("allow private");
    const metadata = await diagnosisOf("http://169.254.169.254/v1");
    expect(metadata.trouble).toBe("private_address");
    expect(metadata.what).toContain("blocked address");
  });

  test("a server that takes the connection and closes it", async () => {
    upstream.replyWith([{ reset: true }]);
    expect(await diagnosisOf(upstream.baseUrl)).toMatchObject({ trouble: "wrong_address" });
  });

  test("https where http is spoken", async () => {
    const diagnosis = await diagnosisOf(upstream.baseUrl.replace("http:", "https:"));
    expect(diagnosis.what).toContain("does not support TLS");
    expect(diagnosis.advice).toContain("http://");
  });

  test("a server that stays silent: the time is up, and it is looked at before", async () => {
    upstream.replyWith([]);
    const trial = { kind: "chat", model: "m-1" } as const;
    const error = await runTrial(providerAt(upstream.baseUrl), trial, {
      lookMs: 1,
      withinMs: 50,
    }).catch((thrown: unknown) => thrown);
    expect(diagnose(error, { provider: "acme", baseUrl: "" })).toMatchObject({
      trouble: "timeout",
    });
  });

  test("an answer that has begun in time may go on", async () => {
    const gate = Promise.withResolvers<void>();
    const [first = "", ...others] = [
      'data: {"choices":[{"index":0,"delta":{"content":"O"}}]}',
      'data: {"choices":[{"index":0,"delta":{"content":"K"},"finish_reason":"stop"}]}',
      DONE,
    ];
    const { bytes } = chatStream({ events: [first, ...others] });
    const begun = Buffer.from(bytes).indexOf(first) + first.length + 2;
    upstream.replyWith(({ body }) =>
      body.toString().includes('"stream":true')
        ? [
            { send: bytes.subarray(0, begun) },
            { until: gate.promise },
            { send: bytes.subarray(begun) },
          ]
        : [],
    );
    const within = { ...limits, firstByteMs: 1_000 };
    const provider = providerAt(upstream.baseUrl);
    const { promise: firstRead, resolve: heard } = Promise.withResolvers<void>();
    const streamChat: (typeof provider)["streamChat"] = async (call) => {
      const parts = await provider.streamChat?.(call);
      if (parts === undefined) throw new Error("No stream was made.");
      return { read: () => parts.read().finally(heard), cancel: () => parts.cancel() };
    };
    const nextTurn = setImmediate;
    jest.useFakeTimers();
    let stream: Promise<string>;
    try {
      stream = runTrial({ ...provider, streamChat }, { kind: "stream", model: "m-1" }, within);
      // With its first word, the time for that is no longer measured.
      await firstRead;
      await new Promise(nextTurn);
      const silent = runTrial(provider, { kind: "chat", model: "m-1" }, within);
      jest.advanceTimersByTime(1_000);
      const error = await silent.catch((thrown: unknown) => thrown);
      expect(diagnose(error, { provider: "acme", baseUrl: "" }).what).toBe(
        "acme did not respond within 1 s.",
      );
    } finally {
      // Before a connection is free: what closes those that rest is a timer of the process.
      jest.useRealTimers();
    }
    gate.resolve();
    expect(await stream).toContain("answered");
  });

  test("a proxy that is set is named where it may be the cause", async () => {
    const about = { proxyVariable: "HTTPS_PROXY" };
    const url = upstream.baseUrl.replace("http:", "https:");
    expect((await diagnosisOf(url, about)).advice).toContain("the proxy in HTTPS_PROXY");
    upstream.replyWith(operatorErrors.badKey());
    expect((await diagnosisOf(upstream.baseUrl, about)).advice).not.toContain("HTTPS_PROXY");
  });

  test("a tunnel that the proxy refuses", () => {
    const cause = Object.assign(new Error("Proxy refused to open a tunnel: 407 Proxy Auth"), {
      code: "ERR_PROXY_TUNNEL",
    });
    const { trouble } = diagnose(new Error("x", { cause }), { provider: "acme", baseUrl: "" });
    expect(trouble).toBe("proxy");
  });
});

describe("certificates", () => {
  const dayMs = 86_400_000;
  const served = async (certificate: ReturnType<typeof createCertificate>) => {
    const { cert, key } = certificate;
    const server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      tls: { cert, key },
      fetch: () => new Response(),
    });
    try {
      return await diagnosisOf(`https://127.0.0.1:${server.port}/v1`);
    } finally {
      await server.stop(true);
    }
  };

  const name = "127.0.0.1";
  const ago = (days: number) => new Date(Date.now() - days * dayMs);
  test.each([
    ["nobody else has signed", () => ({}), "is self-signed"],
    ["have expired", () => ({ from: ago(2), until: ago(1) }), "has expired"],
    [
      "are of an authority that is not known here",
      () => ({ issuer: createCertificate({ name: "Some Authority", isAuthority: true }) }),
      "an unknown certificate authority",
    ],
  ])("that %s", async (_, terms, words) => {
    const { trouble, what } = await served(createCertificate({ name, ...terms() }));
    expect([trouble, what.includes(words)]).toEqual(["certificate", true]);
  });
});

test("a provider that cannot make a kind of call says so instead of failing oddly", async () => {
  const provider = { name: "acme" };
  for (const kind of ["chat", "stream", "embeddings", "media", "speech"] as const) {
    const error = await runTrial(provider, { kind, model: "m" }, limits).catch(
      (thrown: unknown) => thrown,
    );
    const about = { provider: "acme", baseUrl: "", model: "m" };
    expect(diagnose(error, about).trouble).toBe("refused");
  }
  expect(await listOffered(provider, limits)).toBeUndefined();
});

describe("settings that no call can be made with", () => {
  const parts = { name: "acme", baseUrl: "", apiKey: undefined, allowPrivate: false };
  const dialer = new Dialer({ provider: "acme", allowPrivate: false });
  const trial = { kind: "chat", model: "m" } as const;
  const about = { provider: "acme", baseUrl: "" };

  test("are told apart from a key that is not accepted", async () => {
    const options = { region: "eu-central-1" };
    for (const [provider, words] of [
      [createVertexProvider({ ...parts, options: {}, dialer }), "project must be the id"],
      [
        createVertexProvider({ ...parts, options: { project: "a", location: "global" }, dialer }),
        "acme has no credentials.",
      ],
      [
        createAiSdkProvider({ ...parts, kind: "bedrock", options, dialer, takesUrls: false }),
        "acme has neither api_key nor access_key_id and secret_access_key.",
      ],
    ] as const) {
      const error = await runTrial(provider, trial, limits).catch((thrown: unknown) => thrown);
      const { trouble, what, advice } = diagnose(error, about);
      expect([trouble, what.includes(words)]).toEqual(["settings", true]);
      expect(advice).toEndWith("Edit the provider to change it.");
      const inFile = diagnose(error, { ...about, file: "svc.yaml" }).advice;
      expect(inFile).toEndWith("Change it in svc.yaml and apply the file.");
      expect(diagnose(error, { ...about, isNew: true }).advice).not.toMatch(/svc\.yaml|Edit/);
    }
  });
});
