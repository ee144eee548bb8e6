import { expect } from "bun:test";

/** An event of a streamed response. */
export interface ResponseEvent {
  readonly type: string;
  readonly sequence_number: number;
  readonly [name: string]: unknown;
}

/** All events; fails where one is not named as its data is, or is not numbered in its place. */
export async function readResponseEvents(reply: Response): Promise<readonly ResponseEvent[]> {
  expect(reply.status).toBe(200);
  const blocks = (await reply.text()).split("\n\n").filter((block) => block.startsWith("event: "));
  return blocks.map((block, at) => {
    const [name = "", data = ""] = block.split("\n");
    const event: ResponseEvent = JSON.parse(data.slice("data: ".length));
    expect(name).toBe(`event: ${event.type}`);
    expect(event.sequence_number).toBe(at);
    return event;
  });
}

export const typesOf = (events: readonly ResponseEvent[]) => events.map(({ type }) => type);

/** The response that the last event tells of. */
export function lastResponse(events: readonly ResponseEvent[]) {
  return events.at(-1)?.["response"] as Record<string, unknown> & {
    readonly output: readonly Record<string, unknown>[];
  };
}
