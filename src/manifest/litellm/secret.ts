import type { Remarks, Source } from "./source.ts";

/** What people write where a server wants a key and looks at none. */
const placeholder =
  /^(none|empty|dummy|fake|any|anything|xxx+|n\/a|na|not[-_ ]?(needed|required|used)|no[-_ ]?key|(sk-)?(fake|dummy|no)[-_]?(api[-_]?)?key([-_]required)?|sk-(1234|none|dummy|fake))$/i;

const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Reads keys: by reference, or as they are if the operator has said so. Never says what they are. */
export class Secret {
  readonly #remarks: Remarks;
  readonly #keepKeys: boolean;
  readonly #literals = new Set<string>();

  constructor(options: { readonly remarks: Remarks; readonly keepKeys: boolean }) {
    this.#remarks = options.remarks;
    this.#keepKeys = options.keepKeys;
  }

  /** All that were written out and are kept. */
  literals(): ReadonlySet<string> {
    return this.#literals;
  }

  read(source: Source, field: string): string | undefined {
    const text = source.text(field);
    if (text === undefined) return undefined;
    const line = source.line(field);
    if (text.startsWith("os.environ/")) {
      const name = text.slice("os.environ/".length);
      if (variableName.test(name)) return `\${${name}}`;
      this.#remarks.problem(line, `${field} names a variable that cannot be one`);
      return undefined;
    }
    if (field === "api_key" && placeholder.test(text)) {
      this.#remarks.note(line, `${field} is a placeholder and is left out`);
      return undefined;
    }
    if (this.#keepKeys) {
      this.#literals.add(text);
      return text;
    }
    this.#remarks.problem(
      line,
      `${field} is written out: put it into a variable and write os.environ/NAME here, or import with --keep-keys, which encrypts it`,
    );
    return undefined;
  }
}
