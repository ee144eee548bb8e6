import { describe, expect, test } from "bun:test";
import { after, nothing, plan, planStore, secrets } from "../../test/setup/plan-home.ts";
import { Problem } from "../base/problem.ts";
import type { CatalogContent } from "../catalog/catalog.ts";
import { exportManifest } from "./export.ts";

const whole = `
providers:
  plain: { kind: openai, base_url: "https://plain.example/v1" }
  named: { kind: openai, base_url: "https://named.example/v1", api_key: "\${KEY}" }
  literal: { kind: openai, base_url: "https://literal.example/v1", api_key: sk-vendor-literal, allow_private: true }
models:
  chat: { endpoint: chat, owned_by: acme, max_output_tokens: 8192, price: { input: 0.30, cached_input: 0.03, output: 2.50 }, routes: [{ provider: plain, model: a, weight: 3 }, { provider: named, model: b, weight: 0 }] }
  vendor/text: { endpoint: embeddings, input: text, price: { input: 0.000000001 }, routes: [{ provider: literal, model: c }] }
  media: { endpoint: embeddings, input: media, price: { image: 0.000000000000001, video_second: 0 }, routes: [{ provider: literal, model: d }] }
  speech: { endpoint: speech, price: { input: 1, audio_output: 20 }, routes: [{ provider: plain, model: e, voices: { Kore: a, Puck: b, Charon: c, Fenrir: d, Aoede: e } }] }
  same: { endpoint: speech, price: { input: 1, audio_output: 20 }, routes: [{ provider: plain, model: e, voices: same }] }
  bare: { endpoint: chat }
`;
const stored = after(plan(whole));

describe("a plan", () => {
  test("creates what is not there", () => {
    expect(plan(whole).differences.map(({ action, kind, name }) => [action, kind, name])).toEqual([
      ...["plain", "named", "literal"].map((name) => ["create", "provider", name]),
      ...["chat", "vendor/text", "media", "speech", "same", "bare"].map((name) => [
        "create",
        "model",
        name,
      ]),
    ]);
  });

  test("changes nothing the second time", () => {
    const again = plan(whole, stored);
    expect(again.differences).toEqual([]);
    expect(after(again, stored)).toEqual(stored);
  });

  test("names each field that changes, with the value before and after", () => {
    const text = whole
      .replace("output: 2.50", "output: 2.75")
      .replace("max_output_tokens: 8192, ", "")
      .replace("weight: 3", "weight: 1")
      .replace("https://plain.example/v1", "https://plain.example/v2");
    expect(plan(text, stored).differences).toEqual([
      {
        action: "change",
        kind: "provider",
        name: "plain",
        fields: [
          { field: "base_url", from: "https://plain.example/v1", to: "https://plain.example/v2" },
        ],
      },
      {
        action: "change",
        kind: "model",
        name: "chat",
        fields: [
          { field: "max_output_tokens", from: "8192", to: null },
          { field: "price.output", from: "2.5", to: "2.75" },
          { field: "routes", from: "plain/a ×3, named/b ×0", to: "plain/a, named/b ×0" },
        ],
      },
    ]);
  });

  test("adds a version for a price that is new, other or gone, and none for one that stays", () => {
    const added = (text: string, current = stored) =>
      plan(text, current).write.addPrices?.map(({ modelId, price }) => [modelId, price]);
    expect(plan(whole).write.addPrices).toHaveLength(5);
    expect(plan(whole).write.addPrices?.[0]).toEqual({
      modelId: "chat",
      price: { input: 300_000_000n, cached_input: 30_000_000n, output: 2_500_000_000n },
      // The first price is in force whatever the clock says.
      effectiveAtMs: 0,
      createdAtMs: 1_000,
    });
    const cheaper = whole.replace("cached_input: 0.03", "cached_input: 0.02");
    expect(plan(cheaper, stored).write.addPrices?.[0]?.effectiveAtMs).toBe(1_000);
    expect(added(whole)).toEqual([]);
    expect(added(whole.replace("cached_input: 0.03, ", ""))).toEqual([
      ["chat", { input: 300_000_000n, output: 2_500_000_000n }],
    ]);
    expect(added(whole.replace("price: { input: 0.000000001 }", "price: none"))).toEqual([
      ["vendor/text", undefined],
    ]);
    expect(added(whole.replace("weight: 3", "weight: 1"))).toEqual([]);
  });

  test("leaves a price and a vendor's cost alone that the file says nothing of", () => {
    const { write, differences } = plan(
      whole.replace("price: { input: 0.000000001 }, ", ""),
      stored,
    );
    expect([write.addPrices, differences]).toEqual([[], []]);
    const cost = { input: 5n };
    const models = stored.models.map((model) => ({
      ...model,
      routes: model.routes.map((route) => ({ ...route, cost })),
    }));
    const kept = plan(whole, { ...stored, models });
    expect(kept.differences).toEqual([]);
    expect(kept.write.saveModels?.[0]?.routes.map((route) => route.cost)).toEqual([cost, cost]);
  });

  test("replaces a price ahead by the one that the file states, at its moment", () => {
    const models = stored.models.map((model) => ({
      ...model,
      prices: [
        ...model.prices,
        { version: 2, effectiveAtMs: 2_000, createdAtMs: 1_000, price: { input: 7n, output: 7n } },
      ],
    }));
    const { differences, write } = plan(whole, { ...stored, models });
    const priced = whole.match(/price:/g) ?? [];
    expect(differences.flatMap(({ fields }) => fields.map(({ field }) => field))).toEqual(
      priced.map(() => "price from 1970-01-01T00:00:02Z"),
    );
    expect(write.addPrices?.map(({ effectiveAtMs }) => effectiveAtMs)).toEqual(
      priced.map(() => 2_000),
    );
    const silent = whole.replace(/price: \{[^}]*\}, /g, "");
    expect(plan(silent, { ...stored, models }).differences).toEqual([]);
  });

  test("names the bounds and the vendor's costs that change", () => {
    const text = whole
      .replace("max_output_tokens: 8192", "max_output_tokens: 8192, max_image_tokens: 1600")
      .replace("model: a, weight: 3", "model: a, weight: 3, cost: { input: 0.1, output: 1.25 }");
    expect(plan(text, stored).differences).toMatchObject([
      {
        name: "chat",
        fields: [
          { field: "max_image_tokens", from: null, to: "1600" },
          { field: "routes", to: "plain/a ×3 (costs input 0.1, output 1.25), named/b ×0" },
        ],
      },
    ]);
    const with2 = after(plan(text, stored), stored);
    expect(plan(exportManifest(with2, 1_000), with2).differences).toEqual([]);
  });

  test("sees every change of a voice, however the names are cut", () => {
    const text = whole
      .replace("Kore: a, Puck: b", "Kore: a/b, Puck: c")
      .replace("Charon: c", "Charon: d");
    const moved = text.replace("Kore: a/b, Puck: c", "Kore: a, Puck: b/c");
    expect(plan(moved, after(plan(text, stored), stored)).differences).toMatchObject([
      { action: "change", name: "speech", fields: [{ field: "routes" }] },
    ]);
  });

  test("removes the providers that the file no longer has, with all routes to them", () => {
    const others = after(
      planStore(
        "models:\n  own: { endpoint: chat, routes: [{ provider: plain, model: x }] }\n",
        stored,
      ),
      stored,
    );
    const { differences, write } = plan("", others);
    expect(write.removeProviders).toEqual(["plain", "named", "literal"]);
    const left = after(plan("", others), others);
    expect(left.providers).toEqual([]);
    expect(left.models.flatMap(({ routes }) => routes)).toEqual([]);
    expect(differences).toContainEqual({
      action: "change",
      kind: "model",
      name: "own",
      fields: [{ field: "routes", from: "plain/x", to: "" }],
    });
  });

  test("never removes a model: it becomes the store's, with its price", () => {
    const providers = whole.slice(0, whole.indexOf("models:"));
    const planned = plan(providers, stored);
    expect(planned.differences).toMatchObject(
      stored.models.map(({ id }) => ({ action: "keep", name: id })),
    );
    const left = after(planned, stored);
    expect(left.models.map(({ id }) => id)).toEqual(stored.models.map(({ id }) => id));
    expect(left.models.every(({ origin }) => origin === undefined)).toBe(true);
    expect(left.models[0]?.routes).toEqual(stored.models[0]?.routes ?? []);
    expect(plan(providers, left).differences).toEqual([]);
  });

  test("keeps the birthday and the lifecycle of a model", () => {
    const lifecycle = { deprecatedAtMs: 5, retiresAtMs: 9, replacement: "same" };
    const [speech] = stored.models.filter(({ id }) => id === "speech");
    const before = { ...stored, models: [{ ...speech, createdAtMs: 3, lifecycle }] };
    const { write } = plan(whole, before as CatalogContent);
    expect(write.saveModels?.find(({ id }) => id === "speech")).toMatchObject({
      createdAtMs: 3,
      lifecycle,
    });
    expect(write.saveModels?.find(({ id }) => id === "chat")).toMatchObject({
      createdAtMs: 1_000,
      lifecycle: {},
    });
  });

  test("warns of variables that are not set and of models that cannot be served", () => {
    expect(plan(whole).warnings).toEqual([
      {
        kind: "not_served",
        subject: "bare",
        message: "model bare has no price and no route, so it is not listed and cannot be called",
      },
    ]);
    expect(plan(whole, nothing, []).warnings[0]).toMatchObject({
      kind: "missing_variable",
      subject: "named",
      message: expect.stringContaining("provider named: KEY is not set"),
    });
  });
});

describe("a provider's key", () => {
  const keyOf = (content: CatalogContent, name: string) =>
    content.providers.find((provider) => provider.name === name)?.apiKey;
  const literal = keyOf(stored, "literal") as { readonly sealed: string };

  test("is stored by its variable's name, or sealed to its place", () => {
    expect(keyOf(stored, "plain")).toBeUndefined();
    expect(keyOf(stored, "named")).toEqual({ variable: "KEY" });
    expect(literal.sealed).not.toContain("vendor");
    expect(secrets.open(literal.sealed, "provider:literal")).toBe("sk-vendor-literal");
    expect(() => secrets.open(literal.sealed, "provider:plain")).toThrow();
  });

  test("that is literal is shown in no difference, also when it changes", () => {
    const changed = plan(whole.replace("sk-vendor-literal", "sk-vendor-other"), stored);
    expect(changed.differences).toEqual([
      {
        action: "change",
        kind: "provider",
        name: "literal",
        fields: [{ field: "api_key", from: "<stored>", to: "<stored>" }],
      },
    ]);
    const shown = JSON.stringify([plan(whole).differences, changed.differences]);
    expect(shown).not.toContain("sk-vendor");
    expect(shown).not.toContain(literal.sealed);
  });

  test("written as <stored> stays what it is, and is refused where nothing is stored", () => {
    const text = whole.replace("sk-vendor-literal", "<stored>");
    expect(plan(text, stored).differences).toEqual([]);
    expect(keyOf(after(plan(text, stored), stored), "literal")).toEqual(literal);
    expect(() => plan(text)).toThrow(Problem);
    expect(() => plan(whole.replace("${KEY}", "<stored>"), stored)).toThrow(/provider named/);
  });

  test("is not taken to another address, unless it is written again", () => {
    const moved = whole.replace("literal.example", "thief.example");
    const refused = /Provider literal: a stored secret is not sent to another address/;
    const unowned = after(planStore(whole));
    expect(() => plan(moved.replace("sk-vendor-literal", "<stored>"), stored)).toThrow(refused);
    for (const key of ["api_key: <stored>, ", ""])
      expect(() => planStore(moved.replace("api_key: sk-vendor-literal, ", key), unowned)).toThrow(
        refused,
      );
    const key = keyOf(after(plan(moved, stored), stored), "literal") as typeof literal;
    expect(secrets.open(key.sealed, "provider:literal")).toBe("sk-vendor-literal");
    const list = "api_keys: [{ name: second, key: <stored> }]";
    const listed = stored.providers.map((one) =>
      one.name === "literal"
        ? { ...one, keys: [{ name: "second", secret: literal, weight: 1 }] }
        : one,
    );
    expect(() =>
      plan(moved.replace("api_key: sk-vendor-literal", list), { ...stored, providers: listed }),
    ).toThrow(refused);
  });
});

describe("an export", () => {
  test("applied again changes nothing, and holds no secret", () => {
    const text = exportManifest(stored, 1_000);
    expect(planStore(text, stored).differences).toEqual([]);
    expect(after(planStore(text, stored), stored)).toEqual(stored);
    expect(text).toContain("api_key: ${KEY}");
    expect(text).toContain("api_key: <stored>");
    expect(text).not.toContain("sk-vendor");
  });

  test("writes prices with all their digits", () => {
    const text = exportManifest(stored, 1_000);
    for (const price of ["0.000000001", "0.000000000000001", "2.50", "0.03"])
      expect(text).toContain(price);
  });
});
