import { describe, expect, test } from "bun:test";
import { toDecimal } from "../base/decimal.ts";
import { priceScale } from "../call/price.ts";
import { voices } from "../call/speak.ts";
import { findPublicPrice } from "../platform/prices/table.ts";
import { addressProblem } from "../providers/kit/address.ts";
import { createSecrets } from "../secrets/secrets.ts";
import { type ManifestModel, readManifest } from "./manifest.ts";
import { planApply } from "./plan.ts";
import { presetNames, readPreset } from "./presets.ts";

const nowMs = Date.parse("2026-11-15");
const set = ["GEMINI_API_KEY", "GOOGLE_CLOUD_PROJECT", "GOOGLE_APPLICATION_CREDENTIALS"];

const planOf = (text: string, variables: readonly string[]) =>
  planApply({
    manifest: readManifest(text, { checkAddress: addressProblem }),
    current: { providers: [], models: [] },
    secrets: createSecrets("0123456789abcdef0123456789abcdef"),
    hasVariable: (name) => variables.includes(name),
    nowMs,
  });

describe("the preset google", () => {
  const preset = readPreset("google");
  const manifest = readManifest(preset.text, { checkAddress: addressProblem });
  const modelOf = (id: string): ManifestModel => {
    const model = manifest.models.find((one) => one.id === id);
    if (model === undefined) throw new Error(`no ${id}`);
    return model;
  };

  test("can be applied as it is, without a problem or a warning", () => {
    const { warnings, differences } = planOf(preset.text, set);
    expect(warnings).toEqual([]);
    expect(differences.map(({ action, kind, name }) => `${action} ${kind} ${name}`)).toEqual([
      "create provider google",
      "create provider vertex",
      "create provider vertex-global",
      "create model svc-3-flash",
      "create model svc-embedding-2",
      "create model multimodal-embedding-1",
      "create model svc-2.5-flash-tts",
      "create model svc-2.5-pro-tts",
    ]);
  });

  test("says which variables it needs; one that is not set is a warning that names it", () => {
    expect(preset.variables).toEqual(set);
    const { warnings } = planOf(preset.text, ["GEMINI_API_KEY"]);
    expect(warnings).toHaveLength(4);
    expect(warnings[0]?.message).toContain("GOOGLE_CLOUD_PROJECT is not set");
  });

  test("has the whole catalogue of the contract on the vendor's own names", () => {
    const routes = manifest.models.map(({ id, endpoint, input, routes: targets }) => [
      id,
      endpoint,
      input,
      targets.map(({ provider, model, priority = 1 }) => `${provider}/${model} ${priority}`),
    ]);
    expect(routes).toEqual([
      [
        "svc-3-flash",
        "chat",
        "text",
        ["google/gemini-3-flash-preview 1", "vertex-global/gemini-3-flash-preview 2"],
      ],
      ["svc-embedding-2", "embeddings", "text", ["google/gemini-embedding-2 1"]],
      ["multimodal-embedding-1", "embeddings", "media", ["vertex/multimodalembedding@001 1"]],
      ["svc-2.5-flash-tts", "speech", "text", ["google/gemini-3.8-flash-lite-tts 1"]],
      ["svc-2.5-pro-tts", "speech", "text", ["google/gemini-3.8-flash-tts 1"]],
    ]);
    expect(voices).toEqual(["Kore", "Puck", "Charon", "Fenrir", "Aoede"]);
    expect(modelOf("svc-2.5-pro-tts").routes[0]?.voices).toBe("same");
  });

  test("costs what the public table lists, where it lists it", async () => {
    const listed: string[] = [];
    for (const { id, routes } of manifest.models) {
      const [route] = routes;
      const baseUrl = manifest.providers.find(({ name }) => name === route?.provider)?.baseUrl;
      const found = await findPublicPrice({ model: route?.model ?? "", baseUrl, nowMs });
      if (found === undefined) continue;
      listed.push(id);
      expect([id, route?.cost]).toEqual([id, found.price]);
    }
    expect(listed).toEqual(["svc-3-flash", "svc-embedding-2"]);
  });

  test("asks of callers what it costs, unless a markup is told: then that much more, never less", () => {
    for (const { price, routes } of manifest.models) expect(price).toEqual(routes[0]?.cost);
    const raised = readPreset("google", { toPrice: (units) => (units * 1125n + 999n) / 1000n });
    const dearer = readManifest(raised.text, { checkAddress: addressProblem });
    const textOf = (key: "input" | "image", id: string) =>
      toDecimal(
        dearer.models.find((model) => model.id === id)?.price?.[key] ?? 0n,
        priceScale(key),
      );
    expect(textOf("input", "svc-3-flash")).toBe("0.5625");
    expect(textOf("image", "multimodal-embedding-1")).toBe("0.0001125");
    expect(dearer.models.map(({ routes }) => routes)).toEqual(
      manifest.models.map(({ routes }) => routes),
    );
    expect(raised.text).toContain("# check against the vendor's list");
  });

  test("bounds what a call can cost", () => {
    expect(modelOf("svc-3-flash")).toMatchObject({
      maxOutputTokens: 65_536,
      maxImageTokens: 1_120,
    });
    expect(modelOf("svc-2.5-flash-tts").maxAudioSeconds).toBe(656);
  });

  test("takes another variable or place, and leaves its remarks where they are", () => {
    const { text, variables } = readPreset("google", {
      fields: { google: { api_key: "${GOOGLE_API_KEY}" }, vertex: { location: "europe-west4" } },
    });
    expect(variables).toContain("GOOGLE_API_KEY");
    expect(variables).not.toContain("GEMINI_API_KEY");
    expect(text).toBe(
      preset.text
        .replace("${GEMINI_API_KEY}", "${GOOGLE_API_KEY}")
        .replace("us-central1", "europe-west4"),
    );
  });
});

test("every preset is a file that can be applied", () => {
  expect(presetNames.length).toBeGreaterThan(0);
  for (const name of presetNames)
    expect(() =>
      readManifest(readPreset(name).text, { checkAddress: addressProblem }),
    ).not.toThrow();
});
