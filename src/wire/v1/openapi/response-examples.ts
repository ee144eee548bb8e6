const id = "resp_0199f0d52c5d7b5c8a3e6f1d2b4c5a69";
const input = {
  id: "item_0199f0d52c5d7b5c8a3e6f1d2b4c5a69_in_0",
  type: "message",
  role: "user",
  content: [{ type: "input_text", text: "Why is the sky blue?" }],
} as const;

/** One example of every body of /responses. */
export const responseExamples = {
  request: {
    model: "svc-3-flash",
    instructions: "Answer in one sentence.",
    input: "Why is the sky blue?",
    max_output_tokens: 100,
  },
  reply: {
    id,
    object: "response",
    created_at: 1_790_000_000,
    completed_at: 1_790_000_001,
    status: "completed",
    model: "svc-3-flash",
    error: null,
    incomplete_details: null,
    output: [
      {
        id: "msg_0199f0d52c5d7b5c8a3e6f1d2b4c5a69_0",
        type: "message",
        status: "completed",
        role: "assistant",
        content: [
          {
            type: "output_text",
            text: "Air scatters blue light more than red, so blue reaches us from everywhere.",
            annotations: [],
            logprobs: [],
          },
        ],
      },
    ],
    usage: {
      input_tokens: 19,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 16,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 35,
    },
    store: false,
    previous_response_id: null,
    temperature: 1,
    top_p: 1,
    presence_penalty: 0,
    frequency_penalty: 0,
    service_tier: "default",
    metadata: {},
  },
  event: {
    type: "response.output_text.delta",
    sequence_number: 4,
    item_id: "msg_0199f0d52c5d7b5c8a3e6f1d2b4c5a69_0",
    output_index: 0,
    content_index: 0,
    delta: "Air",
    logprobs: [],
  },
  items: { object: "list", data: [input], first_id: input.id, last_id: input.id, has_more: false },
  deleted: { id, object: "response", deleted: true },
} as const;
