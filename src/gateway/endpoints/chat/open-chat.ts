import { ApiError } from "../../../base/errors.ts";
import type { ChatPart, ChatStream } from "../../../call/chat.ts";

/** A stream whose upstream has accepted the call and spoken. */
export interface OpenedChat {
  readonly parts: ChatStream;
  readonly first: readonly ChatPart[];
}

/** Waits for the first word of a stream; one that ends without any has failed. */
export async function openChat(parts: ChatStream, provider: string): Promise<OpenedChat> {
  const first: ChatPart[] = [];
  for (;;) {
    const batch = await parts.read();
    for (const part of batch ?? []) first.push(part);
    if (first.some(({ type }) => type !== "usage" && type !== "done")) return { parts, first };
    if (batch !== undefined && !first.some(({ type }) => type === "done")) continue;
    parts.cancel();
    throw new ApiError({
      code: "upstream_error",
      message: "The model failed to respond. Try again.",
      detail: `${provider} sent an empty stream`,
      upstream: { reason: "failed" },
    });
  }
}
