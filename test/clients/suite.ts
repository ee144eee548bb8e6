import { describe, expect, test } from "bun:test";
import { readResults } from "./report.ts";

const update = "npm run test:clients -- --only typescript";

export type Check = (what: string, run: () => Promise<void>) => void;

/** The checks of one npm client. Each is a test, and a line of `docs/compatibility.md`. */
export function clientSuite(packageName: string, define: (check: Check) => void): void {
  const names: string[] = [];
  describe(packageName, () => {
    define((what, run) => {
      if (names.includes(what)) throw new Error(`Two checks are called "${what}".`);
      names.push(what);
      test(what, run);
    });
  });
  // `npm run test:clients` sets it, and writes the page after the run.
  if (process.env["SVC_SAVE_RESULTS"] === "1") return;
  test(`docs/compatibility.md lists the checks of ${packageName}: ${update} updates it`, () => {
    const saved = readResults().find(({ client }) => client === packageName);
    expect(Object.keys(saved?.checks ?? {})).toEqual(names);
  });
}
