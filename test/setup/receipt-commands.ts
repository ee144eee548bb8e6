import { spyOn } from "bun:test";
import { Problem } from "../../src/base/problem.ts";
import { readInvocation, type Wiring } from "../../src/cli/command.ts";
import { receiptCommands } from "../../src/cli/commands/receipt.ts";
import { openLedgerReader } from "../../src/store/sqlite/ledger/reader.ts";

export interface Outcome {
  readonly text: string;
  /** `ok`, or the code of the problem. */
  readonly code: string;
  readonly message?: string;
}

/** What a command about receipts prints on this database, and what comes of it. */
export async function runReceiptCommand(line: string, path: string): Promise<Outcome> {
  const command = receiptCommands.find(({ name }) => line === name || line.startsWith(`${name} `));
  if (command === undefined) throw new Error(`there is no ${line}`);
  const words = line.split(" ").slice(command.name.split(" ").length);
  const wiring: Pick<Wiring, "withLedger"> = {
    async withLedger(run) {
      const reader = openLedgerReader(path);
      return run(reader).finally(() => reader.close());
    },
  };
  let text = "";
  const spy = spyOn(process.stdout, "write").mockImplementation(
    (data: string | Uint8Array, ...rest: unknown[]) => {
      text += String(data);
      const done = rest.at(-1);
      if (typeof done === "function") done();
      return true;
    },
  );
  try {
    await command.run(readInvocation(command, words, wiring as Wiring));
    return { text, code: "ok" };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { text, code: error.code, message: error.message };
  } finally {
    spy.mockRestore();
  }
}
