import { startCommand } from "../../base/place.ts";
import { ownGatewayUrl } from "../../config/addresses.ts";
import type { ManifestDraft } from "../../manifest/draft.ts";
import type { AddedView } from "../../platform/manifest/change.ts";
import { curlText } from "../call/curl-line.ts";
import type { Wiring } from "../command.ts";
import { printWarnings } from "../commands/manifest.ts";
import { print, printHint, style } from "../terminal/output.ts";
import type { Connection, PresetFate } from "./plan.ts";
import { notListed } from "./show.ts";

export interface LeftOut {
  readonly provider: string;
  readonly reason: string;
}

export interface Planned extends PresetFate {
  readonly draft: ManifestDraft;
  /** The preset's own text with its comments, if nothing else is added. */
  readonly presetText: string | undefined;
  readonly connections: readonly Connection[];
  readonly leftOut: readonly LeftOut[];
  /** Those that are connected, but did not list their models. */
  readonly unlisted: readonly LeftOut[];
}

export interface Outcome extends Planned {
  readonly view: AddedView;
  readonly dryRun: boolean;
}

/** Prints the result, warnings and next steps. */
export async function printNext(outcome: Outcome, wiring: Wiring): Promise<void> {
  const { view, leftOut, dryRun } = outcome;
  const { added, warnings } = view;
  print();
  for (const { provider, reason } of leftOut)
    print(`${style.yellow("!")} Skipped ${provider}: ${reason}`);
  for (const { provider, reason } of outcome.unlisted)
    print(`${style.yellow("!")} ${notListed(provider)}: ${reason}`);
  const { moved, stays, waits } = outcome;
  if (moved.length > 0)
    print(
      `${style.yellow("!")} ${moved.join(", ")}: moved from the embedded models to the preset's providers and prices. See docs/engine.md to undo this.`,
    );
  for (const [text, ids] of Map.groupBy(waits, ({ variables }) => variables.join(", ")))
    printHint(
      `${style.yellow("!")} ${ids.map(({ id }) => id).join(", ")}: still served by the embedded models, because ${text} ${text.includes(",") ? "are" : "is"} not set. Set ${text.includes(",") ? "them" : "it"}, then run svc init --preset again.`,
    );
  if (stays.length > 0)
    printHint(
      `${style.yellow("!")} ${stays.join(", ")}: unchanged, because other routes exist. Add the preset's targets with svc model route add.`,
    );
  if (added.length === 0) return print("Nothing to add. Everything exists already.");
  printWarnings(warnings);
  const counts = (["provider", "model", "route"] as const).flatMap((kind) => {
    const number = added.filter((one) => one.kind === kind).length;
    return number === 0 ? [] : [`${number} ${kind}${number === 1 ? "" : "s"}`];
  });
  if (dryRun) return print(`${counts.join(", ")} to add. Nothing was changed (--dry-run).`);
  print(`${style.green("added")} ${counts.join(", ")}`);
  await printSteps(outcome, wiring);
}

async function printSteps(
  { connections, view: { added } }: Outcome,
  wiring: Wiring,
): Promise<void> {
  const { settings } = wiring.configuration();
  const running = await wiring
    .withOperations((operations) => operations.gateway.show({}))
    .then(({ base_url }) => base_url)
    .catch(() => undefined);
  const names = added.flatMap(({ kind, name }) => (kind === "provider" ? [name] : []));
  const tested = [...new Set([...names, ...connections.map(({ found }) => found.name)])];
  print(`\n${style.bold("Next")}\n`);
  if (running === undefined) printHint(`  ${style.cyan(startCommand)}  starts the gateway`);
  for (const name of tested.slice(0, 3))
    printHint(`  ${style.cyan(`svc provider test ${name}`)}  makes one real call of each type`);
  const models = await wiring.withOperations((operations) => operations.models.list({}));
  const chat = models.find(
    ({ id, endpoint, served }) =>
      served &&
      endpoint === "chat" &&
      added.some(({ kind, name }) => kind === "model" && name === id),
  );
  if (chat === undefined) return printHint(`  ${style.cyan("svc model list")}  shows the models`);
  const base = running ?? `${ownGatewayUrl(settings, settings.port)}/v1`;
  const body = JSON.stringify({
    model: chat.id,
    messages: [{ role: "user", content: "Hello" }],
    stream: true,
  });
  print();
  const lines = curlText([{ url: `${base}/chat/completions`, body: [body], isStream: true }]);
  for (const line of lines.trimEnd().split("\n")) print(`  ${line}`);
}
