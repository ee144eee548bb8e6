import type { Setting } from "../setting.ts";
import { days, hours, oneOf } from "../setting-readers.ts";

/** How long people stay signed in to the console, and what they need for it. */
export const sessionSettings = {
  sessionIdleMs: {
    env: "SVC_SESSION_IDLE_H",
    about: "hours without activity after which a user must sign in again",
    fallback: "336",
    read: hours,
  },
  sessionMaxMs: {
    env: "SVC_SESSION_MAX_D",
    about: "days after which a user must sign in again, whatever they did",
    fallback: "90",
    read: days,
  },
  requireSecondFactor: {
    env: "SVC_REQUIRE_SECOND_FACTOR",
    about: "who must have a second factor to use the console: off, operators or all",
    fallback: "off",
    read: oneOf("off", "operators", "all"),
  },
} as const satisfies Record<string, Setting<unknown>>;
