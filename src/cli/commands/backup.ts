import { invalid, Problem } from "../../base/problem.ts";
import { readSecretFile, SecretFileTrouble } from "../../base/secret-file.ts";
import { passphrase as readPassphrase } from "../../config/setting-readers.ts";
import type {
  BackupContentView,
  BackupProgress,
  BackupView,
  RestoreView,
  VerifiedView,
} from "../backup-wiring.ts";
import { type Command, type Invocation, jsonFlag } from "../command.ts";
import { agoText } from "../terminal/ago.ts";
import { interruptible } from "../terminal/interrupt.ts";
import { print, printHint, printJson, style } from "../terminal/output.ts";
import { ProgressLine } from "../terminal/progress-line.ts";
import { askSecret } from "../terminal/prompts.ts";

const passphraseFlags = {
  "passphrase-file": {
    about: "file with the passphrase (default: SVC_BACKUP_PASSPHRASE)",
    value: "FILE",
  },
} as const;

const backup: Command = {
  name: "backup",
  about:
    "Back up the SQLite database, also while the gateway serves. With a passphrase, the backup is encrypted and contains the master secret of the data directory.",
  positionals: ["FILE"],
  flags: {
    ...passphraseFlags,
    encrypt: { about: "ask for a passphrase on the terminal" },
    force: { about: "replace FILE if it exists" },
    keep: {
      about: "FILE is a directory: keep the newest N backups in it and remove older ones",
      value: "N",
    },
    ...jsonFlag,
  },
  examples: [
    "svc backup svc.svcbackup",
    "svc backup svc.svcbackup --passphrase-file /etc/svc/backup-passphrase",
    "svc backup /var/backups/svc --keep 14",
    "svc backup - --passphrase-file passphrase | ssh backup@host 'cat > svc.svcbackup'",
  ],
  run: (invocation) =>
    interruptible(async (signal) => {
      const { positionals, flags, switches, wiring } = invocation;
      const [file = ""] = positionals;
      const isPiped = file === "-";
      if (isPiped && process.stdout.isTTY === true)
        throw invalid({
          file: "file: a backup cannot be shown on a terminal. Send it to a file or a program.",
        });
      if (isPiped && switches.has("json"))
        throw invalid({ json: "json cannot be combined with FILE -, which prints the backup." });
      const passphrase = switches.has("encrypt")
        ? await askNew(signal)
        : givenPassphrase(invocation);
      const keep = readKeep(flags["keep"]);
      const force = switches.has("force");
      const view = await withProgress((onProgress) =>
        wiring.backup({ file, force, passphrase, keep, onProgress, signal }),
      );
      if (isPiped) return;
      if (switches.has("json")) printJson(view);
      else printBackup(view);
    }),
};

const verify: Command = {
  name: "backup verify",
  about:
    "Check a backup without restoring it: its checksums, its passphrase, and its database, which is unpacked into the directory for temporary files.",
  positionals: ["FILE"],
  flags: { ...passphraseFlags, ...jsonFlag },
  examples: ["svc backup verify svc.svcbackup", "svc backup verify svc.svcbackup --json"],
  run: (invocation) =>
    interruptible(async (signal) => {
      const { positionals, switches, wiring } = invocation;
      const [file = ""] = positionals;
      const passphrase = openingPassphrase(invocation, signal);
      const view = await withProgress((onProgress) =>
        wiring.verifyBackup({ file, passphrase, onProgress, signal }),
      );
      if (switches.has("json")) printJson(view);
      else printVerified(view);
    }),
};

const restore: Command = {
  name: "restore",
  about:
    "Restore a backup into a data directory without a database. The ledger is verified before the database gets its name.",
  positionals: ["FILE"],
  flags: {
    "data-dir": { about: "data directory (default: SVC_DATA_DIR)", value: "DIR" },
    ...passphraseFlags,
    trust: { about: "also restore a backup that does not show who wrote it" },
    "keep-schema": { about: "do not migrate: an older version of svc will use the database" },
    ...jsonFlag,
  },
  examples: [
    "svc restore svc.svcbackup",
    "svc restore svc.svcbackup --data-dir /var/lib/svc-restored",
    "svc restore - --passphrase-file passphrase < svc.svcbackup",
  ],
  run: (invocation) =>
    interruptible(async (signal) => {
      const { positionals, flags, switches, wiring } = invocation;
      const [file = ""] = positionals;
      const passphrase = openingPassphrase(invocation, signal);
      const trusts = switches.has("trust");
      const keepSchema = switches.has("keep-schema");
      const dataDir = flags["data-dir"];
      const view = await withProgress((onProgress) =>
        wiring.restore({ file, dataDir, trusts, keepSchema, passphrase, onProgress, signal }),
      );
      if (switches.has("json")) printJson(view);
      else printRestored(view);
    }),
};

export const backupCommands: readonly Command[] = [backup, verify, restore];

function readKeep(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text);
  throw invalid({ keep: "keep must be a number of backups, 1 or more." });
}

/** From a file or from the environment: never from the command line, which others can see. */
function givenPassphrase({ flags, wiring }: Invocation): string | undefined {
  const file = flags["passphrase-file"];
  if (file === undefined) return wiring.configuration().settings.backupPassphrase;
  try {
    return checked(readSecretFile(file).text, "passphrase_file");
  } catch (error) {
    if (!(error instanceof SecretFileTrouble)) throw error;
    throw invalid({ passphrase_file: `passphrase_file: ${file} ${error.message}.` });
  }
}

function checked(text: string, field: string): string {
  const read = readPassphrase(text);
  if (typeof read === "string") return read;
  throw invalid({ [field]: `${field} must contain ${read.expected}.` });
}

async function askNew(signal: AbortSignal): Promise<string> {
  if (process.stdin.isTTY !== true)
    throw invalid({
      encrypt: "encrypt needs a terminal. Use --passphrase-file or SVC_BACKUP_PASSPHRASE.",
    });
  const first = checked(await askSecret("Passphrase of the backup", signal), "passphrase");
  if ((await askSecret("The same again", signal)) === first) return first;
  throw invalid({ passphrase: "The two passphrases differ. Nothing was written." });
}

const openingPassphrase = (invocation: Invocation, signal: AbortSignal) => async () => {
  const given = givenPassphrase(invocation);
  if (given !== undefined) return given;
  if (process.stdin.isTTY === true) return askSecret("Passphrase of the backup", signal);
  throw new Problem({
    code: "invalid",
    field: "passphrase_file",
    message: "The backup is encrypted. Set SVC_BACKUP_PASSPHRASE or --passphrase-file.",
  });
};

const stepWords: Readonly<Record<BackupProgress["step"], string>> = {
  copy: "copying the database",
  write: "writing the backup",
  read: "reading the backup",
  check: "checking the database",
  verify: "verifying the ledger",
};

async function withProgress<T>(
  work: (onProgress: (progress: BackupProgress) => void) => Promise<T>,
): Promise<T> {
  const line = new ProgressLine();
  const isLive = process.stderr.isTTY === true;
  const onProgress = ({ step, doneBytes, totalBytes }: BackupProgress) => {
    if (!isLive) return;
    const percent = totalBytes === 0 ? 100 : Math.floor((doneBytes * 100) / totalBytes);
    line.show(`${stepWords[step]} ${percent}% of ${sizeText(totalBytes)}`);
  };
  return work(onProgress).finally(() => line.clear());
}

const toCount = (count: number, word: string) =>
  `${count.toLocaleString("en-US")} ${word}${count === 1 ? "" : "s"}`;

const sizeText = (bytes: number) =>
  bytes < 1_000_000
    ? `${Math.ceil(bytes / 1_000).toLocaleString("en-US")} kB`
    : `${Math.ceil(bytes / 1_000_000).toLocaleString("en-US")} MB`;

const contentText = ({ receipts, accounts, created_at }: BackupContentView) =>
  `${toCount(receipts, "receipt")}, ${toCount(accounts, "account")}, as of ${created_at}`;

function printBackup(view: BackupView): void {
  print(`${style.green("backed up")} ${view.file} (${sizeText(view.bytes)})`);
  print(contentText(view));
  print(`${style.dim("sha256:")} ${view.sha256}`);
  for (const path of view.removed) print(`${style.dim("removed:")} ${path}`);
  if (view.has_secret) {
    print("It is encrypted and contains the master secret. Keep the passphrase elsewhere.");
    return;
  }
  const encrypted = view.encrypted ? "It is encrypted." : "It is not encrypted.";
  print(
    `${encrypted} It does not contain the master secret: keep that apart (fingerprint ${view.secret_fingerprint}), because no stored key works without it.`,
  );
}

function printVerified(view: VerifiedView): void {
  print(`${style.green("ok")}  ${contentText(view)}`);
  print(
    `Written by svc ${view.version}; ${view.encrypted ? "encrypted" : "not encrypted"}; ${view.has_secret ? "contains the master secret" : "without the master secret"} (fingerprint ${view.secret_fingerprint}).`,
  );
}

function printRestored(view: RestoreView): void {
  for (const path of view.leftovers)
    print(`${style.dim("removed, left by an interrupted restore:")} ${path}`);
  print(`${style.green("restored")} ${view.database}`);
  print(`${contentText(view)} (${agoText(view.created_at, Date.now())})`);
  for (const name of view.migrated) print(`${style.green("applied")} ${name}`);
  if (view.ledger_problems === null)
    printHint(
      `The schema is the one of svc ${view.version}, which must verify the ledger: svc ledger verify`,
    );
  else if (view.ledger_problems === 0) print("The ledger is verified.");
  else
    printHint(
      style.yellow(
        `The ledger has ${toCount(view.ledger_problems, "problem")}, as it had when the backup was written: svc ledger verify`,
      ),
    );
  if (view.secret === "backup") print("The master secret is restored, too.");
  if (view.setting !== null)
    print(`The gateway must run with the same ${view.setting}: this secret opens the database.`);
  print(
    "What happened after the backup is not in it: balances are as they were, and keys that were revoked since then work again.",
  );
  if (view.ended_access)
    printHint(
      "Nothing shows who wrote the backup, so all sessions, links and platform tokens are ended, and operators cannot sign in. Create a link for each: svc operator reset EMAIL",
    );
  if (view.paused_exports.length > 0)
    printHint(
      `Exports are paused, so that two gateways cannot write the same files: ${view.paused_exports.join(", ")}. Start them with svc exports resume NAME.`,
    );
  print("Never run the original as well: both would spend the same money.");
}
