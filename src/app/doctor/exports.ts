import type { ExportStreamView, ExportView } from "../../platform/exports/schemas.ts";
import type { Operations } from "../../platform/operations.ts";
import type { Checks } from "./checks.ts";

/** The same limit as in the alert rule in deploy/prometheus. */
const longLagS = 2 * 3_600;

/** Reports the state of each export in the database. Writes and sends nothing. */
export async function checkExports(
  checks: Checks,
  operations: Operations,
  isRunning: boolean,
): Promise<void> {
  const { exports } = await operations.exports.list({});
  if (exports.length === 0) return checks.skipped("No export is set up");
  for (const one of exports) {
    if (one.state === "paused") {
      checks.skipped(`${one.name} is paused`, `svc exports resume ${one.name}`);
      continue;
    }
    for (const stream of one.streams) checkStream(checks, one, { stream, isRunning });
  }
}

function checkStream(
  checks: Checks,
  { name, to }: ExportView,
  { stream, isRunning }: { readonly stream: ExportStreamView; readonly isRunning: boolean },
): void {
  const { failure, lag_s: lagS } = stream;
  const what = `${name}: ${stream.stream}`;
  const state = `${successText(stream)}, ${backlogText(lagS)}`;
  if (failure !== null)
    return checks.problem(
      `${what} cannot be delivered to ${to}: ${failure} (${state}).`,
      `Fix this, then run svc exports run ${name}. Nothing is lost: the next attempt continues where the last one stopped.`,
    );
  if (lagS <= longLagS) return checks.ok(`${what}: ${state}`);
  checks.warning(
    `${what}: ${state}.`,
    isRunning
      ? `Run svc exports run ${name}, and see svc logs --level warn.`
      : `Start the gateway, which runs exports, or run svc exports run ${name}.`,
  );
}

const successText = ({ delivered_at: at, rows }: ExportStreamView) =>
  at === null ? "nothing delivered yet" : `last delivery at ${at}, ${rows} rows in total`;

function backlogText(lagS: number): string {
  if (lagS === 0) return "up to date";
  const hours = Math.floor(lagS / 3_600);
  return hours === 0
    ? "less than an hour behind"
    : `${hours} ${hours === 1 ? "hour" : "hours"} behind`;
}
