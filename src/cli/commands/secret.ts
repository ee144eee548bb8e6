import { basename } from "node:path";
import { invalid } from "../../base/problem.ts";
import { readSecretFile, SecretFileTrouble } from "../../base/secret-file.ts";
import type { RotatedView, SecretStatusView } from "../../platform/secrets/operations.ts";
import { type Command, type Invocation, jsonFlag, viewCommand } from "../command.ts";
import { print, printHint, printJson, printTable, style } from "../terminal/output.ts";

const status = viewCommand({
  name: "secret status",
  about: "Show where the master secret is and which secrets open the database, by fingerprint.",
  examples: ["svc secret status", "svc secret status --json"],
  load: (operations) => operations.secrets.status({}),
  show: printStatus,
});

const rotate: Command = {
  name: "secret rotate",
  about:
    "Replace the master secret. API keys, vendor keys and sessions keep working, because the data keys stay the same and are only wrapped again.",
  flags: {
    "secret-file": {
      about: 'take the new secret from FILE, or from standard input with "-" (default: create one)',
      value: "FILE",
    },
    finish: { about: "end a rotation: only the new secret opens the database from then on" },
    cancel: { about: "undo a rotation that is not finished" },
    force: { about: "with --finish: although nodes were not restarted since the rotation" },
    ...jsonFlag,
  },
  examples: [
    "svc secret rotate",
    "svc secret rotate --secret-file /run/secrets/svc-next",
    "svc secret rotate --secret-file - < /run/secrets/svc-next",
    "svc secret rotate --finish",
  ],
  async run(invocation) {
    const { switches, wiring } = invocation;
    const asked = ["finish", "cancel"].filter((name) => switches.has(name));
    if (switches.has("force") && !switches.has("finish"))
      throw invalid({ force: "force needs --finish." });
    if (asked.length > 1 || (asked.length > 0 && invocation.flags["secret-file"] !== undefined))
      throw invalid({ finish: "Use only one of --secret-file, --finish and --cancel." });
    if (asked.length > 0) {
      const view = await wiring.withOperations(({ secrets }) =>
        switches.has("finish")
          ? secrets.finish({ force: switches.has("force") })
          : secrets.cancel({}),
      );
      return switches.has("json") ? printJson(view) : printStatus(view);
    }
    const secret = await givenSecret(invocation);
    const view = await wiring.withOperations(({ secrets }) =>
      secrets.rotate(secret === undefined ? {} : { secret }),
    );
    if (switches.has("json")) printJson(view);
    else printRotated(view);
  },
};

export const secretCommands: readonly Command[] = [status, rotate];

/** Never from the command line, which other users of the machine can see. */
async function givenSecret({ flags }: Invocation): Promise<string | undefined> {
  const file = flags["secret-file"];
  if (file === undefined) return undefined;
  if (file === "-") return readStandardInput();
  try {
    return readSecretFile(file).text;
  } catch (error) {
    if (!(error instanceof SecretFileTrouble)) throw error;
    throw invalid({ secret_file: `secret_file: ${file} ${error.message}.` });
  }
}

const mostCharacters = 64 * 1024;

async function readStandardInput(): Promise<string> {
  if (process.stdin.isTTY === true)
    throw invalid({
      secret_file: "secret_file: - reads a secret from a pipe or a file, not a terminal.",
    });
  let text = "";
  const decoder = new TextDecoder();
  for await (const piece of Bun.stdin.stream()) {
    text += decoder.decode(piece, { stream: true });
    if (text.length > mostCharacters)
      throw invalid({ secret_file: "secret_file: standard input is larger than 64 KiB." });
  }
  return text;
}

function printStatus(view: SecretStatusView): void {
  print(`${style.dim("secret:")} ${view.source}${view.path === null ? "" : `, ${view.path}`}`);
  print(`${style.dim("fingerprint:")} ${view.fingerprint}\n`);
  printTable(
    ["fingerprint", "wrapped", "state"],
    view.wrappings.map((one) => [
      one.fingerprint,
      one.wrapped_at,
      `${one.is_current ? "current" : "previous, still accepted"}${one.is_ours ? "; used here" : ""}`,
    ]),
  );
  print(`\n${style.dim("data keys:")}`);
  printTable(
    ["purpose", "created"],
    view.data_keys.map(({ purpose, created_at }) => [purpose, created_at]),
  );
  // During a rotation, the new secret may be in such a file, too.
  const kept = view.kept.filter((name) => view.wrappings.every((one) => one.fingerprint !== name));
  if (view.kept.includes(view.fingerprint))
    print(
      `\nsecret.${view.fingerprint} in the data directory has the secret that is used here. Keep it until no setting, link or unit names it and you have a copy elsewhere; then you can delete it.`,
    );
  if (kept.length > 0)
    print(
      `\nKept for backups from their time: ${kept.map((one) => `secret.${one}`).join(", ")} in the data directory.`,
    );
  if (!view.is_finished)
    printHint(
      "\nA rotation is not finished. Give every process the new secret, restart it, and run: svc secret rotate --finish",
    );
}

function printRotated(view: RotatedView): void {
  print(
    `${style.green("rotated")} the master secret: ${view.previous} is replaced by ${view.fingerprint}`,
  );
  if (view.previous_file !== null)
    print(
      `The previous secret is in ${view.previous_file}: backups from before need it. Move it to where they are.`,
    );
  if (view.is_finished) return print("The running gateway goes on with the same data keys.");
  print("Both secrets open the database until the rotation is finished. Next:");
  for (const [at, step] of nextSteps(view).entries()) print(`  ${at + 1}. ${step}`);
}

function nextSteps(view: RotatedView): readonly string[] {
  const from = view.secret_file === null ? "the new secret" : `the text in ${view.secret_file}`;
  const others = view.is_shared ? " on every machine" : "";
  const path = view.path ?? "the file";
  const replace = {
    variable: `Set SVC_SECRET to ${from}${others}.`,
    file: `Replace the content of ${path} with ${from}${others}.`,
    credential: `Replace the content of the file that LoadCredential=${basename(path)} names in the systemd unit with ${from}${others}. ${path} is only a copy of it, which systemd creates at each start.`,
    link: `Replace the content of the file that the link ${path} leads to with ${from}${others}.`,
    "data directory": `This machine has the new secret. Put ${from} into the file secret of every other machine.`,
  }[view.carrier];
  const keep =
    "Keep a copy of the previous secret as long as you keep backups from before: they need it, and svc does not keep it.";
  return [
    ...(view.carrier === "data directory" ? [] : [keep]),
    replace,
    `Restart every process${others}.`,
    "svc secret rotate --finish",
  ];
}
