/** What the parts of the engine's bench found, as a table for people or as JSON. */
import { spreadOf } from "../gateway/report.ts";

/** One value, or one a round. */
export type Figure = {
  /** For machines; stays when the label gets better words. */
  readonly name: string;
  readonly label: string;
  readonly unit: string;
  readonly digits: number;
  readonly values: readonly number[];
};

export type Part = {
  readonly title: string;
  readonly figures: readonly Figure[];
  /** Why figures are missing. */
  readonly problems: readonly string[];
};

export type Machine = {
  readonly processors: number;
  readonly model: string;
  readonly platform: string;
  readonly bun: string;
  /** Of 1, 5 and 15 minutes, before the bench did anything. */
  readonly loadAverage: readonly number[];
};

export function asText(machine: Machine, parts: readonly Part[]): string {
  const width = Math.max(
    ...parts.flatMap(({ figures }) => figures.map(({ label }) => label.length)),
  );
  const load = machine.loadAverage.map((value) => value.toFixed(2)).join(", ");
  return [
    `${machine.processors} × ${machine.model}, ${machine.platform}, Bun ${machine.bun}`,
    `load average before the start: ${load}`,
    "median (min–max) where there were rounds",
    ...parts.flatMap(({ title, figures, problems }) => [
      "",
      title,
      ...figures.map((figure) => `  ${figure.label.padEnd(width)}   ${valueText(figure)}`),
      ...problems.map((problem) => `  failed: ${problem}`),
    ]),
  ].join("\n");
}

export function asJson(machine: Machine, parts: readonly Part[]): string {
  const result = parts.map(({ title, figures, problems }) => ({
    title,
    figures: figures.map(({ name, unit, values }) => ({ name, unit, ...spreadOf(values) })),
    problems,
  }));
  return JSON.stringify({ machine, parts: result }, undefined, 2);
}

function valueText({ unit, digits, values }: Figure): string {
  const spread = spreadOf(values);
  if (spread === undefined) return "–";
  const [median, min, max] = [spread.median, spread.min, spread.max].map((value) =>
    value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits }),
  );
  return `${median}${values.length > 1 ? ` (${min}–${max})` : ""} ${unit}`.trimEnd();
}
