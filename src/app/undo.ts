/** What a start has opened, to be closed in reverse order: when a later step fails, and at the end. */
export class Undo {
  readonly #steps: (() => Promise<void>)[] = [];

  push(step: () => Promise<void>): void {
    this.#steps.push(step);
  }

  /** A step that fails does not keep the others from running; the first failure is thrown. */
  async run(): Promise<void> {
    const failures: unknown[] = [];
    for (const step of this.#steps.toReversed())
      await step().catch((error: unknown) => failures.push(error));
    if (failures.length > 0) throw failures[0];
  }
}
