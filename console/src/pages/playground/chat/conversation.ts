import type { Trouble } from "../gateway/use-run.ts";
import type { ChatUsage } from "./chat-stream.ts";

export interface Picture {
  readonly id: string;
  readonly name: string;
  readonly dataUri: string;
}

export interface Question {
  readonly text: string;
  readonly pictures: readonly Picture[];
}

export interface Answer {
  readonly state: "waiting" | "coming" | "done" | "stopped" | "failed";
  readonly model: string;
  readonly text: string;
  readonly reasoning: string;
  readonly finishReason: string | undefined;
  readonly usage: ChatUsage | undefined;
  /** Once the gateway has answered at all. */
  readonly requestId: string | undefined;
  readonly trouble: Trouble | null;
}

export interface Exchange {
  readonly id: number;
  readonly question: Question;
  readonly answer: Answer;
}

export const newAnswer = (model: string): Answer => ({
  state: "waiting",
  model,
  text: "",
  reasoning: "",
  finishReason: undefined,
  usage: undefined,
  requestId: undefined,
  trouble: null,
});

export const isUnderWay = ({ state }: Answer) => state === "waiting" || state === "coming";

/** Each of them is sent where it is set; else the model's own value counts. */
export interface ChatParameters {
  readonly system: string;
  readonly temperature: number | undefined;
  readonly topP: number | undefined;
  readonly maxTokens: number | undefined;
  readonly seed: number | undefined;
  readonly presencePenalty: number | undefined;
  readonly frequencyPenalty: number | undefined;
  readonly effort: string | undefined;
  readonly isJson: boolean;
  /** One a line. */
  readonly stop: string;
}

export const noParameters: ChatParameters = {
  system: "",
  temperature: undefined,
  topP: undefined,
  maxTokens: undefined,
  seed: undefined,
  presencePenalty: undefined,
  frequencyPenalty: undefined,
  effort: undefined,
  isJson: false,
  stop: "",
};

export interface ChatBodyOptions {
  readonly model: string;
  readonly parameters: ChatParameters;
  /** What was said before. */
  readonly history: readonly Exchange[];
  readonly question: Question;
}

/** The body of the call that asks the question. */
export function toChatBody(options: ChatBodyOptions): Readonly<Record<string, unknown>> {
  const { model, parameters, history, question } = options;
  const { system, temperature, topP, maxTokens, seed, effort, isJson } = parameters;
  const stop = parameters.stop.split("\n").filter((line) => line !== "");
  return given({
    model,
    messages: [
      ...(system.trim() === "" ? [] : [{ role: "system", content: system }]),
      ...history.flatMap(toMessages),
      { role: "user", content: toContent(question) },
    ],
    max_tokens: maxTokens,
    temperature,
    top_p: topP,
    stop: stop.length === 0 ? undefined : stop,
    seed,
    presence_penalty: parameters.presencePenalty,
    frequency_penalty: parameters.frequencyPenalty,
    reasoning_effort: effort,
    response_format: isJson ? { type: "json_object" } : undefined,
    stream: true,
    stream_options: { include_usage: true },
  });
}

const given = (fields: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

/** A question that got no word of an answer is as if it had not been asked. */
function toMessages({ question, answer }: Exchange): readonly unknown[] {
  if (answer.text === "") return [];
  return [
    { role: "user", content: toContent(question) },
    { role: "assistant", content: answer.text },
  ];
}

function toContent({ text, pictures }: Question): unknown {
  if (pictures.length === 0) return text;
  return [
    ...(text === "" ? [] : [{ type: "text", text }]),
    ...pictures.map(({ dataUri }) => ({ type: "image_url", image_url: { url: dataUri } })),
  ];
}
