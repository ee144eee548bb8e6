import { Problem } from "../../../../base/problem.ts";

/** A value with its place in the text. */
export interface JsonNode {
  readonly start: number;
  readonly end: number;
  readonly value: unknown;
  /** Of an object, by name; of a name that is there twice, the last, as readers take it. */
  readonly members?: ReadonlyMap<string, JsonNode>;
  /** Of a list. */
  readonly items?: readonly JsonNode[];
  /** Where the last member or item ends, with the comma behind it if there is one. */
  readonly last?: { readonly end: number; readonly hasComma: boolean };
}

const maxDepth = 100;

/** JSON with the comments and the commas before a bracket that editors allow in their settings. */
export function parseJsonText(text: string): JsonNode {
  const reader = new Reader(text);
  reader.skip();
  const node = reader.node(0);
  reader.skip();
  if (reader.at < text.length) throw reader.wrong("Unexpected text after the end.");
  return node;
}

class Reader {
  readonly #text: string;
  at = 0;

  constructor(text: string) {
    this.#text = text;
    if (text.startsWith("\ufeff")) this.at = 1;
  }

  node(depth: number): JsonNode {
    if (depth > maxDepth) throw this.wrong("Too deeply nested.");
    const sign = this.#text[this.at];
    if (sign === "{") return this.#object(depth);
    if (sign === "[") return this.#list(depth);
    return this.#scalar();
  }

  /** Spaces and comments. */
  skip(): void {
    const blanks = /(?:[ \t\r\n]|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;
    blanks.lastIndex = this.at;
    this.at += blanks.exec(this.#text)?.[0].length ?? 0;
  }

  /** With its place, and never with the line: it may hold a key. */
  wrong(message: string): Problem {
    const before = this.#text.slice(0, this.at).split("\n");
    const column = (before.at(-1)?.length ?? 0) + 1;
    return new Problem({
      code: "invalid",
      message: `line ${before.length}, column ${column}: ${message}`,
    });
  }

  #object(depth: number): JsonNode {
    const members = new Map<string, JsonNode>();
    const read = () => {
      const name = this.#string();
      this.skip();
      if (this.#text[this.at] !== ":") throw this.wrong("Expected a colon.");
      this.at++;
      this.skip();
      members.set(name, this.node(depth + 1));
    };
    const { start, last } = this.#elements("}", read);
    const value = Object.fromEntries([...members].map(([name, node]) => [name, node.value]));
    return { start, end: this.at, value, members, ...(last && { last }) };
  }

  #list(depth: number): JsonNode {
    const items: JsonNode[] = [];
    const { start, last } = this.#elements("]", () => items.push(this.node(depth + 1)));
    const value = items.map((item) => item.value);
    return { start, end: this.at, value, items, ...(last && { last }) };
  }

  #elements(close: string, read: () => void) {
    const start = this.at++;
    let last: { end: number; hasComma: boolean } | undefined;
    for (;;) {
      this.skip();
      if (this.#text[this.at] === close) break;
      if (last?.hasComma === false) throw this.wrong(`Expected a comma or ${close}`);
      read();
      last = { end: this.at, hasComma: false };
      this.skip();
      if (this.#text[this.at] !== ",") continue;
      last = { end: ++this.at, hasComma: true };
    }
    this.at++;
    return { start, last };
  }

  #string(): string {
    const string = /"(?:[^"\\\n]|\\.)*"/y;
    string.lastIndex = this.at;
    const found = string.exec(this.#text)?.[0];
    if (found === undefined) throw this.wrong("Expected a name in double quotes.");
    return String(this.#value(found));
  }

  #scalar(): JsonNode {
    const start = this.at;
    const scalar = /"(?:[^"\\\n]|\\.)*"|[\w.+-]+/y;
    scalar.lastIndex = start;
    const found = scalar.exec(this.#text)?.[0];
    if (found === undefined) throw this.wrong("Expected a value.");
    const value = this.#value(found);
    return { start, end: this.at, value };
  }

  #value(text: string): unknown {
    try {
      const value: unknown = JSON.parse(text);
      this.at += text.length;
      return value;
    } catch {
      throw this.wrong("This is not a value of JSON.");
    }
  }
}
