import type { ProviderEntry, StoredOption } from "../catalog/model.ts";
import { keysOf } from "../catalog/provider-keys.ts";
import { fileMark } from "../config/references.ts";

const lookEveryMs = 2_000;

/** Looks at the files that providers take their keys from, and calls back when one was replaced. */
export class FileWatch {
  readonly #timer: ReturnType<typeof setInterval>;
  #providers: readonly ProviderEntry[] = [];
  #known: ReadonlyMap<string, string> = new Map();

  constructor(onChange: () => void) {
    this.#timer = setInterval(() => {
      const found = marksOf(this.#providers);
      if ([...found].some(([name, mark]) => this.#known.get(name) !== mark)) onChange();
    }, lookEveryMs);
    this.#timer.unref();
  }

  /** Before their files are read: one that is replaced right after that is noticed. */
  expect(providers: readonly ProviderEntry[]): void {
    this.#providers = providers;
    this.#known = marksOf(providers);
  }

  close(): void {
    clearInterval(this.#timer);
  }
}

function marksOf(providers: readonly ProviderEntry[]): ReadonlyMap<string, string> {
  const marks = new Map<string, string>();
  for (const entry of providers)
    for (const reference of referencesOf(entry)) {
      const mark = fileMark(reference);
      if (mark !== undefined) marks.set(reference, mark);
    }
  return marks;
}

export function referencesOf(entry: ProviderEntry): readonly string[] {
  const all: readonly StoredOption[] = [
    ...keysOf(entry).map(({ secret }) => secret),
    ...Object.values(entry.options ?? {}),
  ];
  return all.flatMap((one) => ("variable" in one ? [one.variable] : []));
}
