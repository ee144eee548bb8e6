import { describe, expect, test } from "bun:test";
import { Problem } from "../base/problem.ts";
import { readManifest } from "./manifest.ts";
import type { AddressCheck } from "./read-provider.ts";

const anyAddress: AddressCheck = () => undefined;
const read = (text: string) => readManifest(text, { checkAddress: anyAddress });

const upstream = `providers:
  up: { kind: openai, base_url: "https://up.example/v1" }
`;
const withModel = (fields: string) => `${upstream}models:
  m: { ${fields} }
`;
const priceOf = (text: string) =>
  read(withModel(`endpoint: chat, price: { input: ${text}, output: 0 }`)).models[0]?.price?.input;

function problemsOf(text: string, check = anyAddress): string[] {
  try {
    readManifest(text, { checkAddress: check });
  } catch (error) {
    if (error instanceof Problem && error.code === "invalid") return error.message.split("\n");
    throw error;
  }
  return [];
}

describe("prices", () => {
  test("are exact to the last digit, quoted or not", () => {
    for (const [text, nano] of [
      ["0.30", 300_000_000n],
      ["0.1", 100_000_000n],
      ["0.000000001", 1n],
      ["9999.123456789", 9_999_123_456_789n],
      ["10000", 10_000_000_000_000n],
      ["0.100000000000", 100_000_000n],
      ["007", 7_000_000_000n],
      ["0", 0n],
    ] as const) {
      expect(priceOf(text)).toBe(nano);
      expect(priceOf(`"${text}"`)).toBe(nano);
      expect(priceOf(`'${text}'`)).toBe(nano);
    }
  });

  test("of images and seconds of video go to a nano-USD per million of them", () => {
    const { models } = read(
      withModel(
        "endpoint: embeddings, input: media, price: { image: 0.000000000000001, video_second: 2 }",
      ),
    );
    expect(models[0]?.price).toEqual({ image: 1n, video_second: 2_000_000_000_000_000n });
  });

  test("that are no plain decimals, or too fine, are refused with what was written", () => {
    for (const text of ["1e-3", "-1", ".5", "1.", "1,5", "0x10", "free", "0.0000000001", "1_000"]) {
      const [problem] = problemsOf(
        withModel(`endpoint: chat, price: { input: "${text}", output: 0 }`),
      );
      expect(problem).toBe(
        `line 4: models.m.price.input must be an amount in USD with at most 9 decimal places, not "${text}"`,
      );
    }
  });

  test("must cover every class that the model is billed by", () => {
    const missing = (fields: string) =>
      problemsOf(withModel(fields)).map((line) => /price\.(\w+) is missing/.exec(line)?.[1]);
    expect(missing("endpoint: chat, price: { cached_input: 1 }")).toEqual(["input", "output"]);
    expect(missing("endpoint: embeddings, input: text, price: { image: 1 }")).toEqual(["input"]);
    expect(missing("endpoint: embeddings, input: media, price: { input: 1 }")).toEqual([
      "image",
      "video_second",
    ]);
    expect(
      missing("endpoint: speech, price: { output: 1 }").filter((key) => key !== undefined),
    ).toEqual(["input", "audio_output"]);
  });
});

test("a route tells the vendor's cost as exactly as a price, of any classes", () => {
  const route = "{ provider: up, model: x, cost: { input: 0.000000001 } }";
  const { models } = read(withModel(`endpoint: chat, routes: [${route}]`));
  expect(models[0]?.routes[0]?.cost).toEqual({ input: 1n });
  const wrong = "{ provider: up, model: x, cost: { input: -1 } }";
  expect(problemsOf(withModel(`endpoint: chat, routes: [${wrong}]`))[0]).toContain("cost.input");
});

test("bounds on images and seconds of audio are told where they apply, and only there", () => {
  const { models } = read(withModel("endpoint: chat, max_image_tokens: 1600"));
  expect(models[0]?.maxImageTokens).toBe(1600);
  expect(
    read(withModel("endpoint: speech, max_audio_seconds: 60")).models[0]?.maxAudioSeconds,
  ).toBe(60);
  for (const fields of [
    "endpoint: speech, max_image_tokens: 5",
    "endpoint: chat, max_audio_seconds: 5",
  ])
    expect(problemsOf(withModel(fields))[0]).toContain("does not apply to this endpoint");
  expect(problemsOf(withModel("endpoint: chat, max_image_tokens: 0"))).toHaveLength(1);
});

describe("problems", () => {
  test("are told all at once, each with its line", () => {
    const text = `providers:
  bad name: { kind: openai, base_url: "https://up.example" }
  up:
    kind: telnet
    base_url: "https://up.example/v1"
    allow_private: maybe
models:
  one:
    endpoint: chat
    owner: me
    max_output_tokens: 0
    routes:
      - { provider: none, model: x }
      - { provider: up, weight: -1 }
  two: { endpoint: video }
  three: { endpoint: chat, input: text }
extra: 1
`;
    const found = problemsOf(text);
    expect(found.map((line) => line.split(" ").slice(0, 3).join(" "))).toEqual([
      "line 17: extra",
      "line 2: providers.bad",
      "line 4: providers.up.kind",
      "line 6: providers.up.allow_private",
      "line 10: models.one.owner",
      "line 11: models.one.max_output_tokens",
      "line 13: models.one.routes.0.provider",
      "line 14: models.one.routes.1.model",
      "line 14: models.one.routes.1.weight",
      "line 15: models.two.endpoint",
      "line 16: models.three.input",
    ]);
  });

  test("of the YAML itself have a line, too", () => {
    for (const text of ["a: [", "a: 1\na: 2", "providers: { x: ${Y} }", "\tx: 1", "x: *none"]) {
      const [problem] = problemsOf(text);
      expect(problem).toMatch(/line \d+/);
    }
  });

  test("of shape are told instead of crashing", () => {
    for (const text of [
      "- a",
      "word",
      "models: 7",
      "models: [a]",
      "models: { m: word }",
      "models: { m: { endpoint: chat, routes: { a: 1 } } }",
      "models: { m: { endpoint: chat, routes: [word] } }",
      "models: { m: { endpoint: chat, price: 7 } }",
      "models: { m: { endpoint: chat, price: { input: [1], output: 1 } } }",
      "models: { m: { endpoint: [chat] } }",
      "models: { __proto__: { endpoint: chat } }",
      "providers: { up: }",
    ]) {
      const found = problemsOf(text);
      expect(found.length).toBeGreaterThan(0);
      for (const line of found) expect(line).toMatch(/^line \d+: /);
    }
  });

  test("an empty file declares nothing and is no problem", () => {
    for (const text of ["", "# only a comment", "providers:\nmodels:\n"])
      expect(read(text)).toEqual({ providers: [], models: [] });
  });

  test("the address of a provider is judged with the operator's word on private ones", () => {
    const asked: (readonly [string, boolean])[] = [];
    const check: AddressCheck = (baseUrl, allowPrivate) => {
      asked.push([baseUrl, allowPrivate]);
      return "is not liked";
    };
    const [problem] = problemsOf(
      `providers:\n  up: { kind: openai, base_url: "http://h/v1//", allow_private: true }\n`,
      check,
    );
    expect(asked).toEqual([["http://h/v1", true]]);
    expect(problem).toBe("line 2: providers.up.base_url is not liked");
  });
});

describe("voices", () => {
  const speech = (voices: string) => `${upstream}models:
  m:
    endpoint: speech
    routes:
      - { provider: up, model: x${voices === "" ? "" : `, voices: ${voices}`} }
`;

  test("are all five, or the upstream's own under the same names", () => {
    const all = { Kore: "a", Puck: "b", Charon: "c", Fenrir: "d", Aoede: "e" };
    const [mapped] = read(speech("{ Aoede: e, Kore: a, Puck: b, Charon: c, Fenrir: d }")).models;
    expect(mapped?.routes[0]?.voices).toEqual(all);
    expect(read(speech("same")).models[0]?.routes[0]?.voices).toBe("same");
  });

  test("are refused when one is missing, unknown or unnamed, and when the map is", () => {
    for (const [voices, path] of [
      ["", "voices is missing"],
      ["alloy", "voices must be"],
      ["{ Kore: a, Puck: b, Charon: c, Fenrir: d }", "voices.Aoede is missing"],
      ["{ Kore: a, Puck: b, Charon: c, Fenrir: d, Aoede: }", "voices.Aoede is missing"],
      ["{ Kore: a, Puck: b, Charon: c, Fenrir: d, aoede: e }", "voices.aoede is not a known field"],
      ["{}", "voices.Kore is missing"],
    ] as const) {
      const found = problemsOf(speech(voices));
      expect(found.join("\n")).toContain(`line 7: models.m.routes.0.${path}`);
    }
  });

  test("are for speech models only", () => {
    const [problem] = problemsOf(
      withModel("endpoint: chat, routes: [{ provider: up, model: x, voices: same }]"),
    );
    expect(problem).toContain("voices applies only to speech models");
  });
});

describe("dimensions of a route", () => {
  const embedding = (dimensions: string) =>
    withModel(
      `endpoint: embeddings, input: text, routes: [{ provider: up, model: x, dimensions: ${dimensions} }]`,
    );

  test("are the model's own, or 3072", () => {
    expect(read(embedding("own")).models[0]?.routes[0]?.dimensions).toBe("own");
    expect(read(embedding("3072")).models[0]?.routes[0]?.dimensions).toBe(3072);
  });

  test("are nothing else, and for embeddings models only", () => {
    expect(problemsOf(embedding("768")).join()).toContain("dimensions must be own or 3072");
    const [problem] = problemsOf(
      withModel("endpoint: chat, routes: [{ provider: up, model: x, dimensions: own }]"),
    );
    expect(problem).toContain("dimensions applies only to embeddings models");
  });
});

test("a reference inside other text is refused, not stored as a key", () => {
  const [problem] = problemsOf(
    'providers:\n  up: { kind: openai, base_url: "https://up.example/v1", api_key: "Bearer ' +
      '${UP_KEY}" }\n',
  );
  expect(problem).toContain("line 2: providers.up.api_key must be exactly ${NAME}");
});

test("a file that cannot be read is told by its place, never by its line: that may hold a key", () => {
  for (const text of [
    'providers:\n  a: { api_key: "sk-SECRET }\n',
    "providers:\n  a:\n    api_key: sk-SECRET: x\n",
    "providers:\n  a:\n    api_key: sk-SECRET\n   kind: openai\n",
  ]) {
    let message = "";
    try {
      readManifest(text, { checkAddress: anyAddress });
    } catch (error) {
      message = String(error);
    }
    expect(message).toMatch(/line \d+, column \d+: /);
    expect(message).not.toContain("SECRET");
  }
});

test("image_urls of a provider is true or false, and only where its kind passes addresses on", () => {
  const provider = (fields: string) =>
    `providers:\n  up: { base_url: "https://up.example/v1", ${fields} }\n`;
  expect(problemsOf(provider("kind: openai, image_urls: true"))).toEqual([]);
  expect(problemsOf(provider("kind: openai, image_urls: maybe"))).toEqual([
    "line 2: providers.up.image_urls must be one of: true, false",
  ]);
  expect(problemsOf(provider("kind: gemini, api_key: k, image_urls: true"))).toHaveLength(1);
});
