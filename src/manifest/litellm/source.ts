import { isMap, isNode, isScalar, isSeq } from "yaml";
import { Problem } from "../../base/problem.ts";
import { parseYaml, yamlValue } from "../../base/text/yaml.ts";
import { isRecord } from "../draft.ts";

/** A remark on one line of the file that was read. */
export interface Note {
  readonly line: number;
  readonly text: string;
}

/** Collects what was not taken over, and what makes the file unreadable. */
export class Remarks {
  readonly #notes: Note[] = [];
  readonly #problems: Note[] = [];

  note(line: number, text: string): void {
    this.#notes.push({ line, text });
  }

  /** Reading goes on, so that all problems are seen at once. */
  problem(line: number, text: string): void {
    this.#problems.push({ line, text });
  }

  notes(): readonly Note[] {
    return byLine(this.#notes);
  }

  throwProblems(): void {
    if (this.#problems.length === 0) return;
    const lines = byLine(this.#problems).map(({ line, text }) => `line ${line}: ${text}`);
    throw new Problem({ code: "invalid", message: lines.join("\n") });
  }
}

const byLine = (all: readonly Note[]) => all.toSorted((one, other) => one.line - other.line);

type Path = readonly (string | number)[];

/** A map somewhere in the file. Every scalar is the text that was written; nothing is null. */
export class Source {
  readonly #value: Readonly<Record<string, unknown>>;
  readonly #path: Path;
  readonly #lineAt: (path: Path) => number;
  readonly #used = new Set<string>();

  constructor(options: { value: unknown; path: Path; lineAt: (path: Path) => number }) {
    const all = isRecord(options.value) ? Object.entries(options.value) : [];
    this.#value = Object.fromEntries(all.filter(([, value]) => !isNothing(value)));
    this.#path = options.path;
    this.#lineAt = options.lineAt;
  }

  line(name?: string): number {
    return this.#lineAt(name === undefined ? this.#path : [...this.#path, name]);
  }

  names(): readonly string[] {
    return Object.keys(this.#value);
  }

  /** The fields that nobody has asked for. */
  unused(): readonly string[] {
    return this.names().filter((name) => !this.#used.has(name));
  }

  use(...names: readonly string[]): void {
    for (const name of names) this.#used.add(name);
  }

  has(name: string): boolean {
    return Object.hasOwn(this.#value, name);
  }

  /** Every text of this map, whether it is used or not. */
  ownTexts(): readonly (readonly [name: string, text: string])[] {
    return Object.entries(this.#value).flatMap(([name, value]) =>
      typeof value === "string" ? [[name, value.trim()] as const] : [],
    );
  }

  /** Undefined also where it is a list or a map. */
  text(name: string): string | undefined {
    const value = this.#raw(name);
    return typeof value === "string" ? value.trim() : undefined;
  }

  inner(name: string): Source {
    const path = [...this.#path, name];
    return new Source({ value: this.#raw(name), path, lineAt: this.#lineAt });
  }

  /** The maps of a list. */
  items(name: string): readonly Source[] {
    const value = this.#raw(name);
    const path = [...this.#path, name];
    return (Array.isArray(value) ? value : []).map(
      (one: unknown, at) => new Source({ value: one, path: [...path, at], lineAt: this.#lineAt }),
    );
  }

  texts(name: string): readonly string[] {
    const value = this.#raw(name);
    return [value].flat().filter((one) => typeof one === "string");
  }

  /** The same with fields that stand elsewhere in the file; its own come first. */
  with(other: Source): Source {
    const value = { ...other.#value, ...this.#value };
    return new Source({ value, path: this.#path, lineAt: this.#lineAt });
  }

  #raw(name: string): unknown {
    this.use(name);
    return this.has(name) ? this.#value[name] : undefined;
  }
}

const isNothing = (value: unknown) =>
  typeof value === "string" && /^(|~|null|Null|NULL)$/.test(value);

export function openSource(text: string): Source {
  const { document, lineCounter, problems } = parseYaml(text, { merge: true });
  if (problems.length > 0) throw new Problem({ code: "invalid", message: problems.join("\n") });
  const value = yamlValue(document, lineCounter);
  if (!isRecord(value))
    throw new Problem({ code: "invalid", message: "line 1: the file is not a LiteLLM config" });
  /** A field is where its name stands; one that was merged in, where its map is. */
  const lineAt = (path: Path): number => {
    const [name] = path.slice(-1);
    if (name === undefined) return 1;
    const above = path.slice(0, -1);
    const parent = document.getIn(above, true);
    const node = isMap(parent)
      ? parent.items.find(({ key }) => isScalar(key) && key.value === name)?.key
      : isSeq(parent)
        ? parent.items[Number(name)]
        : undefined;
    const offset = isNode(node) ? node.range?.[0] : undefined;
    return offset === undefined ? lineAt(above) : lineCounter.linePos(offset).line;
  };
  return new Source({ value, path: [], lineAt });
}
