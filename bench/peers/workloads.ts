/** What is sent to every contender. */
import type { LoadJob, LoadKind } from "../load/job.ts";
import type { Encoding } from "../load/media-traffic.ts";
import type { Contender } from "./contender.ts";

export type Workload = {
  readonly id: string;
  /** As in the tables. */
  readonly label: string;
  readonly kind: LoadKind;
  readonly connections: number;
  readonly bodyBytes?: number;
  readonly encoding?: Encoding;
  readonly chunks?: number;
  readonly paceMs?: number;
  /** Closed loop for this time. */
  readonly durationMs?: number;
  /** Closed loop with this count, or the count of an open loop. */
  readonly requests?: number;
  /** Open loop. */
  readonly rate?: number;
  /** Latencies are compared with those of the direct way. */
  readonly onDirect: boolean;
  /** Too long for every round: once, after them. */
  readonly isLong: boolean;
};

export type Scale = { readonly isQuick: boolean };

const chat1k = { kind: "chat", bodyBytes: 1_000 } as const;
const stream = { kind: "stream", onDirect: false } as const;
const closed = { onDirect: false, isLong: false } as const;

export function workloadsOf({ isQuick }: Scale): readonly Workload[] {
  const durationMs = isQuick ? 300 : 1_500;
  const timed = { ...closed, durationMs };
  const waves = isQuick ? 1 : 2;
  const all: readonly Workload[] = [
    { ...timed, ...chat1k, id: "chat-1k", label: "chat 1 kB", connections: 64 },
    {
      ...timed,
      id: "chat-50k",
      label: "chat 50 kB",
      kind: "chat",
      bodyBytes: 50_000,
      connections: 64,
    },
    ...(["float", "base64"] as const).map((encoding) => ({
      ...timed,
      id: `embeddings-${encoding}`,
      label: `embeddings, ${encoding}`,
      kind: "embeddings" as const,
      encoding,
      connections: 8,
    })),
    { ...timed, id: "speech", label: "speech", kind: "speech", connections: 16 },
    ...streams({ connections: 200, paceMs: 10, chunks: 50, requests: 200 * waves }),
    ...(isQuick ? [] : streams({ connections: 200, paceMs: 10, chunks: 500, requests: 200 })),
    ...streams({ connections: 2_000, paceMs: 100, chunks: 50, requests: 2_000 }),
    ...(isQuick
      ? []
      : streams({ connections: 2_000, paceMs: 100, chunks: 500, requests: 2_000, isLong: true })),
    {
      ...chat1k,
      id: "single",
      label: "chat 1 kB, one connection",
      connections: 1,
      durationMs: isQuick ? 300 : 700,
      onDirect: true,
      isLong: false,
    },
    {
      ...chat1k,
      id: "gentle",
      label: "chat 1 kB, 1,000 requests/s",
      connections: 64,
      rate: 1_000,
      requests: isQuick ? 800 : 2_500,
      onDirect: true,
      isLong: false,
    },
    {
      id: "first-token",
      label: "200 streams/s of 50 chunks",
      kind: "stream",
      connections: 400,
      chunks: 50,
      paceMs: 10,
      rate: 200,
      requests: isQuick ? 150 : 500,
      onDirect: true,
      isLong: false,
    },
  ];
  return all;
}

function streams(options: {
  readonly connections: number;
  readonly paceMs: number;
  readonly chunks: number;
  readonly requests: number;
  readonly isLong?: boolean;
}): readonly Workload[] {
  const { connections, chunks, isLong = false } = options;
  const many = connections.toLocaleString("en-US");
  const label = `${many} streams of ${chunks} chunks`;
  return [{ ...stream, ...options, isLong, id: `streams-${connections}x${chunks}`, label }];
}

/** Chunks where there are any, else requests: what the CPU is divided by. */
export function unitsPerReply({ kind, chunks = 0 }: Workload): number {
  return kind === "stream" ? chunks : 1;
}

/** A short form that lets compilers settle, with all pools filled; undefined where it is too long. */
export function warmUp(workload: Workload): Workload | undefined {
  if (workload.isLong || (workload.chunks ?? 0) > 50) return undefined;
  const { durationMs, rate, requests } = workload;
  return {
    ...workload,
    ...(durationMs === undefined ? {} : { durationMs: Math.min(durationMs, 700) }),
    ...(rate === undefined || requests === undefined ? {} : { requests: Math.ceil(requests / 4) }),
  };
}

/** More than any server answers in the time of a workload. */
const maxRequests = 500_000;

export type JobOptions = {
  readonly workload: Workload;
  readonly contender: Contender;
  /** In place of the workload's own. */
  readonly rate?: number | undefined;
};

export function jobOf({ workload, contender, rate = workload.rate }: JobOptions): LoadJob {
  const { kind, connections, durationMs, chunks = 0, paceMs = 0, bodyBytes, encoding } = workload;
  const { port, keys, headers, replyModel } = contender;
  const model = contender.models[kind === "stream" ? "chat" : kind];
  // At a lower rate, as long as at the full one.
  const share = rate === undefined || workload.rate === undefined ? 1 : rate / workload.rate;
  const requests = Math.max(1, Math.round((workload.requests ?? maxRequests) * share));
  const waves = rate === undefined ? requests / connections : requests / rate;
  const expectedMs = durationMs ?? (rate === undefined ? waves * chunks * paceMs : waves * 1_000);
  return {
    kind,
    port,
    model,
    replyModel,
    keys,
    headers,
    connections,
    requests,
    durationMs,
    chunks,
    paceMs: paceMs === 0 ? undefined : paceMs,
    bodyBytes,
    encoding,
    rate,
    keepsTimes: rate !== undefined,
    timeoutMs: 15_000 + 3 * expectedMs,
  };
}
