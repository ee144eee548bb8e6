/** What the preloads of the bench change in the gateway; each edit must fit, or the process ends. */
import { benchModule, type SourceEdit } from "./source-edits.ts";

const freeCall = benchModule("free-call.ts");
const gateway = "src/gateway/pipeline.ts";
const chatMoney = "src/gateway/endpoints/chat/chat-money.ts";

/** Told in `without-money.ts`. */
export const moneyEdits: readonly SourceEdit[] = [
  {
    path: gateway,
    find: 'import { admit, enter } from "./admit.ts";',
    replace: `import { admit, enter, noPurse } from ${freeCall};`,
  },
  { path: gateway, find: "purses.find(key.accountId)", replace: "noPurse" },
  { path: "src/gateway/exchange.ts", find: "    this.#addLimits(headers);\n", replace: "" },
  {
    path: chatMoney,
    find: "export function chatNeed(",
    replace: `export { chatNeed, measured } from ${freeCall};\nfunction paidNeed(`,
  },
  { path: chatMoney, find: "export function measured(", replace: "function paidMeasured(" },
];

/** Told in `watched-sync.ts` and `watched-sums.ts`. */
export const watchEdits: readonly SourceEdit[] = [
  {
    path: "src/store/sqlite/ledger/wal-sync.ts",
    find: 'import { closeSync, fdatasync, openSync } from "node:fs";',
    replace: `import { closeSync, openSync } from "node:fs";
import { fdatasync } from ${benchModule("watched-sync.ts")};`,
  },
  {
    path: "src/app/ledger.ts",
    find: 'import { Rollups } from "./ledger/rollups.ts";',
    replace: `import { Rollups } from "./ledger/rollups.ts";
import { watchedSums } from ${benchModule("watched-sums.ts")};`,
  },
  {
    path: "src/app/ledger.ts",
    find: "new Rollups(ledger.rollups,",
    replace: "new Rollups(watchedSums(ledger.rollups),",
  },
];
