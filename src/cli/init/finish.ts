import type { Edited } from "../../manifest/edit.ts";
import type { ApplyView } from "../../platform/manifest/operations.ts";
import { curlText } from "../call/curl-line.ts";
import type { Wiring } from "../command.ts";
import type { ManifestFile, PutView } from "../commands/manifest-file.ts";
import { warningLines } from "../commands/manifest-file.ts";
import { print, style } from "../terminal/output.ts";
import type { Connection, PresetFate } from "./plan.ts";
import { notListed } from "./show.ts";

export interface LeftOut {
  readonly provider: string;
  readonly reason: string;
}

export interface Planned extends PresetFate {
  readonly edited: Edited;
  readonly connections: readonly Connection[];
  readonly leftOut: readonly LeftOut[];
  /** Those that are written, but did not tell their models. */
  readonly unlisted: readonly LeftOut[];
}

/** The file that is to be written. */
export interface Goal {
  readonly file: ManifestFile;
  /** The one that this gateway reads. */
  readonly isOwn: boolean;
  /** Its old text is not kept. */
  readonly isReplaced: boolean;
}

export interface Outcome extends Planned {
  readonly goal: Goal;
}

export interface Written {
  readonly isWritten: boolean;
  /** Undefined: it is not the file that this gateway reads. */
  readonly applied: (ApplyView & Partial<PutView>) | undefined;
}

/** What was done, what is still missing, and what to do next. */
export async function printNext(options: {
  readonly outcome: Outcome;
  readonly written: Written;
  readonly wiring: Wiring;
}): Promise<void> {
  const { outcome, written, wiring } = options;
  const { goal, edited, leftOut } = outcome;
  const { path } = goal.file;
  const { isWritten, applied } = written;
  print();
  for (const { provider, reason } of leftOut)
    print(`${style.yellow("!")} ${provider} was left out: ${reason}`);
  if (!isWritten) return print(`Nothing to add: ${path} has it all already.`);
  const counts = ["provider", "model", "route"].flatMap((kind) => {
    const number = edited.added.filter((one) => one.startsWith(`${kind} `)).length;
    return number === 0 ? [] : [`${number} ${kind}${number === 1 ? "" : "s"}`];
  });
  print(`${style.green("wrote")} ${path}${counts.length === 0 ? "" : `: ${counts.join(", ")}`}`);
  for (const { provider, reason } of outcome.unlisted)
    print(`${style.yellow("!")} ${notListed(provider)}: ${reason}`);
  if (applied !== undefined) for (const line of warningLines(applied)) print(line);
  const { moved, stays } = outcome;
  if (moved.length > 0 && applied !== undefined)
    print(
      `${style.yellow("!")} ${moved.join(", ")}: served by the embedded models until now, by the preset's providers and at its prices from now on. docs/engine.md tells the way back.`,
    );
  if (stays.length > 0)
    print(
      `${style.yellow("!")} ${stays.join(", ")}: in the file already, with other routes, and left as they are. Take them out of the file and run this again to have the preset's.`,
    );
  if (applied === undefined)
    return print(
      `\nThis gateway reads another file. To put this one in force: ./svc apply ${path}`,
    );
  await printSteps(outcome, wiring);
}

async function printSteps({ connections, edited }: Outcome, wiring: Wiring): Promise<void> {
  const { settings } = wiring.configuration();
  const running = await wiring
    .withOperations((operations) => operations.gateway.show({}))
    .then(({ base_url }) => base_url)
    .catch(() => undefined);
  const names = edited.added.flatMap((one) =>
    one.startsWith("provider ") ? [one.slice("provider ".length)] : [],
  );
  const tested = [...new Set([...names, ...connections.map(({ found }) => found.name)])];
  print(`\n${style.bold("Next")}\n`);
  if (running === undefined) print(`  ${style.cyan("npm start")}  starts the gateway`);
  for (const name of tested.slice(0, 3))
    print(`  ${style.cyan(`./svc provider test ${name}`)}  makes a real call of each kind`);
  const models = await wiring.withOperations((operations) => operations.models.list({}));
  const added = new Set(edited.added);
  const chat = models.find(
    ({ id, endpoint, served }) => served && endpoint === "chat" && added.has(`model ${id}`),
  );
  if (chat === undefined) return print(`  ${style.cyan("./svc model list")}  shows what is served`);
  const base = running ?? `http://${settings.host}:${settings.port}/v1`;
  const body = JSON.stringify({
    model: chat.id,
    messages: [{ role: "user", content: "Hello" }],
    stream: true,
  });
  print();
  const lines = curlText([{ url: `${base}/chat/completions`, body: [body], isStream: true }]);
  for (const line of lines.trimEnd().split("\n")) print(`  ${line}`);
}
