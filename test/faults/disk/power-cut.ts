/**
 * What a power cut would find: by the system calls of the real process, in the order in which the
 * kernel took them. For every call: its receipt was written to the log, then a sync of the log
 * began and returned, and only then did the last bytes of the reply go to the socket.
 */

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Answered, type CallKind, send } from "../callers.ts";
import { Trial, type TrialResult, works } from "../trial.ts";

const name = "order of receipt, sync and last byte (strace)";
const kinds: readonly CallKind[] = ["chat", "stream", "embeddings"];
const callsPerKind = 8;

export async function runPowerCut(): Promise<TrialResult> {
  if (!works(["strace", "-D", "-f", "-e", "trace=fdatasync", "true"]))
    return { name, notRun: "needs strace", problems: [], figures: {} };
  const folder = mkdtempSync(join(tmpdir(), "svc-strace-"));
  const path = join(folder, "calls");
  const calls = "trace=fdatasync,fsync,pwrite64,write,writev,sendto,sendmsg";
  const problems: string[] = [];
  const answers: Answered[] = [];
  try {
    const trial = await Trial.start({
      // A page of the log is shown whole, so that the receipt in it can be found.
      // -D: the process that we started is the gateway itself, and strace beside it.
      wrapper: () => ["strace", "-D", "-f", "-y", "-s", "8192", "-e", calls, "-o", path],
    });
    try {
      for (let at = 0; at < callsPerKind; at++)
        for (const kind of kinds) {
          const marker = `call-power-${kind}-${at}`;
          const idempotencyKey = at % 4 === 3 ? `key-${marker}` : undefined;
          answers.push(await send(trial.target, { marker, kind, idempotencyKey }));
        }
      // Many at once share a sync: each still waits for one that began after its own write.
      answers.push(
        ...(await Promise.all(
          Array.from({ length: 16 }, (_, at) =>
            send(trial.target, {
              marker: `call-power-many-${at}`,
              kind: "chat",
              idempotencyKey: undefined,
            }),
          ),
        )),
      );
      problems.push(...(await trial.judge(answers)));
    } finally {
      problems.push(...(await trial.stop()));
    }
    const trace = readTrace(await readWhole(path));
    for (const answer of answers) problems.push(...judgeOrder(trace, answer));
    return { name, problems, figures: { calls: answers.length, syncs: trace.syncs.length } };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** strace writes the last line after the process has ended. */
async function readWhole(path: string): Promise<string> {
  for (let tries = 0; ; tries++) {
    const text = readFileSync(path, "latin1");
    if (text.trimEnd().endsWith("+++") || tries === 100) return text;
    await Bun.sleep(50);
  }
}

interface Sync {
  readonly begunAt: number;
  readonly returnedAt: number;
}

interface Trace {
  readonly lines: readonly string[];
  /** Of the write-ahead log, those that succeeded; by line. */
  readonly syncs: readonly Sync[];
}

function readTrace(text: string): Trace {
  const lines = text.split("\n");
  const syncs: Sync[] = [];
  const unfinished = new Map<string, number>();
  for (const [at, line] of lines.entries()) {
    const thread = line.split(" ", 1)[0] ?? "";
    if (/ fdatasync\(\d+<[^>]*-wal>\) += 0$/.test(line))
      syncs.push({ begunAt: at, returnedAt: at });
    else if (/ fdatasync\(\d+<[^>]*-wal> <unfinished/.test(line)) unfinished.set(thread, at);
    else if (line.includes("<... fdatasync resumed>")) {
      const begunAt = unfinished.get(thread);
      unfinished.delete(thread);
      if (begunAt !== undefined && line.endsWith("= 0")) syncs.push({ begunAt, returnedAt: at });
    }
  }
  return { lines, syncs };
}

function judgeOrder({ lines, syncs }: Trace, { call, headers }: Answered): readonly string[] {
  const id = headers["x-request-id"] ?? "no id";
  const writtenAt = lines.findIndex(
    (line) => line.includes(" pwrite64(") && line.includes("-wal>") && line.includes(id),
  );
  if (writtenAt === -1) return [`${call.marker}: its receipt was never written to the log`];
  // A stream's head goes out first; its end is one write with its last events.
  const isLast =
    call.kind === "stream"
      ? (line: string) => line.includes("[DONE]") && line.includes(id.slice("req_".length))
      : (line: string) => line.includes(`x-request-id: ${id}`);
  const sentAt = lines.findIndex(
    (line) => / (write|writev|sendto|sendmsg)\(/.test(line) && isLast(line),
  );
  if (sentAt === -1) return [`${call.marker}: its last bytes were not seen`];
  const covered = syncs.some(
    ({ begunAt, returnedAt }) => begunAt > writtenAt && returnedAt < sentAt,
  );
  return covered ? [] : [`${call.marker}: its last bytes left before its receipt was on the disk`];
}
