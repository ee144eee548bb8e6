import { toLabels } from "./exposition.ts";

/** The metrics of one process, as text. */
export interface ProcessMetrics {
  readonly process: string;
  readonly text: string;
}

interface Family {
  readonly head: readonly [help: string, type: string];
  readonly isCounted: boolean;
  /** By name and labels, in the order in which they came. */
  readonly values: Map<string, string>;
}

type Families = Map<string, Family>;

/** What says something about one process only: its series get the name of the process as a label. */
const perProcess = /^svc_(process_|build_info$)/;
/** Of several times the first one matters. */
const earliest = new Set(["svc_tls_certificate_expiry_seconds"]);
/** States: adding them up says nothing, the worst one does. */
const worst = new Set(["svc_breaker_state", "svc_target_resting", "svc_ledger_failing"]);

/**
 * Makes one text of the metrics of several processes: counters, histograms and amounts are added
 * up, states show the worst. What a process had counted before it ended stays in the sums, because
 * a counter that falls looks like a restart of the whole server to a monitoring system.
 */
export class MergedMetrics {
  readonly #ended: Families = new Map();

  /** A process has ended: its counters stay, its gauges go. */
  keep(text: string): void {
    for (const [name, family] of readFamilies(text))
      if (family.isCounted && !perProcess.test(name)) addFamily(this.#ended, name, family);
  }

  text(parts: readonly ProcessMetrics[]): string {
    const merged: Families = new Map();
    for (const { process, text } of parts)
      for (const [name, family] of readFamilies(text))
        addFamily(merged, name, perProcess.test(name) ? named(family, process) : family);
    for (const [name, family] of this.#ended) addFamily(merged, name, family);
    const lines = Array.from(merged.values(), ({ head, values }) => [
      ...head,
      ...Array.from(values, ([series, value]) => `${series} ${value}`),
    ]);
    return `${lines.flat().join("\n")}\n`;
  }
}

function addFamily(families: Families, name: string, added: Family): void {
  const known = families.get(name);
  if (known === undefined) {
    families.set(name, { ...added, values: new Map(added.values) });
    return;
  }
  const join = worst.has(name) ? larger : earliest.has(name) ? smaller : sum;
  for (const [series, value] of added.values) {
    const before = known.values.get(series);
    known.values.set(series, before === undefined ? value : join(before, value));
  }
}

function named({ values, ...rest }: Family, process: string): Family {
  const label = toLabels({ process });
  const labelled = Array.from(values, ([series, value]) => {
    const brace = series.indexOf("{");
    const all = brace === -1 ? `${series}{${label}}` : `${series.slice(0, -1)},${label}}`;
    return [all, value] as const;
  });
  return { ...rest, values: new Map(labelled) };
}

/** Our own text, so it has a HELP and a TYPE line before every family. */
function readFamilies(text: string): Families {
  const families: Families = new Map();
  let help = "";
  let current: Family | undefined;
  for (const line of text.split("\n")) {
    if (line.startsWith("# HELP ")) help = line;
    else if (line.startsWith("# TYPE ")) {
      const [, , name = "", type] = line.split(" ");
      current = { head: [help, line], isCounted: type !== "gauge", values: new Map() };
      families.set(name, current);
    } else if (line !== "") {
      const end = line.lastIndexOf(" ");
      current?.values.set(line.slice(0, end), line.slice(end + 1));
    }
  }
  return families;
}

const smaller = (left: string, right: string) => (Number(left) <= Number(right) ? left : right);
const larger = (left: string, right: string) => (Number(left) >= Number(right) ? left : right);

const decimal = /^(\d+)(?:\.(\d+))?$/;

/** Money keeps every digit. */
function sum(left: string, right: string): string {
  const one = decimal.exec(left);
  const other = decimal.exec(right);
  if (one === null || other === null) return String(Number(left) + Number(right));
  const places = Math.max(one[2]?.length ?? 0, other[2]?.length ?? 0);
  const scaled = ([, whole = "", fraction = ""]: RegExpExecArray) =>
    BigInt(whole + fraction.padEnd(places, "0"));
  const digits = String(scaled(one) + scaled(other)).padStart(places + 1, "0");
  if (places === 0) return digits;
  const fraction = digits.slice(-places).replace(/0+$/, "");
  const whole = digits.slice(0, -places);
  return fraction === "" ? whole : `${whole}.${fraction}`;
}
