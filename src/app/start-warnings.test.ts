import { expect, test } from "bun:test";
import { openOperations } from "../../test/setup/operations-home.ts";
import { createLog, type LogRecord } from "../base/log.ts";
import { readSettings } from "../config/settings.ts";
import { warnOfMissingAccounts } from "./start-warnings.ts";

test("a database that fails when the accounts are checked is logged, and ends no start", async () => {
  const home = await openOperations();
  const records: LogRecord[] = [];
  const log = createLog({
    level: "info",
    pretty: false,
    write() {},
    onRecord: (record) => void records.push(record),
  });
  const { settings } = readSettings({
    environment: { SVC_OIDC_ROLES: "ml=research:developer" },
    file: {},
    references: new Set(),
  });
  await home.remove();
  await warnOfMissingAccounts(settings, log, home.operations);
  expect(records).toMatchObject([
    { level: "error", message: "cannot check the accounts of SVC_OIDC_ROLES" },
  ]);
});
