import type { ChatPart } from "../../call/chat.ts";
import { EventStream, type EventStreamOptions } from "../kit/event-stream.ts";
import { NativeEvents } from "./events.ts";

/** The vendor's own events, for callers who speak its format. */
export class NativeChatStream extends EventStream {
  readonly #events: NativeEvents;

  constructor(options: EventStreamOptions) {
    super(options);
    this.#events = new NativeEvents(options.provider);
  }

  protected take(event: string, parts: ChatPart[]): void {
    if (event === "") return;
    this.#events.take(event, parts);
    if (parts.at(-1)?.type === "done") this.letClose();
  }
}
