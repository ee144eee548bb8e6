import type { Checks, DatabaseFindings } from "./checks.ts";

const toleratedMs = 2_000;
const futureMs = 60_000;
const askMs = 3_000;

/** Limits, expiry dates, certificates and one-time codes go by it. */
export async function checkClock(
  checks: Checks,
  { aheadMs, newestReceiptMs }: DatabaseFindings,
): Promise<void> {
  const nowMs = Date.now();
  if (aheadMs !== undefined) {
    const seconds = Math.abs(aheadMs / 1000).toFixed(1);
    if (Math.abs(aheadMs) > toleratedMs)
      checks.warning(
        `The clock of this machine is ${seconds} s ${aheadMs > 0 ? "behind" : "ahead of"} the database's.`,
        "Synchronize both, for example with systemd-timesyncd or chrony.",
      );
    else checks.ok(`Within ${seconds} s of the database's clock`);
  }
  if (newestReceiptMs !== undefined && newestReceiptMs > nowMs + futureMs)
    checks.problem(
      `The newest receipt is from ${new Date(newestReceiptMs).toISOString()}, which is in the future: the clock was set back.`,
      "Set the clock right before you start the server, or the order of receipts is wrong.",
    );
  const isSynchronized = await readSynchronized();
  if (isSynchronized === false)
    checks.warning(
      "The clock is not synchronized over the network.",
      "Turn on systemd-timesyncd or chrony: timedatectl set-ntp true",
    );
  else if (isSynchronized) checks.ok("Synchronized over the network");
  else checks.ok(`${new Date(nowMs).toISOString()} (whether it is synchronized is not known here)`);
}

/** Undefined where systemd does not answer, such as in a container. */
async function readSynchronized(): Promise<boolean | undefined> {
  const program = Bun.which("timedatectl");
  if (program === null) return undefined;
  const child = Bun.spawn([program, "show", "--property=NTPSynchronized", "--value"], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
    timeout: askMs,
    killSignal: "SIGKILL",
  });
  const text = (await new Response(child.stdout).text()).trim();
  if ((await child.exited) !== 0) return undefined;
  return text === "yes" ? true : text === "no" ? false : undefined;
}
