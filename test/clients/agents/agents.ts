/** Every agent that runs headless on the task. */

import { claudeCode } from "./claude-code.ts";
import { codex } from "./codex.ts";

export const agents = [codex, claudeCode];
