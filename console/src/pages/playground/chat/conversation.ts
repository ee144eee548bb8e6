import type { DialectId } from "../../../components/code/dialects.ts";
import type { Trouble } from "../gateway/use-run.ts";
import type { ChatUsage } from "./dialects/answer-events.ts";

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
  readonly dialect: DialectId;
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

export const newAnswer = (model: string, dialect: DialectId): Answer => ({
  state: "waiting",
  model,
  dialect,
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

/** As dialects send them: texts that are set, and what stops as a list. */
export interface SentParameters extends Omit<ChatParameters, "stop"> {
  readonly stop: readonly string[] | undefined;
}

export interface ChatBodyOptions {
  readonly model: string;
  /** How long the model's replies can become, if that is known. */
  readonly mostTokens: number | null;
  readonly parameters: SentParameters;
  /** What was said before. */
  readonly history: readonly Exchange[];
  readonly question: Question;
}

/** The conversation with its new question. Formats differ in how they write the content of one. */
export function toTurns(
  { history, question }: Pick<ChatBodyOptions, "history" | "question">,
  toContent: (question: Question) => unknown,
) {
  const earlier = history.flatMap(({ question: asked, answer }) => [
    { role: "user", content: toContent(asked) },
    { role: "assistant", content: answer.text },
  ]);
  return [...earlier, { role: "user", content: toContent(question) }];
}
