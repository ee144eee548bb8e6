import { Type } from "../../../base/json/type.ts";
import { anyObject, named, nullable, told } from "../schema.ts";

/** What /responses and the paths below it answer. Items and echoes have more fields than these. */
const count = (description: string) => Type.Integer({ minimum: 0, description });

const outputItem = Type.Object(
  { type: Type.String(told("Kind of the item, such as message, reasoning or function_call.")) },
  { additionalProperties: true, ...named("ResponseOutputItem", "An item of the reply.") },
);

const responseUsage = Type.Object(
  {
    input_tokens: count("Input tokens."),
    input_tokens_details: Type.Object(
      { cached_tokens: count("Input tokens read from the provider's cache.") },
      told("Details."),
    ),
    output_tokens: count("Output tokens, including reasoning."),
    output_tokens_details: Type.Object(
      { reasoning_tokens: count("Reasoning tokens.") },
      told("Details."),
    ),
    total_tokens: count("Input plus output tokens."),
  },
  named("ResponseUsage", "Token usage."),
);

export const responseReply = Type.Object(
  {
    id: Type.String(told("Id of the response.")),
    object: Type.Literal("response"),
    created_at: Type.Integer({
      minimum: 0,
      description: "When it was created, in seconds since 1970.",
    }),
    completed_at: nullable(
      Type.Integer({ minimum: 0 }),
      told("When it was completed, in seconds since 1970; null for any other status."),
    ),
    status: Type.Enum(
      ["in_progress", "completed", "incomplete", "failed"],
      told("incomplete: it was cut or filtered; incomplete_details shows which."),
    ),
    model: Type.String(told("The model id or alias that the request named.")),
    output: Type.Array(outputItem, told("What the model made, in order.")),
    usage: nullable(responseUsage, told("Token usage, once the response has ended.")),
    error: nullable(
      anyObject({ description: "Code and message." }),
      told("Why the response failed."),
    ),
    incomplete_details: nullable(
      anyObject({ description: "The reason." }),
      told("Why the response is incomplete: max_output_tokens or content_filter."),
    ),
    store: Type.Boolean(told("Whether the response was stored.")),
    previous_response_id: nullable(Type.String(), told("The response that this one continues.")),
    temperature: Type.Number(told("As the request had it, or 1.")),
    top_p: Type.Number(told("As the request had it, or 1.")),
    presence_penalty: Type.Number(told("0, unless the provider reports another value.")),
    frequency_penalty: Type.Number(told("0, unless the provider reports another value.")),
    service_tier: Type.String(told("As the provider reports it, or default.")),
    metadata: anyObject(told("As the request had it.")),
  },
  { additionalProperties: true, ...named("Response", "A response.") },
);

export const responseEvent = Type.Object(
  {
    type: Type.String(told("Kind of the event, such as response.output_text.delta.")),
    sequence_number: count("Number of the event, from 0."),
  },
  {
    additionalProperties: true,
    ...named(
      "ResponseEvent",
      "One server-sent event. The last one is response.completed, response.incomplete or response.failed.",
    ),
  },
);

export const responseItems = Type.Object(
  {
    object: Type.Literal("list"),
    data: Type.Array(outputItem, told("The items.")),
    first_id: nullable(Type.String(), told("Id of the first item.")),
    last_id: nullable(Type.String(), told("Id of the last item.")),
    has_more: Type.Boolean(told("Whether more items follow.")),
  },
  named("ResponseItemList", "Input items of a stored response."),
);

export const deletedResponse = Type.Object(
  {
    id: Type.String(told("Id of the response.")),
    object: Type.Literal("response"),
    deleted: Type.Literal(true),
  },
  named("DeletedResponse", "A response that was deleted."),
);
