import { isJsonObject, type Json, type JsonObject } from "../../call/chat.ts";

/**
 * Results of tools as all servers take them: text. What a tool gave back besides, such as an image,
 * follows in a message of the user's behind the results, because calls and results must not be
 * parted. The same list where nothing changes.
 */
export function toTextResults(messages: readonly JsonObject[]): readonly JsonObject[] {
  if (!messages.some(needsChange)) return messages;
  const sent: JsonObject[] = [];
  let attached: Json[] = [];
  const release = () => {
    if (attached.length > 0) sent.push({ role: "user", content: attached });
    attached = [];
  };
  for (const message of messages) {
    if (message["role"] !== "tool") release();
    if (!needsChange(message)) {
      sent.push(message);
      continue;
    }
    const { content, is_error: isError, ...rest } = message;
    const media = Array.isArray(content) ? content.filter(isMedia) : [];
    if (media.length > 0) {
      const text = `Attachment of tool result ${String(message["tool_call_id"])}:`;
      attached.push({ type: "text", text }, ...media);
    }
    const plain = media.length === 0 ? content : toText(content);
    sent.push({ ...rest, content: isError === true ? toError(plain) : plain });
  }
  release();
  return sent;
}

function needsChange({ role, content, is_error: isError }: JsonObject): boolean {
  if (role !== "tool") return false;
  return isError !== undefined || (Array.isArray(content) && content.some(isMedia));
}

const isMedia = (part: Json) =>
  isJsonObject(part) && (part["type"] === "image_url" || part["type"] === "file");

function toText(content: Json | undefined): Json {
  const texts = Array.isArray(content) ? content.filter((part) => !isMedia(part)) : [];
  return texts.length === 0 ? "See the attachment below." : texts;
}

/** There is no field for it. */
function toError(content: Json | undefined): Json {
  if (Array.isArray(content)) return [{ type: "text", text: "Error:" }, ...content];
  return `Error: ${typeof content === "string" ? content : ""}`;
}
