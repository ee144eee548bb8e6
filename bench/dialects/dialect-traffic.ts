/** What the vendors of each dialect answer, and how it ends. */
import { httpReply, marker, upstreamModel } from "../load/traffic.ts";
import { type Answers, chunk, end, start } from "../providers/vendor-traffic.ts";

const created = 1_780_000_000;
const text = `I am sorry that a book was missing (${marker}). Please send me your order number, and the second one will leave our shop within two days.`;
const piece = ` ${marker}`;

const envelope = (status: string, output: readonly object[] = [], usage: object | null = null) => ({
  id: "resp_upstream0123456789",
  object: "response",
  created_at: created,
  status,
  background: false,
  error: null,
  incomplete_details: null,
  instructions: null,
  max_output_tokens: null,
  model: upstreamModel,
  output,
  parallel_tool_calls: true,
  previous_response_id: null,
  reasoning: { effort: null, summary: null },
  service_tier: "default",
  store: false,
  temperature: 0.7,
  text: { format: { type: "text" }, verbosity: "medium" },
  tool_choice: "auto",
  tools: [],
  top_p: 0.95,
  truncation: "disabled",
  usage,
  user: null,
  metadata: {},
});
const message = (said: string, status = "completed") => ({
  id: "msg_upstream0123456789",
  type: "message",
  status,
  role: "assistant",
  content: [{ type: "output_text", annotations: [], logprobs: [], text: said }],
});
const responseUsage = {
  input_tokens: 74,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 32,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 106,
};
/** The numbers of events are those of the first: nobody checks them here. */
const responseEvent = (type: string, fields: object) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: 4, ...fields })}\n\n`;
const at = { item_id: "msg_upstream0123456789", output_index: 0, content_index: 0 };
const part = { type: "output_text", annotations: [], logprobs: [], text: "" };
const responsePiece = responseEvent("response.output_text.delta", {
  ...at,
  delta: piece,
  logprobs: [],
  obfuscation: "q7Rz",
});

const responses: Answers = {
  whole: httpReply(envelope("completed", [message(text)], responseUsage)),
  start: start(
    responseEvent("response.created", { response: envelope("in_progress") }) +
      responseEvent("response.in_progress", { response: envelope("in_progress") }) +
      responseEvent("response.output_item.added", {
        output_index: 0,
        item: { ...message("", "in_progress"), content: [] },
      }) +
      responseEvent("response.content_part.added", { ...at, part }) +
      responsePiece,
  ),
  chunk: chunk(responsePiece),
  end: end([
    responseEvent("response.output_text.done", { ...at, text: "said", logprobs: [] }),
    responseEvent("response.content_part.done", { ...at, part: { ...part, text: "said" } }),
    responseEvent("response.output_item.done", { output_index: 0, item: message("said") }),
    responseEvent("response.completed", {
      response: envelope("completed", [message("said")], responseUsage),
    }),
  ]),
};

const completion = (said: string, finish: string | null, usage: object | null) => ({
  id: "cmpl-upstream-0123456789",
  object: "text_completion",
  created,
  model: upstreamModel,
  choices: said === "" && finish === null ? [] : [completionChoice(said, finish)],
  usage,
});
const completionChoice = (said: string, finish: string | null) => ({
  text: said,
  index: 0,
  logprobs: null,
  finish_reason: finish,
});
const completionUsage = { prompt_tokens: 74, completion_tokens: 32, total_tokens: 106 };
const completionEvent = (...said: Parameters<typeof completion>) =>
  `data: ${JSON.stringify(completion(...said))}\n\n`;

const completions: Answers = {
  whole: httpReply(completion(text, "stop", completionUsage)),
  start: start(completionEvent(piece, null, null)),
  chunk: chunk(completionEvent(piece, null, null)),
  end: end([
    completionEvent("", "stop", null),
    completionEvent("", null, completionUsage),
    "data: [DONE]\n\n",
  ]),
};

/** What a vendor answers in the dialect that the path names; undefined: it is none of these. */
export function fromDialectRequest(requestLine: string): Answers | undefined {
  if (requestLine.includes("/v1/responses ")) return responses;
  return requestLine.includes("/v1/completions ") ? completions : undefined;
}
