/** Server-sent events, read to the letter: where an SDK forgives, this does not. */

import { isJsonObject, type Json, type JsonObject } from "../../../src/call/chat.ts";

export interface ReadEvent {
  /** The `event` line, if there is one. */
  readonly name: string | undefined;
  readonly data: string;
}

export interface ReadEvents {
  readonly events: readonly ReadEvent[];
  readonly comments: number;
}

/** Throws on anything but one `event` line at most, one `data` line, or one comment. */
export function readEvents(text: string): ReadEvents {
  const blocks = text.split("\n\n");
  if (blocks.pop() !== "") throw new Error(`no blank line at the end of ${text.slice(-100)}`);
  const events: ReadEvent[] = [];
  let comments = 0;
  for (const block of blocks) {
    if (block.startsWith(":") && !block.includes("\n")) {
      comments += 1;
      continue;
    }
    const [, name, data] = /^(?:event: ([\w.]+)\n)?data: ([^\n\r]*)$/.exec(block) ?? [];
    if (data === undefined) throw new Error(`not an event: ${block.slice(0, 200)}`);
    events.push({ name, data });
  }
  return { events, comments };
}

/** For formats in which every event is named twice: by its line, and by its data's `type`. */
export function readTypedEvents(text: string): {
  readonly events: readonly JsonObject[];
  readonly comments: number;
} {
  const { events, comments } = readEvents(text);
  const typed = events.map(({ name, data }) => {
    const event = objectOf(JSON.parse(data));
    if (name === undefined || event["type"] !== name)
      throw new Error(`an event named ${name} says ${String(event["type"])}`);
    return event;
  });
  return { events: typed, comments };
}

/** Throws unless it is what it says. */
export function check(isTrue: boolean, what: string): asserts isTrue {
  if (!isTrue) throw new Error(`the format has no ${what}`);
}

export function objectOf(value: unknown, what = "value that is not an object here"): JsonObject {
  check(isJsonObject(value), what);
  return value;
}

export function textOf(value: unknown, what = "value that is not a text here"): string {
  check(typeof value === "string", what);
  return value;
}

export function listOf(value: unknown, what = "value that is not a list here"): readonly Json[] {
  check(Array.isArray(value), what);
  return value as readonly Json[];
}

export function countOf(value: unknown, what = "count that is not a whole number"): number {
  check(typeof value === "number" && Number.isInteger(value) && value >= 0, what);
  return value;
}

/** The fields that are there, without those that were left out. */
export function given(fields: Record<string, Json | undefined>): Record<string, Json | undefined> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** Clients parse the arguments of a call; what was cut in the middle stays text. */
export function parsedArguments(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The one shape of our errors in OpenAI's formats. */
export function openAiError(body: unknown) {
  const { error, ...more } = objectOf(body);
  check(Object.keys(more).length === 0, "field beside the error");
  const { code, message, type, param, ...others } = objectOf(error);
  check(Object.keys(others).length === 0, `${Object.keys(others).join()} in an error`);
  check(param === null || typeof param === "string", "param of that kind");
  return { code: textOf(code), message: textOf(message), type: textOf(type), param };
}
