import { isAlias, isMap, isNode, isScalar, LineCounter, type Node, parseDocument } from "yaml";
import { Problem } from "../../base/problem.ts";
import { yamlValue } from "../../base/yaml.ts";

/** What is said about one line of the file that was read. */
export interface Note {
  readonly line: number;
  readonly text: string;
}

/** Collects what people are told: what was not taken over, and what makes the file unreadable. */
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
  /** One of each, so that what was read in it is known to all. */
  readonly #inner = new Map<string, Source>();

  constructor(options: { value: unknown; path: Path; lineAt: (path: Path) => number }) {
    this.#value = isRecord(options.value) ? options.value : {};
    this.#path = options.path;
    this.#lineAt = options.lineAt;
  }

  line(name?: string): number {
    return this.#lineAt(name === undefined ? this.#path : [...this.#path, name]);
  }

  /** Of the fields that say something. */
  names(): readonly string[] {
    return Object.keys(this.#value).filter((name) => !isNothing(this.#value[name]));
  }

  /** Those that nobody has asked for. */
  unused(): readonly string[] {
    return this.names().filter((name) => !this.#used.has(name));
  }

  /** They are dealt with elsewhere. */
  use(...names: readonly string[]): void {
    for (const name of names) this.#used.add(name);
  }

  has(name: string): boolean {
    return !isNothing(this.#value[name]);
  }

  raw(name: string): unknown {
    this.use(name);
    return isNothing(this.#value[name]) ? undefined : this.#value[name];
  }

  /** Undefined also where it is a list or a map. */
  text(name: string): string | undefined {
    const value = this.raw(name);
    return typeof value === "string" ? value.trim() : undefined;
  }

  isMapOrList(name: string): boolean {
    return typeof this.#value[name] === "object";
  }

  inner(name: string): Source {
    this.use(name);
    const known = this.#inner.get(name);
    if (known !== undefined) return known;
    const path = [...this.#path, name];
    const made = new Source({ value: this.#value[name], path, lineAt: this.#lineAt });
    this.#inner.set(name, made);
    return made;
  }

  /** The maps of a list, or the texts in it as undefined. */
  items(name: string): readonly Source[] {
    const value = this.raw(name);
    const path = [...this.#path, name];
    return (Array.isArray(value) ? value : []).map(
      (one: unknown, at) => new Source({ value: one, path: [...path, at], lineAt: this.#lineAt }),
    );
  }

  texts(name: string): readonly string[] {
    const value = this.raw(name);
    if (typeof value === "string") return [value];
    return (Array.isArray(value) ? value : []).filter((one) => typeof one === "string");
  }

  /** The same with fields that stand elsewhere in the file; its own come first. */
  with(other: Source): Source {
    const merged = new Source({
      value: { ...other.#value, ...this.#value },
      path: this.#path,
      lineAt: (path) => {
        const name = path.at(-1);
        const isOther =
          path.length > this.#path.length && typeof name === "string" && !this.has(name);
        return isOther ? other.line(name) : this.#lineAt(path);
      },
    });
    return merged;
  }
}

export function openSource(text: string): Source {
  const lineCounter = new LineCounter();
  // "failsafe" leaves every scalar as it was written: 1.5e-07 stays those seven characters.
  const document = parseDocument(text, {
    schema: "failsafe",
    merge: true,
    lineCounter,
    // A frame of the line would show the keys that stand in it.
    prettyErrors: false,
  });
  const problems = document.errors.map(({ message, pos }) => {
    const { line, col } = lineCounter.linePos(pos[0]);
    return `line ${line}, column ${col}: ${message}`;
  });
  if (problems.length > 0) throw new Problem({ code: "invalid", message: problems.join("\n") });
  const value = yamlValue(document, lineCounter);
  if (!isRecord(value))
    throw new Problem({ code: "invalid", message: "line 1: the file is no LiteLLM config" });
  const lineAt = (path: Path) => {
    let node: unknown = document.contents;
    let line = 1;
    for (const step of path) {
      const resolved = isAlias(node) ? node.resolve(document) : node;
      const next = stepInto(resolved, step);
      if (next === undefined) break;
      if (next.offset !== undefined) line = lineCounter.linePos(next.offset).line;
      node = next.node;
    }
    return line;
  };
  return new Source({ value, path: [], lineAt });
}

/** A field is where its name stands. */
function stepInto(
  node: Node | unknown,
  step: string | number,
): { readonly node: unknown; readonly offset: number | undefined } | undefined {
  if (isMap(node)) {
    const pair = node.items.find(({ key }) => isScalar(key) && key.value === step);
    if (pair === undefined) return undefined;
    return { node: pair.value, offset: isNode(pair.key) ? pair.key.range?.[0] : undefined };
  }
  if (typeof node !== "object" || node === null || !("items" in node)) return undefined;
  const item: unknown = Array.isArray(node.items) ? node.items[Number(step)] : undefined;
  return isNode(item) ? { node: item, offset: item.range?.[0] } : undefined;
}

function isNothing(value: unknown): boolean {
  return value === undefined || (typeof value === "string" && /^(|~|null|Null|NULL)$/.test(value));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
