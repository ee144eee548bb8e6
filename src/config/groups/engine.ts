import type { Setting } from "../setting.ts";
import { count, oneOf, seconds } from "../setting-readers.ts";

/** The embedded models, and the first start. */
export const engineSettings = {
  engine: {
    env: "SVC_ENGINE",
    about: "embedded models",
    fallback: "on",
    read: oneOf("on", "off"),
  },
  engineIdleMs: {
    env: "SVC_ENGINE_IDLE_S",
    about: "idle seconds after which an embedded model is unloaded",
    fallback: "600",
    read: seconds,
  },
  engineQueue: {
    env: "SVC_ENGINE_QUEUE",
    about: "requests that may queue for an embedded model",
    fallback: "16",
    read: count,
  },
  firstKey: {
    env: "SVC_FIRST_KEY",
    about: "create an account and a key on first start",
    fallback: "on",
    read: oneOf("on", "off"),
  },
} as const satisfies Record<string, Setting<unknown>>;
