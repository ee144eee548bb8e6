import { describe, expect, test } from "bun:test";
import { Problem } from "../../../../base/problem.ts";
import type { FileFormat, FileSettings } from "../tool.ts";
import { mergeSettings } from "./merge.ts";

const merge = (format: FileFormat, text: string, settings: FileSettings) =>
  mergeSettings({ format, settings, text, path: "FILE" }).text;

function problemOf(format: FileFormat, text: string, settings: FileSettings): string {
  try {
    merge(format, text, settings);
  } catch (error) {
    if (error instanceof Problem) return `${error.code}: ${error.message}`;
    throw error;
  }
  return "none";
}

const address: FileSettings = { settings: { env: { URL: "https://a" } } };
const listed: FileSettings = {
  settings: {},
  entries: [{ path: ["models"], by: "name", entry: { name: "svc", base: "https://a" } }],
};

describe("JSON", () => {
  test("keeps comments, order, spaces and commas of all else", () => {
    const text = `// Mine.
{
\t"theme": "dark", // at night
\t"env": {
\t\t"OTHER": "1" /* stays */
\t},
\t"last": [1, 2], // the last
}
`;
    expect(merge("json", text, { settings: { env: { URL: "https://a" }, new: 5 } })).toBe(`// Mine.
{
\t"theme": "dark", // at night
\t"env": {
\t\t"OTHER": "1", /* stays */
\t\t"URL": "https://a"
\t},
\t"last": [1, 2], // the last
\t"new": 5,
}
`);
  });

  test.each([
    ["", '{\n  "env": {\n    "URL": "https://a"\n  }\n}\n'],
    ["{}", '{\n  "env": {\n    "URL": "https://a"\n  }\n}'],
    ["{ // none yet\n}\n", '{ // none yet\n  "env": {\n    "URL": "https://a"\n  }\n}\n'],
    ['{"env": null}', '{"env": {\n  "URL": "https://a"\n}}'],
    ['{"env": {"URL": "old"}}', '{"env": {"URL": "https://a"}}'],
    ['{"env": {"a": 1}}', '{"env": {"a": 1, "URL": "https://a"}}'],
    ['{"env": {"URL": "1", "URL": "2"}}', '{"env": {"URL": "1", "URL": "https://a"}}'],
    ['\ufeff{"env": {"URL": "o"}}', '\ufeff{"env": {"URL": "https://a"}}'],
    ['{\r\n  "a": 1\r\n}\r\n', '{\r\n  "a": 1,\n  "env": {\n    "URL": "https://a"\n  }\r\n}\r\n'],
  ])("changes %j to %j", (text, expected) => {
    expect(merge("json", text, address)).toBe(expected);
  });

  test("adds to a list, or updates the entry of the same name", () => {
    const added = merge("json", '{"models": [{"name": "mine"}]}', listed);
    expect(JSON.parse(added)).toEqual({
      models: [{ name: "mine" }, { name: "svc", base: "https://a" }],
    });
    const updated = merge("json", '{"models": [{"base": "old", "name": "svc", "own": 1}]}', listed);
    expect(JSON.parse(updated)).toEqual({ models: [{ base: "https://a", name: "svc", own: 1 }] });
  });

  test.each([
    ['{"env": ', "invalid: FILE: line 1, column 9: Expected a value."],
    ['{\n"a" 1}', "invalid: FILE: line 2, column 5: Expected a colon."],
    ['{"a": 1 "b": 2}', "invalid: FILE: line 1, column 9: Expected a comma or }"],
    ["{a: 1}", "invalid: FILE: line 1, column 2: Expected a name in double quotes."],
    ['{"a": 1} x', "invalid: FILE: line 1, column 10: Unexpected text after the end."],
    ['{"a": secret-value}', "invalid: FILE: line 1, column 7: This is not a value of JSON."],
    ["[1]", "invalid: FILE: The file must be an object."],
    ['{"env": "x"}', "invalid: FILE: env must be an object."],
    ["[".repeat(100_000), "invalid: FILE: line 1, column 102: Too deeply nested."],
  ])("refuses %.20s with its place", (text, expected) => {
    expect(problemOf("json", text, address)).toBe(expected);
  });

  test("refuses to replace what is not a list", () => {
    expect(problemOf("json", '{"models": {}}', listed)).toBe(
      "invalid: FILE: models must be a list.",
    );
  });
});

describe("TOML", () => {
  const provider: FileSettings = {
    settings: { model: "m", model_providers: { svc: { base_url: "https://a", name: "svc" } } },
  };

  test("keeps comments and tables, and sets what is there in its place", () => {
    const text = `# Mine.
model = "old" # the usual one
approval = "never"

[profiles.work]
model = "other"

[model_providers.svc]
base_url = "http://old"
retries = 3

[mcp_servers.files]
command = "files"
`;
    expect(merge("toml", text, provider)).toBe(`# Mine.
model = "m" # the usual one
approval = "never"

[profiles.work]
model = "other"

[model_providers.svc]
base_url = "https://a"
retries = 3
name = "svc"

[mcp_servers.files]
command = "files"
`);
  });

  test.each([
    ["", 'model = "m"\n\n[model_providers.svc]\nbase_url = "https://a"\nname = "svc"\n'],
    [
      "[tui]\na = 1\n",
      'model = "m"\n\n[tui]\na = 1\n\n[model_providers.svc]\nbase_url = "https://a"\nname = "svc"\n',
    ],
  ])("changes %j to %j", (text, expected) => {
    expect(merge("toml", text, provider)).toBe(expected);
  });

  test("keeps the line ends of Windows", () => {
    const text = `model = "old" # mine\r\na = 1\r\n\r\n[model_providers.svc]\r\nname = "old"\r\n`;
    expect(merge("toml", text, provider)).toBe(
      `model = "m" # mine\r\na = 1\r\n\r\n[model_providers.svc]\r\nname = "svc"\r\nbase_url = "https://a"\r\n`,
    );
    expect(merge("toml", "a = 1\r\n", provider)).toBe(
      `a = 1\r\nmodel = "m"\r\n\r\n[model_providers.svc]\r\nbase_url = "https://a"\r\nname = "svc"\r\n`,
    );
  });

  test("finds names in quotes, and tables with spaces in their names", () => {
    const text = `"model" = 'old'\n\n[ "model_providers" . 'svc' ] # mine\n"name" = "old"\n`;
    expect(merge("toml", text, provider)).toBe(
      `"model" = "m"\n\n[ "model_providers" . 'svc' ] # mine\n"name" = "svc"\nbase_url = "https://a"\n`,
    );
  });

  test.each([
    ["true # keep me", "# keep me"],
    ["12.5   # keep me", "# keep me"],
    ['"a # b" # keep me', "# keep me"],
    ["'a # b'", ""],
  ])("keeps the comment behind %s", (value, comment) => {
    const settings: FileSettings = { settings: { web_search: false } };
    const expected = `web_search = false ${comment}`.trim();
    const merged = merge("toml", `web_search = ${value}\n`, settings);
    expect(merged.replace(/ +/g, " ")).toBe(`${expected}\n`);
  });

  test("does not edit what it would damage", () => {
    const unsafe =
      "invalid: FILE: This file cannot be edited safely. Nothing was changed; add the settings without --write.";
    expect(problemOf("toml", 'model_providers.svc.name = "a"\n', provider)).toBe(unsafe);
    const inText = `note = '''\nmodel = "x"\n'''\n`;
    expect(problemOf("toml", inText, provider)).toBe(unsafe);
    expect(problemOf("toml", 'model_providers = { svc = { name = "a" } }\n', provider)).toMatch(
      /^invalid: FILE: /,
    );
    expect(problemOf("toml", "model = \n", provider)).toMatch(/^invalid: FILE: Missing value/);
  });
});

describe("YAML", () => {
  test("keeps comments, order and lists as they are written", () => {
    const text = `# Mine.
name: me # it is
models:
- name: mine
  base: http://mine
rules: []
`;
    expect(merge("yaml", text, listed)).toBe(`# Mine.
name: me # it is
models:
- name: mine
  base: http://mine
- name: svc
  base: https://a
rules: []
`);
  });

  test.each([
    ["", "models:\n  - name: svc\n    base: https://a\n"],
    ["models:\nother: 1\n", "models:\n  - name: svc\n    base: https://a\nother: 1\n"],
    ["models: []\n", "models:\n  - name: svc\n    base: https://a\n"],
    [
      "models:\n  - name: svc\n    base: old\n    own: 1\n",
      "models:\n  - name: svc\n    base: https://a\n    own: 1\n",
    ],
  ])("changes %j to %j", (text, expected) => {
    expect(merge("yaml", text, listed)).toBe(expected);
  });

  test("a file that is a list gets one more entry", () => {
    const root: FileSettings = {
      settings: {},
      entries: [{ path: [], by: "id", entry: { id: "svc" } }],
    };
    expect(merge("yaml", "- id: mine\n", root)).toBe("- id: mine\n- id: svc\n");
    expect(merge("yaml", "", root)).toBe("- id: svc\n");
    expect(problemOf("yaml", "a: 1\n", root)).toBe("invalid: FILE: The file must be a list.");
  });

  test("refuses what is not YAML, with its line", () => {
    expect(problemOf("yaml", "a: 1\nb: [\n", listed)).toMatch(/^invalid: FILE: line \d/);
    expect(problemOf("yaml", "a: 1\na: 2\n", listed)).toMatch(/^invalid: FILE: line 2/);
  });
});

test("defaults are set only where nothing is, and settings that conflict are named", () => {
  const settings: FileSettings = {
    settings: { model: "m" },
    defaults: { version: "1" },
    rivals: [["env", "KEY"], ["helper"]],
  };
  const merged = mergeSettings({
    format: "json",
    settings,
    text: '{"version": "7", "env": {"KEY": "x"}}',
    path: "FILE",
  });
  expect(JSON.parse(merged.text)).toEqual({ version: "7", env: { KEY: "x" }, model: "m" });
  expect(merged.rivals).toEqual(["env.KEY"]);
  expect(merge("json", "", settings)).toContain('"version": "1"');
});

test("a file that has the settings stays as it is, byte by byte", () => {
  for (const [format, text] of [
    ["json", '{"env":{"URL":"https://a"}}'],
    ["toml", "env = { URL = 'https://a' }"],
    ["yaml", "env:   {URL: https://a}"],
  ] as const)
    expect(merge(format, text, address)).toBe(text);
});
