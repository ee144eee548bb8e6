import type { ChatPart } from "../../call/chat.ts";
import { EventStream, type EventStreamOptions } from "../kit/event-stream.ts";
import { NativeEvents } from "./events.ts";

/**
 * More than the longest reply in one event; no event repeats the prompt. Each is parsed and written
 * again in one turn of the event loop.
 */
const maxEventChars = 4 * 1024 * 1024;

/** The vendor's own events, for callers who speak its format. */
export class NativeChatStream extends EventStream {
  readonly #events: NativeEvents;

  constructor(options: EventStreamOptions) {
    super({ ...options, maxEventChars });
    this.#events = new NativeEvents(options.provider);
  }

  protected take(event: string, parts: ChatPart[]): void {
    if (event === "") return;
    this.#events.take(event, parts);
    if (parts.at(-1)?.type === "done") this.letClose();
  }
}
