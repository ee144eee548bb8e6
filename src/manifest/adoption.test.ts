import { describe, expect, test } from "bun:test";
import { after, optionsOf, plan, planStore } from "../../test/setup/plan-home.ts";
import type { CatalogContent } from "../catalog/catalog.ts";
import { planAdoption } from "./adoption.ts";
import { planApply } from "./plan.ts";

describe("what belongs to whom", () => {
  const provider = `providers:\n  up: { kind: openai, base_url: "https://up.example/v1" }\n`;
  const model = (fields: string) => `${provider}models:\n  m: { endpoint: chat${fields} }\n`;
  const routed = ", routes: [{ provider: up, model: a }]";
  const modelOf = (content: CatalogContent) => content.models.find(({ id }) => id === "m");

  test("a file marks what it states, and a command marks nothing", () => {
    const text = model(
      ", max_output_tokens: 9, routes: [{ provider: up, model: a, cost: { input: 1 } }]",
    );
    const content = after(plan(text));
    expect(content.providers[0]?.origin).toEqual({
      file: "svc.yaml",
      fields: ["kind", "vendor", "base_url"],
    });
    expect(modelOf(content)?.origin).toEqual({
      file: "svc.yaml",
      fields: ["endpoint", "max_output_tokens", "routes"],
      costs: [{ provider: "up", model: "a" }],
    });
    expect(modelOf(after(planStore(text)))?.origin).toBeUndefined();
  });

  test("a file that names what it did not create is refused, with the names", () => {
    const mine = after(planStore(model(routed)));
    expect(() => plan(model(routed), mine)).toThrow(
      "svc.yaml contains entries that it did not create: provider up, model m.",
    );
    const theirs = after(planApply({ ...optionsOf(model("")), file: "other.yaml" }));
    expect(() => plan(model(""), theirs)).toThrow("model m (other.yaml)");
  });

  test("unless it adopts that, or the gateway has put it there by itself", () => {
    const mine = after(planStore(model(`${routed}, max_output_tokens: 9`)));
    const adopted = planApply({
      ...optionsOf(model(routed), mine),
      file: "svc.yaml",
      adopts: true,
    });
    const owner = { field: "owner", from: "database", to: "svc.yaml" };
    expect(adopted.differences).toEqual([
      { action: "change", kind: "provider", name: "up", fields: [owner] },
      { action: "change", kind: "model", name: "m", fields: [owner] },
    ]);
    expect(modelOf(after(adopted, mine))).toMatchObject({
      maxOutputTokens: 9,
      origin: { file: "svc.yaml", fields: ["endpoint", "routes"] },
    });
    const seed =
      "models:\n  svc-3-flash: { endpoint: chat, max_output_tokens: 512, routes: [{ provider: engine, model: chat }] }\n";
    const seeded = after(planStore(seed));
    const named = model(routed).replace("  m:", "  svc-3-flash:");
    const [taken] = after(plan(named, seeded), seeded).models;
    expect(taken?.routes[0]?.provider).toBe("up");
    expect(taken?.maxOutputTokens).toBeUndefined();
  });

  test("a command is refused what the file states, and may change the rest", () => {
    const content = after(plan(model(`${routed}, price: { input: 1, output: 1 }`)));
    const change = (fields: string) => () =>
      planStore(`models:\n  m: { endpoint: chat, ${fields} }\n`, content);
    expect(change("price: { input: 2, output: 2 }")).toThrow(
      "Model m: field price is defined in svc.yaml.",
    );
    expect(change("routes: [{ provider: up, model: b }]")).toThrow(
      "Model m: field routes is defined",
    );
    expect(change("max_output_tokens: 7")().differences).toHaveLength(1);
    const cost = "routes: [{ provider: up, model: a, cost: { input: 1 } }]";
    expect(change(cost)().differences).toHaveLength(1);
  });

  test("what a command has set stays where the file does not state it", () => {
    const content = after(plan(model(routed)));
    const text = "models:\n  m: { endpoint: chat, max_output_tokens: 7, timeouts: { idle: 9 } }\n";
    const changed = after(planStore(text, content), content);
    const again = plan(model(`${routed}, context_length: 5`), changed);
    expect(modelOf(after(again, changed))).toMatchObject({
      contextLength: 5,
      maxOutputTokens: 7,
      timeouts: { idle: 9 },
    });
  });

  test("routes that a file does not state are the store's", () => {
    const content = after(plan(model("")));
    const own = after(
      planStore(
        "models:\n  m: { endpoint: chat, routes: [{ provider: up, model: b }] }\n",
        content,
      ),
      content,
    );
    expect(plan(model(""), own).differences).toEqual([]);
  });

  test("a key that the file leaves to the store stays there", () => {
    const text = 'providers:\n  up: { kind: openai, base_url: "https://up.example/v1" }\n';
    const content = after(plan(text));
    const keyed = after(planStore(text.replace(" }", ', api_key: "${KEY}" }'), content), content);
    expect(keyed.providers[0]?.apiKey).toEqual({ variable: "KEY" });
    expect(after(plan(text, keyed), keyed)).toEqual(keyed);
  });

  test("an unchanged file adopts at the upgrade without a change of a value", () => {
    const before = after(planStore(model(`${routed}, price: { input: 1, output: 1 }`)));
    const text = model(`${routed}, price: { input: 3, output: 3 }`);
    const { write, differences } = planAdoption({ ...optionsOf(text, before), file: "svc.yaml" });
    expect([differences, write.addPrices, write.removeProviders]).toEqual([
      [],
      undefined,
      undefined,
    ]);
    const [saved] = write.saveModels ?? [];
    // Its price was set by a command since the file was applied: it is not the file's.
    expect(saved?.origin?.fields).toEqual(["endpoint", "routes"]);
    expect({ ...saved, origin: undefined }).toEqual({
      ...before.models[0],
      origin: undefined,
    } as never);
  });
});
