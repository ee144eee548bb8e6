import type { Histogram } from "./histogram.ts";

type Labels = Readonly<Record<string, string>>;

export interface Family {
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly help: string;
}

interface Sample {
  readonly name: string;
  /** Made by `toLabels`; "" for none. */
  readonly labels: string;
  /** Text is a decimal number with every digit that it has. */
  readonly value: number | string;
}

/** Takes the metrics, one family after the other: what is added belongs to the family begun last. */
export interface MetricsWriter {
  family(family: Family): this;
  /**
   * `labels`: made by `toLabels`; "" for none. `sinceMs`: when a sum began that is older than the
   * process.
   */
  add(labels: string, value: number | string, sinceMs?: number): this;
  addHistogram(labels: string, histogram: Histogram): this;
}

/** Writes the text. */
export class Exposition implements MetricsWriter {
  readonly #lines: string[] = [];
  #name = "";

  family({ name, type, help }: Family): this {
    this.#name = name;
    this.#lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
    return this;
  }

  add(labels: string, value: number | string): this {
    this.#line({ name: this.#name, labels, value });
    return this;
  }

  addHistogram(labels: string, histogram: Histogram): this {
    const counts = histogram.cumulative();
    const start = `${this.#name}_bucket{${labels === "" ? "" : `${labels},`}le="`;
    let at = 0;
    for (const bound of histogram.bounds.texts)
      this.#lines.push(`${start}${bound}"} ${counts[at++]}`);
    this.#line({ name: `${this.#name}_sum`, labels, value: histogram.sumMs / 1000 });
    this.#line({ name: `${this.#name}_count`, labels, value: counts.at(-1) ?? 0 });
    return this;
  }

  text(): string {
    return `${this.#lines.join("\n")}\n`;
  }

  #line({ name, labels, value }: Sample): void {
    this.#lines.push(labels === "" ? `${name} ${value}` : `${name}{${labels}} ${value}`);
  }
}

export function toLabels(labels: Labels): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${escape(value)}"`)
    .join(",");
}

const escape = (value: string) =>
  value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
