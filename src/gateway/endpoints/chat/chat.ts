import { chatCompletions } from "../../../wire/v1/chat/dialect.ts";
import type { ServedCall } from "../../served-call.ts";
import { serveChat } from "./serve-chat.ts";

/** POST /v1/chat/completions */
export const serveChatCompletions = (served: ServedCall) => serveChat(served, chatCompletions);
