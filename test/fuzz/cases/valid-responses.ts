import type { Dice } from "./dice.ts";
import type { FuzzBody, FuzzJson } from "./json-text.ts";
import { png } from "./valid-bodies.ts";
import { maybe, sentence as said } from "./words.ts";

/** Stand in requests for what the target has stored; it puts the real ids in, of the same length. */
export const storedInner = "f0".repeat(16);
export const doomedInner = "0d".repeat(16);

const models = ["svc-3-flash", "native-responses"] as const;
const schema = { type: "object", properties: { city: { type: "string" } } };

/** Tools of every kind that a request may bring; the first is a function by the name of `f`. */
const tools = (dice: Dice): readonly FuzzJson[] => [
  {
    type: "function",
    name: "f",
    ...maybe(dice, { description: said(dice), strict: false, parameters: schema }),
  },
  ...dice.some<FuzzJson>(
    [
      { type: "custom", name: "write", ...maybe(dice, { format: { type: "text" } }) },
      {
        type: "namespace",
        name: "crm",
        description: said(dice),
        tools: [
          { type: "function", name: "find", parameters: schema },
          { type: "custom", name: "note" },
        ],
      },
      { type: "tool_search", execution: "client", description: said(dice), parameters: schema },
    ],
    50,
  ),
];

const userItem = (dice: Dice): FuzzJson => ({
  ...maybe(dice, { type: "message" }),
  role: "user",
  content: dice.percent(40)
    ? said(dice)
    : [
        { type: "input_text", text: said(dice) },
        ...dice.some<FuzzJson>(
          [
            { type: "input_text", text: said(dice) },
            { type: "input_image", detail: "low", image_url: `data:image/png;base64,${png}` },
          ],
          40,
        ),
      ],
});

/** Items that stand together: a call has its result behind it. */
const groups: readonly ((dice: Dice, at: number) => readonly FuzzJson[])[] = [
  (dice) => [userItem(dice)],
  (dice) => [{ role: dice.pick(["developer", "system"]), content: said(dice) }],
  (dice) => [
    {
      type: "message",
      role: "assistant",
      content: [
        { type: "output_text", text: said(dice), annotations: [] },
        ...dice.some<FuzzJson>([{ type: "refusal", refusal: said(dice) }], 20),
      ],
    },
  ],
  (dice, at) => [
    { type: "reasoning", id: `rs_${at}`, summary: [{ type: "summary_text", text: said(dice) }] },
    { type: "function_call", call_id: `call_${at}`, name: "f", arguments: '{"city":"Bern"}' },
    {
      type: "function_call_output",
      call_id: `call_${at}`,
      output: dice.percent(50) ? said(dice) : [{ type: "input_text", text: said(dice) }],
    },
  ],
  (dice, at) => [
    { type: "custom_tool_call", call_id: `call_${at}`, name: "write", input: said(dice) },
    { type: "custom_tool_call_output", call_id: `call_${at}`, output: said(dice) },
  ],
  (dice, at) => [
    {
      type: "function_call",
      call_id: `call_${at}`,
      name: "find",
      namespace: "crm",
      arguments: JSON.stringify({ city: said(dice) }),
    },
    { type: "function_call_output", call_id: `call_${at}`, output: said(dice) },
  ],
  (dice, at) => [
    { type: "tool_search_call", call_id: `call_${at}`, arguments: { query: said(dice) } },
    {
      type: "tool_search_output",
      call_id: `call_${at}`,
      tools: [{ type: "function", name: `found_${at}`, parameters: schema }],
    },
  ],
  (_dice, at) => [{ type: "additional_tools", tools: [{ type: "custom", name: `more_${at}` }] }],
  () => [{ type: "item_reference", id: `msg_${storedInner}_0` }],
];

function input(dice: Dice): FuzzJson {
  if (dice.percent(15)) return said(dice);
  const items = dice.list(dice.between(0, 4), (at) => dice.pick(groups)(dice, at)).flat();
  return [...items, userItem(dice)];
}

export function wholeResponse(dice: Dice): FuzzBody {
  const toolChoice = dice.pick<FuzzJson>([
    "auto",
    "none",
    "required",
    { type: "function", name: "f" },
    { type: "allowed_tools", mode: "auto", tools: [{ type: "function", name: "f" }] },
  ]);
  const format = dice.pick<FuzzJson>([
    { type: "text" },
    { type: "json_object" },
    { type: "json_schema", name: "answer", schema, ...maybe(dice, { strict: true }) },
  ]);
  return {
    model: dice.pick(models),
    input: input(dice),
    tools: tools(dice),
    tool_choice: toolChoice,
    parallel_tool_calls: true,
    instructions: said(dice),
    previous_response_id: `resp_${storedInner}`,
    store: dice.percent(30),
    stream: dice.percent(60),
    max_output_tokens: dice.between(1, 4_096),
    temperature: dice.pick([0, 1, 2]),
    top_p: dice.pick([0, 0.5, 1]),
    top_logprobs: dice.between(0, 20),
    text: { format, ...maybe(dice, { verbosity: "low" }) },
    reasoning: { effort: "low", ...maybe(dice, { summary: "auto" }) },
    include: ["reasoning.encrypted_content"],
    truncation: "disabled",
    metadata: { a: said(dice) },
    user: `user-${dice.below(1_000)}`,
    prompt_cache_key: `key-${dice.below(1_000)}`,
    service_tier: dice.pick(["auto", "default", "flex"]),
    background: false,
  };
}
