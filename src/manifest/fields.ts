export type Path = readonly (string | number)[];
export type Report = (path: Path, message: string) => void;

/**
 * A mapping of the manifest, read field by field. Every scalar is text. Problems are reported and
 * reading continues, so that the operator sees all problems at once.
 */
export class Fields {
  readonly #values: Readonly<Record<string, unknown>>;
  readonly #path: Path;
  readonly #report: Report;

  constructor({
    value,
    path,
    report,
  }: { readonly value: unknown; readonly path: Path; readonly report: Report }) {
    const isMap = typeof value === "object" && value !== null && !Array.isArray(value);
    if (!isMap && value !== "") report(path, "must be a mapping of fields");
    this.#values = isMap ? (value as Record<string, unknown>) : {};
    this.#path = path;
    this.#report = report;
  }

  only(known: readonly string[]): void {
    for (const name of Object.keys(this.#values))
      if (!known.includes(name))
        this.wrong(name, `is not a known field; use one of: ${known.join(", ")}`);
  }

  /** The key of this mapping. */
  ownName(pattern: RegExp, allowed: string): string {
    const name = String(this.#path.at(-1) ?? "");
    if (!pattern.test(name)) this.#report(this.#path, `is not a valid name: use ${allowed}`);
    return name;
  }

  wrong(name: string, message: string): void {
    this.#report([...this.#path, name], message);
  }

  names(): readonly string[] {
    return Object.keys(this.#values);
  }

  has(name: string): boolean {
    const value = this.#values[name];
    return value !== undefined && value !== "";
  }

  /** Whether it is a text; with one named, whether it is that. */
  isText(name: string, text?: string): boolean {
    const value = this.#values[name];
    return typeof value === "string" && (text === undefined || value === text);
  }

  text(name: string): string | undefined {
    if (!this.has(name)) this.wrong(name, "is missing");
    return this.optionalText(name);
  }

  optionalText(name: string): string | undefined {
    if (!this.has(name)) return undefined;
    const value = this.#values[name];
    if (typeof value === "string") return value;
    this.wrong(name, "must be a string");
    return undefined;
  }

  word<const T extends string>(name: string, words: readonly T[]): T | undefined {
    const given = this.#values[name];
    const known = words.find((word) => word === given);
    if (known === undefined)
      this.wrong(
        name,
        `${this.has(name) ? "must be" : "is missing; use"} one of: ${words.join(", ")}`,
      );
    return known;
  }

  flag(name: string): boolean {
    const given = this.#values[name] ?? "false";
    if (given !== "true" && given !== "false") this.wrong(name, "must be true or false");
    return given === "true";
  }

  optionalInteger(
    name: string,
    { minimum, maximum }: { readonly minimum: number; readonly maximum: number },
  ): number | undefined {
    if (!this.has(name)) return undefined;
    const given = this.#values[name];
    const value =
      typeof given === "string" && /^\d{1,15}$/.test(given) ? Number(given) : Number.NaN;
    if (value >= minimum && value <= maximum) return value;
    this.wrong(name, `must be a whole number from ${minimum} to ${maximum}`);
    return undefined;
  }

  /** Decimal, to the millisecond. */
  optionalSeconds(
    name: string,
    { minimum, maximum }: { readonly minimum: number; readonly maximum: number },
  ): number | undefined {
    if (!this.has(name)) return undefined;
    const given = this.#values[name];
    const value =
      typeof given === "string" && /^\d{1,9}(\.\d{1,3})?$/.test(given) ? Number(given) : Number.NaN;
    if (value >= minimum && value <= maximum) return value;
    this.wrong(
      name,
      `must be a number of seconds from ${minimum} to ${maximum}, with at most 3 decimal places`,
    );
    return undefined;
  }

  inner(name: string): Fields {
    return new Fields({
      value: this.#values[name],
      path: [...this.#path, name],
      report: this.#report,
    });
  }

  /** The mappings below a mapping: providers and models by name. */
  entries(name: string): readonly Fields[] {
    if (!this.has(name)) return [];
    const value = this.#values[name];
    const path = [...this.#path, name];
    const isMap = typeof value === "object" && value !== null && !Array.isArray(value);
    if (!isMap) this.#report(path, "must be a mapping by name");
    return Object.entries(isMap ? value : {}).map(
      ([key, one]) => new Fields({ value: one, path: [...path, key], report: this.#report }),
    );
  }

  texts(name: string): readonly string[] {
    const value = this.has(name) ? this.#values[name] : [];
    if (Array.isArray(value) && value.every((one) => typeof one === "string")) return value;
    this.wrong(name, "must be a list of strings");
    return [];
  }

  list(name: string): readonly Fields[] {
    if (!this.has(name)) return [];
    const value = this.#values[name];
    const path = [...this.#path, name];
    if (!Array.isArray(value)) this.#report(path, "must be a list");
    return (Array.isArray(value) ? value : []).map(
      (one: unknown, at) => new Fields({ value: one, path: [...path, at], report: this.#report }),
    );
  }
}
