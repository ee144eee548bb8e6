import { type LogLevel, logLevels } from "../../base/log.ts";
import type { Setting } from "../setting.ts";
import { bodiesMb, few, oneOf, seconds } from "../setting-readers.ts";

/** Calls, their limits, and the log. */
export const callsSettings = {
  logLevel: {
    env: "SVC_LOG_LEVEL",
    about: "minimum log level",
    fallback: "info",
    read: oneOf<LogLevel>(...logLevels),
  },
  maxCallMs: {
    env: "SVC_MAX_CALL_S",
    about: "maximum duration of a call, in seconds",
    fallback: "900",
    read: seconds,
  },
  maxBodiesMb: {
    env: "SVC_MAX_BODIES_MB",
    about: "maximum memory for request bodies, in MiB",
    fallback: "512",
    read: bodiesMb,
  },
  connectMs: {
    env: "SVC_CONNECT_S",
    about: "timeout for connecting to an upstream, in seconds",
    fallback: "10",
    read: seconds,
  },
  firstByteMs: {
    env: "SVC_FIRST_BYTE_S",
    about: "timeout for the start of an upstream's reply, in seconds",
    fallback: "600",
    read: seconds,
  },
  retries: {
    env: "SVC_RETRIES",
    about: "maximum retries per target and call, within the target's retry budget",
    fallback: "2",
    read: few,
  },
  breakers: {
    env: "SVC_BREAKERS",
    about: "temporarily skip failing targets (circuit breaker)",
    fallback: "on",
    read: oneOf("on", "off"),
  },
  idleMs: {
    env: "SVC_IDLE_S",
    about: "maximum silence within a reply of an upstream, in seconds",
    fallback: "120",
    read: seconds,
  },
  readerMs: {
    env: "SVC_READER_S",
    about: "seconds without reads after which a caller is considered disconnected",
    fallback: "60",
    read: seconds,
  },
  keepAliveMs: {
    env: "SVC_KEEP_ALIVE_S",
    about: "seconds of silence after which a stream gets an SSE comment",
    fallback: "10",
    read: seconds,
  },
  drainMs: {
    env: "SVC_DRAIN_S",
    about:
      "seconds that a drained gateway still serves calls while /readyz fails, before it closes its port; longer than a load balancer needs to notice",
    fallback: "10",
    read: seconds,
  },
  graceMs: {
    env: "SVC_GRACE_S",
    about: "seconds that calls in flight get to finish after SIGTERM",
    fallback: "30",
    read: seconds,
  },
} as const satisfies Record<string, Setting<unknown>>;
