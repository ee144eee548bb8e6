import { defined } from "../../base/defined.ts";
import type { AccountDetails } from "../../platform/accounts/operations.ts";
import { readLimits } from "../../platform/input/limits.ts";
import type { Operations } from "../../platform/operations.ts";
import { type Command, viewCommand } from "../command.ts";
import { print, printHint, printTable, style } from "../terminal/output.ts";
import { limitFlags, limitsText, printKeys, readLimitFlags } from "./key.ts";
import { alignUsd, dayBars, printBehind } from "./money-text.ts";
import { storedText } from "./responses.ts";

const accountCreate = viewCommand({
  name: "account create",
  about: "Create an account. Names are unique and can be used in place of the id.",
  positionals: ["NAME"],
  flags: limitFlags,
  createsStore: true,
  examples: [
    "svc account create acme",
    "svc account create acme --rpm 600 --budget 100/month",
    "svc account create acme --json",
  ],
  check: (invocation) => void readLimits(undefined, readLimitFlags(invocation)),
  load: (operations, { positionals: [name = ""], flags }) =>
    operations.accounts.create({ name, ...readLimitFlags({ flags }) }),
  show(account) {
    const word = /\s/.test(account.name) ? account.id : account.name;
    print(`${style.green("created")} account ${account.name}  ${style.dim(account.id)}`);
    printHint(`Next: svc account credit ${word} 5 --reference first`);
    printHint(`      svc key create --account ${word}`);
  },
});

const accountList = viewCommand({
  name: "account list",
  about: "List all accounts with their balances.",
  examples: ["svc account list", "svc account list --json"],
  load: (operations) => operations.accounts.list({}),
  show(accounts) {
    if (accounts.length === 0)
      return printHint("No accounts yet. Create one: svc account create NAME");
    const balances = alignUsd(accounts.map(({ balance_usd }) => balance_usd));
    printTable(
      ["id", "name", "state", "balance (USD)", "keys", "created"],
      accounts.map(({ id, name, status, keys, created_at }, at) => [
        id,
        name,
        status,
        balances[at] ?? null,
        keys,
        created_at,
      ]),
    );
  },
});

const accountShow = viewCommand({
  name: "account show",
  about: "Show an account: balance, spend, limits and keys.",
  positionals: ["ID"],
  examples: ["svc account show default", "svc account show acct_0199… --json"],
  load: (operations, { positionals: [account = ""] }) => operations.accounts.show({ account }),
  show(view) {
    printAccount(view);
  },
});

const accountEntries = viewCommand({
  name: "account entries",
  about: "List the credits, refunds and withdrawals of an account.",
  positionals: ["ID"],
  examples: ["svc account entries default", "svc account entries acme --json"],
  load: (operations, { positionals: [account = ""] }) => operations.entries.list({ account }),
  show(entries, { positionals: [account = ""] }) {
    if (entries.length === 0)
      return printHint(
        `No entries yet. Add credit: svc account credit ${account} 5 --reference first`,
      );
    const amounts = alignUsd(entries.map(({ amount_usd }) => amount_usd));
    printTable(
      ["when", "kind", "USD", "reference", "note"],
      entries.map(({ created_at, kind, reference, note }, at) => [
        created_at,
        kind,
        amounts[at] ?? null,
        reference,
        note || null,
      ]),
    );
  },
});

type EntryInput = Parameters<Operations["entries"]["add"]>[0];

function entryCommand(options: {
  readonly word: string;
  readonly kind: EntryInput["kind"];
  readonly about: string;
  readonly done: string;
  readonly examples: readonly string[];
}): Command {
  const { word, kind, about, done, examples } = options;
  return viewCommand({
    name: `account ${word}`,
    about,
    positionals: ["ID", "USD"],
    flags: {
      reference: {
        about: "your own reference; each one takes effect only once",
        value: "TEXT",
      },
      note: { about: "a note about the entry", value: "TEXT" },
    },
    examples,
    load: (operations, { positionals: [account = "", usd = ""], flags: { reference, note } }) =>
      operations.entries.add({ account, kind, usd, ...defined({ reference, note }) }),
    show(entry) {
      if (entry.repeated)
        print(
          `${style.yellow("unchanged")}: reference ${entry.reference} was already used on ${entry.created_at}`,
        );
      else
        print(
          `${style.green(done)} ${entry.amount_usd.replace("-", "")} USD  ${style.dim(`reference ${entry.reference}`)}`,
        );
      print(`balance ${style.bold(entry.balance_usd)} USD`);
    },
  });
}

const entryCommands = [
  entryCommand({
    word: "credit",
    kind: "credit",
    about: "Add credit to an account. Each reference takes effect only once.",
    done: "credited",
    examples: [
      "svc account credit acme 25 --reference invoice-1042",
      "svc account credit acme 0.50 --reference gift-7 --note welcome --json",
    ],
  }),
  entryCommand({
    word: "withdraw",
    kind: "withdrawal",
    about: "Withdraw money from an account. Money held for calls in flight cannot be withdrawn.",
    done: "withdrew",
    examples: ["svc account withdraw acme 10 --reference payout-3"],
  }),
  entryCommand({
    word: "refund",
    kind: "refund",
    about: "Refund money to an account.",
    done: "refunded",
    examples: ["svc account refund acme 1.20 --reference ticket-88"],
  }),
];

function stateCommand(word: "suspend" | "resume", about: string): Command {
  return viewCommand({
    name: `account ${word}`,
    about,
    positionals: ["ID"],
    examples: [`svc account ${word} acme`],
    load: ({ accounts }, { positionals: [account = ""] }) => accounts[word]({ account }),
    show(view) {
      const state = view.status === "suspended" ? style.red("suspended") : style.green("active");
      print(`${view.name} is ${view.changed ? "now" : "already"} ${state}`);
    },
  });
}

const accountLimit = viewCommand({
  name: "account limit",
  needsChange: true,
  about: "Set the limits of an account, for all its keys combined. Omitted limits stay unchanged.",
  positionals: ["ID"],
  flags: limitFlags,
  examples: [
    "svc account limit acme --rpm 600 --concurrency 20",
    "svc account limit acme --budget 100/month",
    "svc account limit acme --budget none",
  ],
  load: (operations, { positionals: [account = ""], flags }) =>
    operations.accounts.setLimits({ account, ...readLimitFlags({ flags }) }),
  show(view) {
    print(`${style.green("set")} ${view.name}: ${limitsText(view.limits) ?? "no limits"}`);
  },
});

const accountRetention = viewCommand({
  name: "account retention",
  about:
    "Set for how many days the receipts of an account are kept. Balances and daily sums stay when receipts are deleted.",
  positionals: ["ID", "DAYS"],
  examples: ["svc account retention acme 90", "svc account retention acme none"],
  load: (operations, { positionals: [account = "", days = ""] }) =>
    operations.accounts.setRetention({ account, days }),
  show(view) {
    print(`${style.green("set")} ${view.name}: ${retentionText(view.receipts_days)}`);
  },
});

const retentionText = (days: number | null) =>
  days === null
    ? "receipts are kept for as long as those of all accounts (SVC_RECEIPTS_DAYS)"
    : `receipts are kept for ${days} ${days === 1 ? "day" : "days"}`;

export const accountCommands: readonly Command[] = [
  accountCreate,
  accountList,
  accountShow,
  ...entryCommands,
  accountEntries,
  stateCommand("suspend", "Suspend an account. Its keys are rejected until it is resumed."),
  stateCommand("resume", "Resume a suspended account."),
  accountLimit,
  accountRetention,
];

/** How many days of spend are drawn. */
const drawnDays = 14;

function printAccount(view: AccountDetails): void {
  const { balance_usd, free_usd, held_usd, budget, spend } = view;
  const state = view.status === "suspended" ? style.red("suspended") : style.green("active");
  print(`${style.bold(view.name)}  ${style.dim(view.id)}`);
  print(`${state}, created ${view.created_at}\n`);
  const [balance = "", free = "", held = ""] = alignUsd([balance_usd, free_usd, held_usd]);
  print(`  balance    ${style.bold(balance)} USD`);
  print(`  available  ${free} USD`);
  print(`  held       ${held} USD`);
  if (budget !== null) {
    const period = budget.period === "total" ? "" : ` this ${budget.period}`;
    print(`  budget     ${budget.spent_usd} of ${budget.limit_usd} USD spent${period}`);
  }
  print(`  limits     ${limitsText(view.limits) ?? "none"}`);
  const kept = view.receipts_days === null ? "" : ` (${retentionText(view.receipts_days)})`;
  print(`  receipts   ${view.receipts}${kept}`);
  if (view.stored_responses.responses > 0)
    print(`  stored     ${storedText(view.stored_responses)}`);
  if (view.shortfall_usd !== "0.00")
    print(`  ${style.yellow(`${view.shortfall_usd} USD of cost could not be charged`)}`);
  printBehind(view);
  if (view.receipts > 0) {
    print(`\n${style.bold("Spend by day")} ${style.dim(`(USD, the last ${drawnDays} days)`)}`);
    for (const line of dayBars({ days: spend.by_day, count: drawnDays, nowMs: Date.now() }))
      print(`  ${line}`);
    printSpend(
      "model",
      spend.by_model.map(({ model, ...row }) => ({ name: model, ...row })),
    );
    printSpend(
      "key",
      spend.by_key.map(({ key, name, ...row }) => ({ ...row, name: name || key })),
    );
  }
  print(`\n${style.bold("Keys")}`);
  printKeys(view.key_list.map((key) => ({ ...key, account_name: view.name })));
}

function printSpend(
  by: string,
  rows: readonly {
    readonly name: string;
    readonly receipts: number;
    readonly charged_usd: string;
  }[],
): void {
  print(`\n${style.bold(`Spend by ${by}`)}`);
  const amounts = alignUsd(rows.map(({ charged_usd }) => charged_usd));
  printTable(
    [by, "receipts", "USD"],
    rows.map(({ name, receipts }, at) => [name, receipts, amounts[at] ?? null]),
  );
}
