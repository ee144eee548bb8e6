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
  const { failure, lag_s: lagS, ahead_s: aheadS } = stream;
  const what = `${name}: ${stream.stream}`;
  const state = `${successText(stream)}, ${backlogText(lagS)}`;
  if (failure !== null)
    return checks.problem(
      `${what} cannot be delivered to ${to}: ${failure} (${state}).`,
      `Fix this, then run svc exports run ${name}. Nothing is lost: the next attempt continues where the last one stopped.`,
    );
  if (aheadS > 0)
    return checks.warning(
      `${what}: its position is ${durationText(aheadS)} in the future, because the clock of this machine was ahead or is behind now (${state}).`,
      "Check the clock. If it is right, the next pass continues after what was delivered. If svc logs --level warn shows that the export waits, see docs/deploy/export.md.",
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

const backlogText = (lagS: number) => (lagS === 0 ? "up to date" : `${durationText(lagS)} behind`);

function durationText(seconds: number): string {
  const hours = Math.floor(seconds / 3_600);
  if (hours === 0) return "less than an hour";
  return `${hours} ${hours === 1 ? "hour" : "hours"}`;
}
