import { expect } from "bun:test";
import type { Check } from "../../src/cli/doctor-wiring.ts";
import type { Environment, Home } from "./child.ts";

interface Report {
  readonly ok: boolean;
  readonly problems: number;
  readonly checks: readonly Check[];
}

/** What `svc doctor` finds, whose sums and exit code must agree with it. */
export async function examineHome(
  home: Home,
  environment: Environment = {},
  flags: readonly string[] = [],
): Promise<readonly Check[]> {
  const { code, stdout } = await home.svc(["doctor", "--json", ...flags], { environment });
  const report: Report = JSON.parse(stdout);
  expect(code).toBe(report.ok ? 0 : 1);
  expect(report.problems).toBe(report.checks.filter(({ state }) => state === "problem").length);
  return report.checks;
}

/** Of a group, without those that are in order. */
export const wrong = (checks: readonly Check[], group: Check["group"]) =>
  checks
    .filter((check) => check.group === group && check.state !== "ok" && check.state !== "skipped")
    .map(({ state, finding }) => `${state}: ${finding}`);
