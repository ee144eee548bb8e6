/** An account with money on a server that is to be disturbed, and what its ledger says afterwards. */

import { toUsd } from "../../src/base/money.ts";
import type { Receipt } from "../../src/ledger/receipt.ts";
import type { LedgerReader } from "../../src/ledger/store.ts";
import { verifyLedger } from "../../src/ledger/verify/verify.ts";
import { connectControl } from "../../src/platform/control-socket.ts";
import { openLedgerReader } from "../../src/store/sqlite/ledger/reader.ts";

const creditNano = 1_000_000_000_000n;

export async function operationsOf(dataDir: string) {
  const control = await connectControl(dataDir);
  if (control === undefined) throw new Error("nobody answers at the control socket");
  return control.operations;
}

export interface Account {
  readonly id: string;
  readonly key: string;
}

export async function openAccount(dataDir: string): Promise<Account> {
  const operations = await operationsOf(dataDir);
  const { id: account } = await operations.accounts.create({ name: "payer" });
  const usd = toUsd(creditNano);
  await operations.entries.add({ account, kind: "credit", usd, reference: "start" });
  return { id: account, key: (await operations.keys.create({ account })).key };
}

export async function withReader<T>(
  path: string,
  read: (reader: LedgerReader) => Promise<T>,
): Promise<T> {
  const reader = openLedgerReader(path);
  try {
    return await read(reader);
  } finally {
    await reader.close();
  }
}

/** The oldest first. */
export async function receiptsIn(reader: LedgerReader): Promise<readonly Receipt[]> {
  const receipts: Receipt[] = [];
  for await (const receipt of reader.receipts({ oldestFirst: true })) receipts.push(receipt);
  return receipts;
}

/** Every sum is right, nothing is held, and the server's balance is the credit minus the charges. */
export async function judgeMoney(options: {
  readonly reader: LedgerReader;
  readonly dataDir: string;
  readonly account: string;
}): Promise<readonly string[]> {
  const { problems, charged } = await verifyLedger(options.reader);
  const operations = await operationsOf(options.dataDir);
  const shown = await operations.accounts.show({ account: options.account });
  const balance = toUsd(creditNano - charged);
  return [
    ...problems.map((problem) => `ledger: ${JSON.stringify(problem)}`),
    ...(shown.held_usd === toUsd(0n) ? [] : [`${shown.held_usd} USD stay held`]),
    ...(shown.balance_usd === balance
      ? []
      : [`the balance is ${shown.balance_usd} USD, not ${balance}`]),
  ];
}
