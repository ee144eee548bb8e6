import { createHash } from "node:crypto";

/** What Anthropic accepts; Bedrock also limits the length. */
const accepted = /^[a-zA-Z0-9_-]{1,64}$/;
const keptChars = 40;

/**
 * The id of a tool call for vendors that accept only some characters, such as Anthropic. An earlier
 * call may have been made by a server whose ids look like `functions.look:0`. The same id always
 * becomes the same one, so that a result still names its call; a hash keeps different ids apart.
 */
export function toSafeCallId(id: string): string {
  if (accepted.test(id)) return id;
  const hash = createHash("sha256").update(id).digest("hex").slice(0, 16);
  return `${id.slice(0, keptChars).replace(/[^a-zA-Z0-9_-]/g, "_")}_${hash}`;
}
