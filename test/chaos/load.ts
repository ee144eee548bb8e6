/**
 * Callers who come when they come: so many a second, whatever becomes of those before. Run as a
 * process of its own, so that neither the gateway nor the vendors slow it down.
 */

export interface LoadOptions {
  readonly baseUrl: string;
  readonly key: string;
  readonly model: string;
  readonly perSecond: number;
  readonly seconds: number;
}

export interface LoadResult {
  readonly sent: number;
  readonly served: number;
  /** The first of those that were not served well, each with its number and what it got. */
  readonly problems: readonly string[];
  readonly failed: number;
  readonly statuses: Readonly<Record<string, number>>;
  readonly slowestMs: number;
  /** How far behind its time a call was sent, at worst. */
  readonly lateMs: number;
}

const tickMs = 5;
const shownProblems = 20;

export async function runLoad(options: LoadOptions): Promise<LoadResult> {
  const child = Bun.spawn([process.execPath, import.meta.path], {
    // The runtime sends at most 256 requests at once unless it is told otherwise.
    env: { BUN_CONFIG_MAX_HTTP_REQUESTS: "65336", LOAD: JSON.stringify(options) },
    stdout: "pipe",
    stderr: "inherit",
  });
  const text = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error(`the load ended badly: ${text}`);
  return JSON.parse(text);
}

async function load(options: LoadOptions): Promise<LoadResult> {
  const total = options.perSecond * options.seconds;
  const startMs = performance.now();
  const calls: Promise<string | undefined>[] = [];
  const statuses: Record<string, number> = {};
  let slowestMs = 0;
  let lateMs = 0;
  const make = async (id: number) => {
    const beganMs = performance.now();
    const { status, problem } = await call(id, options);
    statuses[status] = (statuses[status] ?? 0) + 1;
    slowestMs = Math.max(slowestMs, performance.now() - beganMs);
    return problem === undefined ? undefined : `${id}: ${problem}`;
  };
  while (calls.length < total) {
    const dueMs = (calls.length * 1000) / options.perSecond;
    const passedMs = performance.now() - startMs;
    if (passedMs < dueMs) {
      await Bun.sleep(Math.min(tickMs, dueMs - passedMs));
      continue;
    }
    lateMs = Math.max(lateMs, passedMs - dueMs);
    calls.push(make(calls.length));
  }
  const problems = (await Promise.all(calls)).filter((problem) => problem !== undefined);
  return {
    sent: total,
    served: total - problems.length,
    problems: problems.slice(0, shownProblems),
    failed: problems.length,
    statuses,
    slowestMs: Math.round(slowestMs),
    lateMs: Math.round(lateMs),
  };
}

interface Outcome {
  readonly status: number;
  readonly problem: string | undefined;
}

/** Every second one is streamed. */
async function call(id: number, { baseUrl, key, model }: LoadOptions): Promise<Outcome> {
  const stream = id % 2 === 1;
  try {
    const response = await fetch(`${baseUrl}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({
        model,
        messages: [{ role: "user", content: `word-${id}` }],
        stream,
        max_tokens: 50,
      }),
    });
    const { status } = response;
    const text = await response.text();
    if (status !== 200) return { status, problem: `${status} ${text}` };
    const said = stream ? streamedText(text) : wholeText(text);
    const isRight = said === `the answer to word-${id}`;
    return { status, problem: isRight ? undefined : `said ${said ?? text}` };
  } catch (error) {
    return { status: 0, problem: String(error) };
  }
}

function wholeText(text: string): string {
  return JSON.parse(text).choices[0].message.content;
}

/** Undefined where the stream did not come to its proper end. */
function streamedText(text: string): string | undefined {
  const events = text.split("\n\n");
  if (events.pop() !== "" || events.pop() !== "data: [DONE]") return undefined;
  return events
    .filter((event) => event.startsWith("data: "))
    .map((event) => JSON.parse(event.slice("data: ".length)).choices[0]?.delta.content ?? "")
    .join("");
}

const given = process.env["LOAD"];
if (import.meta.main && given !== undefined)
  process.stdout.write(JSON.stringify(await load(JSON.parse(given))));
