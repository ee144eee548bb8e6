import { type DialectId, dialectOf } from "../../../../components/code/dialects.ts";
import type { ChatBodyOptions, ChatParameters, SentParameters } from "../conversation.ts";
import type { EventReader, Fields } from "./answer-events.ts";
import { createChatReader, toChatBody } from "./chat-completions.ts";
import { createMessagesReader, toMessagesBody } from "./messages.ts";
import { createResponsesReader, toResponsesBody } from "./responses.ts";

interface Dialect {
  /** The settings that it has no field for. */
  readonly lacks: readonly (keyof ChatParameters)[];
  readonly toBody: (options: ChatBodyOptions) => Fields;
  readonly createReader: () => EventReader;
}

const all: Readonly<Record<DialectId, Dialect>> = {
  chat: { lacks: [], toBody: toChatBody, createReader: createChatReader },
  responses: {
    lacks: ["seed", "presencePenalty", "frequencyPenalty", "stop"],
    toBody: toResponsesBody,
    createReader: createResponsesReader,
  },
  messages: {
    lacks: ["seed", "presencePenalty", "frequencyPenalty", "isJson"],
    toBody: toMessagesBody,
    createReader: createMessagesReader,
  },
};

export const lacksOf = (id: DialectId) => all[id].lacks;
export const createReader = (id: DialectId) => all[id].createReader();

export interface AskedOptions extends Omit<ChatBodyOptions, "parameters"> {
  readonly parameters: ChatParameters;
}

/** The call that asks the question: where it goes, and its body. */
export function toCall(id: DialectId, options: AskedOptions) {
  const { parameters, history } = options;
  const body = all[id].toBody({
    ...options,
    parameters: toSent(parameters),
    // A question that got no word of an answer is as if it had not been asked.
    history: history.filter(({ answer }) => answer.text !== ""),
  });
  const given = Object.entries(body).filter(([, value]) => value !== undefined);
  return { path: dialectOf(id).path, body: Object.fromEntries(given) };
}

function toSent(parameters: ChatParameters): SentParameters {
  const stop = parameters.stop.split("\n").filter((line) => line !== "");
  const system = parameters.system.trim() === "" ? "" : parameters.system;
  return { ...parameters, system, stop: stop.length === 0 ? undefined : stop };
}
