import { SseReader } from "../../base/network/sse.ts";
import { Problem } from "../../base/problem.ts";
import type { Command, Invocation } from "../command.ts";
import { interruptible } from "../terminal/interrupt.ts";
import { curlText } from "./curl-line.ts";
import {
  bytesOf,
  callFlags,
  callGateway,
  chooseModel,
  errorIn,
  openGateway,
  readJson,
} from "./gateway-client.ts";
import { numberFlag, readWords, writeOut } from "./io.ts";

const path = "/chat/completions";
const wanted = { endpoint: "chat", input: "text", preferred: "svc-3-flash" } as const;

export const chat: Command = {
  name: "chat",
  about: "Send a prompt to a chat model and stream the reply.",
  positionals: ["PROMPT"],
  variadic: "WORD",
  flags: {
    ...callFlags,
    system: { about: "system prompt", value: "TEXT" },
    temperature: { about: "sampling temperature, 0 to 2; higher is more random", value: "N" },
    "max-tokens": { about: "maximum tokens in the reply", value: "N" },
    seed: { about: "the same seed tends to produce the same reply", value: "N" },
    stop: { about: "end the reply before this text", value: "TEXT", multiple: true },
    json: { about: "print the whole chat.completion as JSON" },
  },
  examples: [
    'svc chat "Tell me a joke"',
    "svc chat - < letter.txt",
    'svc chat "Name three rivers" --system "Be brief" --temperature 0 --seed 1',
    "svc chat Hello --json | jq -r .choices[0].message.content",
    "svc chat Hello --curl",
  ],
  async run(invocation) {
    const { flags, switches, positionals } = invocation;
    const isStream = !switches.has("json");
    const fields = chatFields(invocation, await readWords(positionals, "PROMPT"));
    const toBody = (model: string) =>
      JSON.stringify({ model, ...fields, ...(isStream ? { stream: true } : {}) });
    const gateway = await openGateway(invocation);
    const { model: named } = flags;
    if (switches.has("curl")) {
      const body = [toBody(await chooseModel({ gateway, wanted, named }))];
      return writeOut(curlText([{ url: `${gateway.baseUrl}${path}`, body, isStream }]));
    }
    await interruptible(async (signal) => {
      const model = await chooseModel({ gateway, wanted, named, signal });
      const { response } = await callGateway({
        gateway,
        path,
        body: toBody(model),
        flags: chat.flags,
        signal,
      });
      if (isStream) return printText(response, signal);
      await writeOut(`${JSON.stringify(await readJson(response, signal), null, 2)}\n`);
    });
  },
};

/** Undefined fields are omitted from the body. */
function chatFields({ flags, lists }: Invocation, prompt: string) {
  const { system } = flags;
  const { stop = [] } = lists;
  return {
    messages: [
      ...(system === undefined ? [] : [{ role: "system", content: system }]),
      { role: "user", content: prompt },
    ],
    temperature: numberFlag(flags, "temperature"),
    max_tokens: numberFlag(flags, "max-tokens"),
    seed: numberFlag(flags, "seed"),
    stop: stop.length === 0 ? undefined : stop,
  };
}

/** Prints each piece as it arrives, and always ends the last line. */
async function printText(response: Response, signal: AbortSignal): Promise<void> {
  let last = "";
  let hasToolCall = false;
  try {
    for await (const { text, isToolCall } of piecesOf(response, signal)) {
      hasToolCall ||= isToolCall;
      if (text === "") continue;
      await writeOut(process.stdout.isTTY === true ? harmless(text) : text);
      last = text;
    }
  } finally {
    if (last !== "" && !last.endsWith("\n")) await writeOut("\n");
  }
  if (last === "" && hasToolCall)
    process.stderr.write("The reply contains a tool call. Use --json to see it.\n");
}

async function* piecesOf(response: Response, signal: AbortSignal) {
  const reader = new SseReader();
  for await (const bytes of bytesOf(response, signal))
    for (const data of reader.push(bytes)) {
      if (data === "[DONE]") return;
      yield pieceIn(data);
    }
  throw new Problem({ code: "failed", message: "The reply ended early." });
}

/** What an event adds to the first choice. */
interface Piece {
  /** "" if it has none. */
  readonly text: string;
  readonly isToolCall: boolean;
}

function pieceIn(data: string): Piece {
  const event = parsed(data);
  const failure = errorIn(event);
  if (failure !== undefined) throw new Problem({ code: "failed", message: failure.message });
  const { choices } = event as {
    choices?: readonly { delta?: { content?: unknown; tool_calls?: unknown } }[];
  };
  const { content, tool_calls: toolCalls } = choices?.[0]?.delta ?? {};
  return {
    text: typeof content === "string" ? content : "",
    isToolCall: Array.isArray(toolCalls) && toolCalls.length > 0,
  };
}

function parsed(data: string): object {
  try {
    const value: unknown = JSON.parse(data);
    if (typeof value === "object" && value !== null) return value;
  } catch {
    // Reported below.
  }
  throw new Problem({ code: "failed", message: "The reply contains an event that is not JSON." });
}

/** The model's text must not control the terminal. */
function harmless(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n\t]/gu, "");
}
