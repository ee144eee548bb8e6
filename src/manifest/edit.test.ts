import { describe, expect, test } from "bun:test";
import { Problem } from "../base/problem.ts";
import { addToManifest, fragmentOf, type ManifestDraft, namesOf, removeProvider } from "./edit.ts";
import { readManifest } from "./manifest.ts";

const read = (text: string) => readManifest(text, () => undefined);

const draft: ManifestDraft = {
  providers: { groq: { vendor: "groq", api_key: "${GROQ_API_KEY}" } },
  models: {
    "llama-3": {
      endpoint: "chat",
      max_output_tokens: 8192,
      price: { input: "0.10", output: "1" },
      routes: [{ provider: "groq", model: "llama:3b", cost: { input: "0.05", output: "0.5" } }],
    },
  },
};

/** With all that an editor of YAML likes to tidy up. */
const odd = `# Mine, since 2026


settings: {port: 9000}     # not the usual one

providers:   # who serves
    up: { kind: openai, base_url: "https://up.example/v1" }   # the first

    two:
        kind:     openai
        base_url: 'https://two.example/v1'   # quoted so
        api_key: \${TWO_KEY}

models:
    old:                       # since the beginning
        endpoint: chat
        price: {input: 0.10, output: 0.300}
        routes:
            - {provider: up, model: a}
            # the better one
            - {provider: two, model: b,   weight: 3}
`;

/** As many editors indent: lists not at all. */
const flat = `providers:
  up: { kind: openai, base_url: "https://up.example/v1" }
models:
  old:
    endpoint: chat   # always
    routes:
    - { provider: up, model: a }
`;

/** The lines of the one that the other lacks. */
function linesBeyond(text: string, other: string): string[] {
  const left = other.split("\n");
  return text.split("\n").filter((line) => {
    const at = left.indexOf(line);
    if (at !== -1) left.splice(at, 1);
    return at === -1;
  });
}

describe("adding", () => {
  test("makes a whole file of an empty one, in the form that people write", () => {
    const { text, added, kept } = addToManifest("", draft);
    expect(
      text,
    ).toBe(`# Providers and models of this gateway. svc apply svc.yaml puts changes in force; so does a start.
# Prices are USD per million tokens. \${NAME} stands for a variable of the environment.

providers:
  groq:
    vendor: groq
    api_key: \${GROQ_API_KEY}

models:
  llama-3:
    endpoint: chat
    max_output_tokens: 8192
    price: { input: "0.10", output: "1" }
    routes:
      - { provider: groq, model: llama:3b, cost: { input: "0.05", output: "0.5" } }
`);
    expect({ added, kept }).toEqual({ added: ["provider groq", "model llama-3"], kept: [] });
    expect(read(text).models[0]?.routes[0]?.cost).toEqual({
      input: 50_000_000n,
      output: 500_000_000n,
    });
  });

  test("leaves every line of the operator as it is, to the last blank", () => {
    const { text } = addToManifest(odd, draft);
    expect(linesBeyond(odd, text)).toEqual([]);
    expect(linesBeyond(text, odd).filter((line) => line !== "")).toEqual([
      "    groq:",
      "        vendor: groq",
      "        api_key: ${GROQ_API_KEY}",
      "    llama-3:",
      "        endpoint: chat",
      "        max_output_tokens: 8192",
      '        price: {input: "0.10", output: "1"}',
      "        routes:",
      '            - {provider: groq, model: llama:3b, cost: {input: "0.05", output: "0.5"}}',
    ]);
    expect(namesOf(text, "providers")).toEqual(["up", "two", "groq"]);
  });

  test("indents lists as the file does", () => {
    const more = { old: { routes: [{ provider: "up", model: "b" }] } };
    const { text } = addToManifest(flat, { providers: {}, models: more });
    expect(text).toBe(`${flat}    - { provider: up, model: b }\n`);
  });

  test("keeps line ends as they are", () => {
    const { text } = addToManifest(odd.replaceAll("\n", "\r\n"), draft);
    expect(text.replaceAll("\r\n", "\n")).toBe(addToManifest(odd, draft).text);
    expect(text.split("\n").every((line) => line === "" || line.endsWith("\r"))).toBe(true);
  });

  test("of a model that is there adds its routes alone, each once", () => {
    const more: ManifestDraft = {
      providers: { up: { vendor: "openai" } },
      models: {
        old: {
          endpoint: "chat",
          price: { input: "9", output: "9" },
          routes: [
            { provider: "two", model: "b" },
            { provider: "two", model: "c" },
          ],
        },
      },
    };
    const { text, added, kept } = addToManifest(odd, more);
    expect({ added, kept }).toEqual({
      added: ["route old → two/c"],
      kept: ["provider up", "route old → two/b"],
    });
    expect(linesBeyond(text, odd)).toEqual(["            - {provider: two, model: c}"]);
    expect(addToManifest(text, more)).toEqual({
      text,
      added: [],
      kept: ["provider up", "model old", "route old → two/b", "route old → two/c"],
    });
  });

  test("gives a model that has none its first routes", () => {
    const { text } = addToManifest(
      `${removeProvider(removeProvider(odd, "up").text, "two").text}`,
      {
        providers: { x: { kind: "openai", base_url: "https://x.example/v1" } },
        models: { old: { routes: [{ provider: "x", model: "y" }] } },
      },
    );
    expect(read(text).models[0]?.routes).toEqual([{ provider: "x", model: "y", weight: 1 }]);
  });

  test("adds no route to a model of another endpoint", () => {
    const { text, added, kept } = addToManifest(odd, {
      providers: {},
      models: {
        old: { endpoint: "embeddings", input: "text", routes: [{ provider: "up", model: "e" }] },
      },
    });
    expect({ text, added, kept }).toEqual({ text: odd, added: [], kept: ["model old"] });
  });

  test("takes files that hold comments only, empty sections, or all in one line", () => {
    for (const text of [
      "# only words\n",
      "providers:\nmodels:\n",
      "providers: # none\n\nmodels: {}\n",
      'providers: { up: { kind: openai, base_url: "https://u.example" } }\n',
      "settings: { port: 1 }\n",
    ]) {
      const edited = addToManifest(text, draft).text;
      expect(namesOf(edited, "providers")).toContain("groq");
      expect(read(edited).models.map(({ id }) => id)).toEqual(["llama-3"]);
      for (const word of text.match(/#.*/g) ?? []) expect(edited).toContain(word);
    }
  });

  test("writes values that YAML would read otherwise so that they stay what they are", () => {
    const odds = ["a: b", "#c", "true", "- x", "'q'", '"q"', "{x}", "a, b", "*a", "1e3", " s "];
    for (const value of odds) {
      const { text } = addToManifest("", {
        providers: { p: { kind: "ai-sdk", package: value, options: { key: value } } },
        models: {},
      });
      expect(read(text).providers[0]?.options).toEqual({ package: value, "options.key": value });
      const flow = addToManifest("providers: { p: { vendor: openai, api_key: x } }", {
        providers: {},
        models: { m: { endpoint: "chat", routes: [{ provider: "p", model: value }] } },
      });
      expect(read(flow.text).models[0]?.routes[0]?.model).toBe(value);
    }
  });

  test("refuses a file that is no YAML, or not of this shape, and says where", () => {
    for (const text of ["a: [", "- x", "providers: 7", "models: [a]"])
      expect(() => addToManifest(text, draft)).toThrow(Problem);
  });
});

describe("removing", () => {
  test("takes the provider and all routes to it, and no other line", () => {
    const removed = removeProvider(odd, "two");
    expect({ ...removed, text: "" }).toEqual({ text: "", routes: 1, emptied: [] });
    expect(linesBeyond(removed.text, odd)).toEqual([]);
    expect(linesBeyond(odd, removed.text).filter((line) => line !== "")).toEqual([
      "    two:",
      "        kind:     openai",
      "        base_url: 'https://two.example/v1'   # quoted so",
      "        api_key: ${TWO_KEY}",
      "            # the better one",
      "            - {provider: two, model: b,   weight: 3}",
    ]);
  });

  test("tells the models that are left without a route, and keeps them", () => {
    const once = removeProvider(odd, "up");
    expect(once.emptied).toEqual([]);
    const twice = removeProvider(once.text, "two");
    expect(twice.emptied).toEqual(["old"]);
    const { providers, models } = read(twice.text);
    expect(providers).toEqual([]);
    expect(models.map(({ id, routes }) => [id, routes])).toEqual([["old", []]]);
  });

  test("undoes an adding", () => {
    const { text } = addToManifest(odd, { ...draft, models: {} });
    expect(removeProvider(text, "groq").text).toBe(odd);
  });

  test("of one that is not there is refused", () => {
    for (const text of ["", odd]) expect(() => removeProvider(text, "none")).toThrow(Problem);
  });
});

describe("comments", () => {
  const told = `# head
providers:
  # first of providers
  one:
    vendor: openai
    # within one

  # the dear ones

  # about two
  two:
    vendor: mistral
    # within two

  # last of providers
# models below
models:
  m:
    endpoint: chat
    routes:
      - { provider: two, model: a }
      # last of routes
    # last of m
  # last of models
# the end
`;
  const without = (...gone: readonly string[]) =>
    gone.reduce((text, part) => {
      expect(text).toContain(part);
      return text.replace(part, "");
    }, told);

  test("stay where they are when one before them goes, with the heading of several", () => {
    const two = "\n  # about two\n  two:\n    vendor: mistral\n    # within two\n";
    const route = "    routes:\n      - { provider: two, model: a }\n      # last of routes\n";
    const removed = removeProvider(told, "two").text;
    expect(linesBeyond(removed, told)).toEqual(["    # last of routes"]);
    expect(removed.replace("    # last of routes\n", "")).toBe(without(two, route));
    const one = "  one:\n    vendor: openai\n    # within one\n\n";
    expect(removeProvider(told, "one").text).toBe(without(one));
  });

  test("of the next section do not get above what is added to this one", () => {
    const { text } = addToManifest(told, {
      providers: { groq: { vendor: "groq" } },
      models: { n: { endpoint: "chat" } },
    });
    expect(text).toBe(
      told
        .replace("    # within two\n", "    # within two\n\n  groq:\n    vendor: groq\n")
        .replace("    # last of m\n", "    # last of m\n  n:\n    endpoint: chat\n"),
    );
    const empty = "providers: # none\n  # yet\n# models below\nmodels:\n  m: { endpoint: chat }\n";
    expect(addToManifest(empty, { ...draft, models: {} }).text).toContain(
      "  # yet\n  groq:\n    vendor: groq\n    api_key: ${GROQ_API_KEY}\n# models below\nmodels:\n",
    );
  });

  test("of an entry that is the last stay when it goes", () => {
    const last = "providers:\n  # a\n  one: { vendor: openai }\n  # b\n# c\nmodels: {}\n";
    const { text } = removeProvider(last, "one");
    expect(text.match(/#.*/g)).toEqual(["# a", "# b", "# c"]);
    expect(read(text).providers).toEqual([]);
  });
});

describe("anchors", () => {
  const shared = `providers:
  up: { kind: openai, base_url: "https://up.example/v1" }
  two: { kind: openai, base_url: "https://two.example/v1" }
models:
  m: { endpoint: chat, routes: &r [ { provider: up, model: a }, { provider: two, model: a } ] }
  m2: { endpoint: chat, routes: *r }
  n: &n { endpoint: chat, routes: [ { provider: up, model: a } ] }
  n2: *n
  alone: &a { endpoint: chat, routes: [ { provider: up, model: a } ] }
`;
  const routes = (model: string) => ({
    providers: {},
    models: { [model]: { routes: [{ provider: "up", model: "b" }] } },
  });

  test("that models share are not changed for one of them: that is refused", () => {
    for (const id of ["m", "m2", "n", "n2"])
      expect(() => addToManifest(shared, routes(id))).toThrow(/shares its routes .* by an anchor/);
    expect(addToManifest(shared, routes("alone")).added).toEqual(["route alone → up/b"]);
  });

  test("do not hide what is there already", () => {
    const present = {
      providers: {},
      models: { m2: { routes: [{ provider: "up", model: "a" }] } },
    };
    expect(addToManifest(shared, present)).toEqual({
      text: shared,
      added: [],
      kept: ["model m2", "route m2 → up/a"],
    });
  });

  test("are counted for each model when a provider goes", () => {
    const { text, routes: count, emptied } = removeProvider(shared, "two");
    expect([count, emptied]).toEqual([2, []]);
    expect(read(text).models.map((model) => model.routes.length)).toEqual([1, 1, 1, 1, 1]);
  });
});

test("lines that cannot be told apart are written anew rather than mixed up", () => {
  // Written anew the first part has three lines fewer and the last three more: as many in all.
  const text = `settings: {
    port: 1,
    host: a
  }
providers:
  one: { kind: openai, base_url: "https://one.example/v1" }
  two: { kind: openai, base_url: "https://two.example/v1" }
models:
  m: { endpoint: chat, # here
    routes: [ { provider: one, model: a } ] }
`;
  const removed = removeProvider(text, "two").text;
  expect(read(removed).models.map(({ id, routes }) => [id, routes.length])).toEqual([["m", 1]]);
  expect(namesOf(removed, "providers")).toEqual(["one"]);
});

test("a draft alone is shown without the words at the head of a file", () => {
  expect(fragmentOf({ ...draft, models: {} })).toBe(
    "providers:\n  groq:\n    vendor: groq\n    api_key: ${GROQ_API_KEY}\n",
  );
  expect(fragmentOf({ providers: {}, models: {} })).toBe("");
});

test("a file that would break when edited is refused instead", () => {
  const text = "providers:\n  a: &one { kind: openai, base_url: https://x }\n  b: *one\n";
  expect(() => removeProvider(text, "a")).toThrow(/cannot be edited/);
});
