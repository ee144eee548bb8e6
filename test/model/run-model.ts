import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Command, drawCommands } from "./commands.ts";
import { ModelRun } from "./model-run.ts";

export interface ModelOptions {
  readonly seed: number;
  readonly steps: number;
}

/** Throws with the seed and the fewest commands that show what is wrong. */
export async function runModel({ seed, steps }: ModelOptions): Promise<ModelRun["counts"]> {
  const commands = drawCommands(seed, steps);
  const looksAtBudgets = seed % 2 === 0;
  const { counts, failure } = await play(commands, looksAtBudgets);
  if (failure === undefined) return counts;
  const first = { commands: commands.slice(0, failure.at + 1), failure };
  const shown = await shrink(first, looksAtBudgets);
  const lines = shown.commands.map((command) => Bun.inspect(command, { compact: true }));
  const title = `seed ${seed}: ${shown.failure.message}`;
  throw new Error([title, `after ${lines.length} commands:`, ...lines].join("\n"), {
    cause: shown.failure.error,
  });
}

interface Failure {
  /** At which command; at the last also for what shows only when all is at rest. */
  readonly at: number;
  readonly message: string;
  readonly error: unknown;
}

interface Shown {
  readonly commands: readonly Command[];
  readonly failure: Failure;
}

async function play(
  commands: readonly Command[],
  looksAtBudgets: boolean,
): Promise<{ readonly counts: ModelRun["counts"]; readonly failure: Failure | undefined }> {
  const folder = mkdtempSync(join(tmpdir(), "svc-model-"));
  const run = await ModelRun.start({ folder, looksAtBudgets });
  let at = 0;
  try {
    for (const command of commands) {
      await run.step(command);
      at++;
    }
    await run.finish();
    return { counts: run.counts, failure: undefined };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { counts: run.counts, failure: { at, message, error } };
  } finally {
    await run.close();
  }
}

/** Leaves out one command after another, as long as something of the same kind is wrong. */
async function shrink(first: Shown, looksAtBudgets: boolean): Promise<Shown> {
  let shown = first;
  for (let before = Number.POSITIVE_INFINITY; shown.commands.length < before; ) {
    before = shown.commands.length;
    for (let at = before - 1; at >= 0; at--) {
      const commands = shown.commands.toSpliced(at, 1);
      const { failure } = await play(commands, looksAtBudgets);
      if (failure !== undefined && kindOf(failure) === kindOf(first.failure))
        shown = { commands, failure };
    }
  }
  return shown;
}

/** Names and sums change when commands are left out. */
const kindOf = ({ message }: Failure) => message.replace(/\b\w+_\w+\b|-?\d+n?/g, "").slice(0, 40);
