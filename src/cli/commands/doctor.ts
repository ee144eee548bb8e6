import { Problem } from "../../base/problem.ts";
import { type Command, jsonFlag } from "../command.ts";
import { type Check, type CheckState, checkGroups } from "../doctor-wiring.ts";
import { print, printHint, printJson, style } from "../terminal/output.ts";
import { ProgressLine } from "../terminal/progress-line.ts";

export const doctorCommand: Command = {
  name: "doctor",
  about:
    "Check this installation and show what to do: machine, settings, files, ports, certificates, mail, telemetry, database, secret, clock, sign-in, providers and exports. It changes nothing and makes no paid call.",
  flags: {
    deep: { about: "also read the whole database and recompute the ledger" },
    ...jsonFlag,
  },
  examples: ["svc doctor", "svc doctor --deep", "svc doctor --json"],
  async run({ switches, wiring }) {
    const line = new ProgressLine();
    const isLive = process.stderr.isTTY === true;
    const checks = await wiring
      .examine({
        isDeep: switches.has("deep"),
        onGroups: (groups) => isLive && line.show(`checking: ${groups.join(", ")} …`),
      })
      .finally(() => line.clear());
    const count = (state: CheckState) => checks.filter((check) => check.state === state).length;
    const problems = count("problem");
    const warnings = count("warning");
    if (switches.has("json")) printJson({ ok: problems === 0, problems, warnings, checks });
    else printChecks(checks, { problems, warnings });
    if (problems > 0)
      throw new Problem({ code: "failed", message: `${counted(problems, "problem")} found.` });
  },
};

const marks: Readonly<Record<CheckState, string>> = {
  ok: style.green("✓"),
  warning: style.yellow("!"),
  problem: style.red("✗"),
  skipped: style.dim("–"),
};

function printChecks(
  checks: readonly Check[],
  { problems, warnings }: { readonly problems: number; readonly warnings: number },
): void {
  for (const group of checkGroups) {
    const found = checks.filter((check) => check.group === group);
    if (found.length === 0) continue;
    print(style.bold(group));
    for (const { state, finding, advice } of found) {
      print(`  ${marks[state]} ${state === "skipped" ? style.dim(finding) : finding}`);
      if (advice !== undefined) printHint(`      ${advice}`);
    }
  }
  print();
  if (problems + warnings === 0) print(style.green("Everything is in order."));
  else print(`${counted(problems, "problem")}, ${counted(warnings, "warning")}.`);
}

const counted = (count: number, one: string) => `${count} ${one}${count === 1 ? "" : "s"}`;
