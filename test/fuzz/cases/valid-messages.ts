import type { Dice } from "./dice.ts";
import type { FuzzBody, FuzzJson } from "./json-text.ts";
import { png } from "./valid-bodies.ts";
import { maybe, sentence as said } from "./words.ts";

const models = ["svc-3-flash", "native-messages"] as const;
const schema = { type: "object", properties: { city: { type: "string" } } };
const source = { type: "base64", media_type: "image/png", data: png };
const cache = { cache_control: { type: "ephemeral" } };

const textBlock = (dice: Dice): FuzzJson => ({
  type: "text",
  text: said(dice),
  ...maybe(dice, cache),
});

const userBlocks = (dice: Dice): readonly FuzzJson[] => [
  textBlock(dice),
  ...dice.some<FuzzJson>(
    [
      { type: "image", source },
      { type: "document", title: "d", source: { type: "text", data: said(dice) } },
      {
        type: "search_result",
        source: "https://example.com",
        title: "t",
        content: [{ type: "text", text: said(dice) }],
      },
    ],
    25,
  ),
];

/** A question and its answer; a call has its result behind it. */
function exchange(dice: Dice, at: number): readonly FuzzJson[] {
  const question = { role: "user", content: dice.percent(40) ? said(dice) : userBlocks(dice) };
  if (dice.percent(50)) return [question, { role: "assistant", content: said(dice) }];
  const id = `toolu_${at}`;
  const result = dice.percent(50) ? said(dice) : userBlocks(dice);
  return [
    question,
    {
      role: "assistant",
      content: [
        ...dice.some<FuzzJson>(
          [
            { type: "thinking", thinking: said(dice), signature: "c2lnbmVk" },
            { type: "redacted_thinking", data: "ZW5jcnlwdGVk" },
          ],
          40,
        ),
        textBlock(dice),
        { type: "tool_use", id, name: "f", input: { city: said(dice) } },
      ],
    },
    {
      role: "user",
      content: [
        {
          type: "tool_result",
          tool_use_id: id,
          content: result,
          ...maybe(dice, { is_error: true }),
        },
      ],
    },
    { role: "assistant", content: [textBlock(dice)] },
  ];
}

export function wholePrompt(dice: Dice): FuzzBody {
  const exchanges = dice.list(dice.below(3), (at) => exchange(dice, at)).flat();
  const choice = dice.pick<FuzzJson>([
    { type: "auto" },
    { type: "any", disable_parallel_tool_use: true },
    { type: "tool", name: "f" },
    { type: "none" },
  ]);
  return {
    model: dice.pick(models),
    messages: [...exchanges, { role: "user", content: userBlocks(dice) }],
    tools: [{ name: "f", input_schema: schema, ...maybe(dice, { description: said(dice) }) }],
    system: dice.percent(50) ? said(dice) : [textBlock(dice)],
    tool_choice: choice,
    output_config: dice.percent(50)
      ? { effort: "low" }
      : { format: { type: "json_schema", schema } },
  };
}

export function wholeMessage(dice: Dice): FuzzBody {
  return {
    ...wholePrompt(dice),
    max_tokens: dice.between(2_048, 4_096),
    stream: dice.percent(60),
    temperature: dice.pick([0, 1]),
    top_p: dice.pick([0, 0.5, 1]),
    top_k: dice.between(0, 100),
    stop_sequences: ["END", said(dice)],
    thinking: dice.percent(50)
      ? { type: "enabled", budget_tokens: dice.between(1_024, 2_000) }
      : { type: "disabled" },
    metadata: { user_id: `user-${dice.below(1_000)}` },
    service_tier: "auto",
  };
}
