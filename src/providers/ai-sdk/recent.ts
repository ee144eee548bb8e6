const most = 256;

/** What was made last, by its name: the oldest goes when there are too many. */
export class Recent<T> {
  readonly #kept = new Map<string, T>();

  get(name: string): T | undefined {
    return this.#kept.get(name);
  }

  keep(name: string, value: T): T {
    const [oldest] = this.#kept.keys();
    if (this.#kept.size >= most && oldest !== undefined) this.#kept.delete(oldest);
    this.#kept.set(name, value);
    return value;
  }
}
