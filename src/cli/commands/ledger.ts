import { optionalDate, toDateText } from "../../base/dates.ts";
import { toUsd } from "../../base/money.ts";
import { Problem } from "../../base/problem.ts";
import { type LedgerFindings, verifyLedger } from "../../ledger/verify/verify.ts";
import { type Command, jsonFlag } from "../command.ts";
import { print, printJson, printTable, style } from "../terminal/output.ts";
import { ProgressLine } from "../terminal/progress-line.ts";

export const ledgerVerify: Command = {
  name: "ledger verify",
  about: "Recompute the whole ledger and report any discrepancies.",
  flags: jsonFlag,
  examples: ["svc ledger verify", "svc ledger verify --json"],
  run: ({ switches, wiring }) =>
    wiring.withLedger(async (ledger) => {
      const line = new ProgressLine();
      const isLive = process.stderr.isTTY === true;
      const findings = await verifyLedger(ledger, (receipts) => {
        if (isLive) line.show(counted(receipts, "receipt"));
      }).finally(() => line.clear());
      const { fromSums } = findings;
      if (switches.has("json"))
        printJson({
          ...findings,
          charged: toUsd(findings.charged),
          from_sums: fromSums && {
            receipts: fromSums.receipts,
            charged: toUsd(fromSums.charged),
            before: optionalDate(fromSums.beforeMs),
          },
          fromSums: undefined,
          problem_count: findings.problemCount,
          problemCount: undefined,
        });
      else printFindings(findings);
      if (!findings.ok)
        throw new Problem({
          code: "failed",
          message: `The ledger has ${counted(findings.problemCount, "problem")}.`,
        });
    }),
};

function printFindings(findings: LedgerFindings): void {
  const { ok, receipts, accounts, entries, charged, fromSums, problems, problemCount } = findings;
  const seen = [
    counted(receipts, "receipt"),
    counted(accounts, "account"),
    counted(entries, "entry", "entries"),
  ].join(", ");
  const mark = ok ? style.green("ok") : style.red("not ok");
  print(`${mark}  ${seen}, ${toUsd(charged)} USD charged`);
  if (fromSums !== undefined) print(style.dim(fromSumsText(fromSums)));
  if (ok) return;
  print();
  printTable(
    ["problem", "where", "expected", "found"],
    problems.map(({ kind, subject, expected, found }) => [kind, subject, expected, found]),
  );
  if (problemCount > problems.length) print(`… and ${problemCount - problems.length} more`);
}

function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

function fromSumsText({
  receipts,
  charged,
  beforeMs,
}: NonNullable<LedgerFindings["fromSums"]>): string {
  const kept = beforeMs === undefined ? "for some accounts" : `before ${toDateText(beforeMs)}`;
  return `The daily sums stand for ${counted(receipts, "receipt")} with ${toUsd(charged)} USD: receipts are no longer kept ${kept}.`;
}
