import type { Command } from "../command.ts";
import { chat } from "./chat.ts";
import { embed } from "./embed.ts";
import { say } from "./say.ts";
import { transcribe } from "./transcribe.ts";

/** Commands that call the running gateway over HTTP, as any client does. */
export const callCommands: readonly Command[] = [chat, embed, say, transcribe];
