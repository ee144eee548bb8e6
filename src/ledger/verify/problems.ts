export interface LedgerProblem {
  readonly kind: string;
  /** The id of what is off. */
  readonly subject: string;
  readonly expected: string;
  readonly found: string;
}

const maxProblems = 100;

/** What an examination finds: the first of them, and how many there are. */
export class Problems {
  readonly first: LedgerProblem[] = [];
  readonly notes: LedgerProblem[] = [];
  count = 0;

  add(problem: LedgerProblem): void {
    this.count++;
    if (this.first.length < maxProblems) this.first.push(problem);
  }

  note(problem: LedgerProblem): void {
    if (this.notes.length < maxProblems) this.notes.push(problem);
  }

  /** Adds one when the two are not the same. */
  compare(options: {
    readonly kind: string;
    readonly subject: string;
    readonly expected: bigint | number;
    readonly found: bigint | number;
  }): void {
    const { kind, subject, expected, found } = options;
    if (expected !== found)
      this.add({ kind, subject, expected: String(expected), found: String(found) });
  }
}
