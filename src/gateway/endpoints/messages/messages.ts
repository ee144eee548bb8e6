import { messages } from "../../../wire/v1/messages/dialect.ts";
import type { ServedCall } from "../../served-call.ts";
import { serveChat } from "../chat/serve-chat.ts";

/** POST /v1/messages */
export const serveMessages = (served: ServedCall) => serveChat(served, messages);
