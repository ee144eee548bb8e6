import { describe, expect, test } from "bun:test";
import { after, plan, planStore } from "../../test/setup/plan-home.ts";
import { Problem } from "../base/problem.ts";
import { exportManifest } from "./export.ts";
import { readManifest } from "./manifest.ts";

const named = (aliases: string, more = "") => `
models:
  chat: { endpoint: chat, aliases: ${aliases} }
${more}`;
const stored = after(plan(named("[small, mini]")));

function problemOf(run: () => unknown): Problem {
  try {
    run();
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error("there was no problem");
}

describe("aliases in a file", () => {
  test("are kept, changed and removed with the file", () => {
    expect(stored.models[0]?.aliases).toEqual(["small", "mini"]);
    const [change] = plan(named("[mini]"), stored).differences;
    expect(change?.fields).toEqual([{ field: "aliases", from: "small, mini", to: "mini" }]);
    const without = "models:\n  chat: { endpoint: chat }\n";
    expect(after(plan(without, stored), stored).models[0]?.aliases).toBeUndefined();
  });

  test("survive an export", () => {
    const text = exportManifest(stored, 1_000);
    expect(text).toContain("small");
    expect(plan(text, stored).differences).toEqual([]);
  });

  test("of the database stay where a file does not name any", () => {
    const before = after(planStore(named("[small]")));
    const text = "models:\n  chat: { endpoint: chat, owned_by: acme }\n";
    expect(after(planStore(text, before), before).models[0]?.aliases).toEqual(["small"]);
  });

  test("that would stand for two models are refused", () => {
    const twice = named("[other]", "  other: { endpoint: chat }\n");
    expect(problemOf(() => plan(twice)).message).toBe(
      '"other" cannot be an alias of chat: it is the id of another model.',
    );
    const shared = named("[x]", "  other: { endpoint: chat, aliases: [x] }\n");
    expect(problemOf(() => plan(shared)).message).toContain("already an alias of chat");
  });

  test("are a list of valid ids, each once", () => {
    const wrong = (aliases: string) =>
      problemOf(() => readManifest(named(aliases), { checkAddress: () => undefined })).message;
    expect(wrong("small")).toContain("aliases must be a list of strings");
    expect(wrong('["a b"]')).toContain('contains "a b", which is not a valid id');
    expect(wrong("[a, a]")).toContain('contains "a" twice');
  });
});
