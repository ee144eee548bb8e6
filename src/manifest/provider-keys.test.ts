/** Several keys of one provider in svc.yaml. */

import { describe, expect, test } from "bun:test";
import { nothing, plan, planStore } from "../../test/setup/plan-home.ts";
import type { CatalogContent } from "../catalog/catalog.ts";
import type { ProviderEntry } from "../catalog/model.ts";
import { exportManifest } from "./export.ts";

/** As svc.yaml, or as a command. */
const planOf = (text: string, current: CatalogContent, file?: string) =>
  file === undefined ? planStore(text, current) : plan(text, current);
const saved = (text: string, current = nothing, file?: string): ProviderEntry => {
  const [entry] = planOf(text, current, file).write.saveProviders ?? [];
  if (entry === undefined) throw new Error("nothing would be saved");
  return entry;
};
const withEntry = (entry: ProviderEntry): CatalogContent => ({ providers: [entry], models: [] });

const provider = (fields: string) => `
providers:
  acme:
    kind: openai
    base_url: https://acme.example/v1
${fields.replaceAll(/^/gm, "    ")}
`;
const two = provider(`api_keys:
  - { name: main, key: "\${A}", weight: 2 }
  - { key: sk-literal-0123456789 }`);

describe("api_keys", () => {
  test("have a name, a weight and a secret each; literals are sealed, with a hint", () => {
    expect(saved(two).keys).toEqual([
      { name: "main", secret: { variable: "A" }, weight: 2 },
      { name: "key-2", secret: { sealed: expect.any(String), hint: "6789" }, weight: 1 },
    ]);
  });

  test("are exported and applied again without a change", () => {
    const entry = saved(two);
    const text = exportManifest(withEntry(entry), 1);
    expect(text).toContain("key: ${A}");
    expect(text).not.toContain("sk-literal");
    expect(planOf(text, withEntry(entry)).differences).toEqual([]);
    expect(planOf(two, withEntry(entry)).differences).toEqual([]);
  });

  test("of a file can stand beside api_key, and are the file's", () => {
    const text = provider(`api_key: "\${D}"\napi_keys: [{ name: more, key: "\${M}" }]`);
    const entry = saved(text, nothing, "svc.yaml");
    expect(entry).toMatchObject({ apiKey: { variable: "D" }, keys: [{ name: "more" }] });
    expect(entry.origin?.fields).toContain("api_keys");
  });

  test("of the store stay where a file states api_key alone", () => {
    const file = "svc.yaml";
    const owned = saved(provider(`api_key: "\${D}"`), nothing, file);
    const more = [{ name: "more", secret: { variable: "M" }, weight: 3 }];
    const after = saved(provider(`api_key: "\${E}"`), withEntry({ ...owned, keys: more }), file);
    expect(after).toMatchObject({ apiKey: { variable: "E" }, keys: more });
  });

  test("that the file drops go with it", () => {
    const file = "svc.yaml";
    const owned = saved(two, nothing, file);
    expect(saved(provider(`api_key: "\${D}"`), withEntry(owned), file).keys).toBeUndefined();
  });

  test("and the provider stay paused, whatever the file says", () => {
    const file = "svc.yaml";
    const owned = saved(
      provider(`api_key: "\${D}"\n${two.slice(two.indexOf("api_keys"))}`.replaceAll(/^ {4}/gm, "")),
      nothing,
      file,
    );
    const paused: ProviderEntry = {
      ...owned,
      isPaused: true,
      keys: owned.keys?.map((key) => ({ ...key, isPaused: true as const })) ?? [],
    };
    const after = saved(two, withEntry(paused), file);
    expect(after.isPaused).toBe(true);
    expect(after.keys?.map(({ isPaused }) => isPaused)).toEqual([true, true]);
  });

  test("that are wrong are named with their place", () => {
    for (const [fields, says] of [
      [`api_keys: [{ name: a }]`, "api_keys.0.key is missing"],
      [`api_keys: [{ key: "$A" }]`, "api_keys.0.key must be ${A}, with braces"],
      [`api_keys: [{ key: "a b" }]`, "api_keys.0.key must contain only printable ASCII"],
      [`api_keys: [{ key: k, weight: -1 }]`, "api_keys.0.weight must be a whole number"],
      [`api_keys: [{ key: k, name: "a b" }]`, "api_keys.0.name is not a valid name"],
      [
        `api_keys: [{ key: k, name: a }, { key: l, name: a }]`,
        'api_keys.1.name "a" is already taken by another key',
      ],
      [
        `api_key: k\napi_keys: [{ key: l, name: default }]`,
        'api_keys.0.name "default" is already taken by another key',
      ],
      [`api_keys: [${"{ key: k }, ".repeat(21)}]`, "api_keys must have at most 20 keys"],
      [`api_keys: main`, "api_keys must be a list"],
    ] as const)
      expect(() => planStore(provider(fields))).toThrow(says);
  });
});

test("a paused api_key of a file is still its api_key", () => {
  const file = "svc.yaml";
  const owned = saved(provider(`api_key: "\${D}"`), nothing, file);
  const { apiKey, ...rest } = owned;
  if (apiKey === undefined) throw new Error("there is no key");
  const paused: ProviderEntry = {
    ...rest,
    keys: [{ name: "default", secret: apiKey, weight: 1, isPaused: true }],
  };
  const again = planOf(provider(`api_key: "\${D}"`), withEntry(paused), file);
  expect(again.differences).toEqual([]);
  const changed = saved(provider(`api_key: "\${E}"`), withEntry(paused), file);
  expect(changed.keys).toEqual([
    { name: "default", secret: { variable: "E" }, weight: 1, isPaused: true },
  ]);
  expect(exportManifest(withEntry(paused), 1)).toContain("api_key: ${D}");
});
