import type { Configuration } from "../config/load.ts";
import type { Operations } from "../platform/operations.ts";
import type { ModelView } from "../platform/views.ts";
import { printApply } from "./commands.ts";
import { print, style } from "./output.ts";

export interface ServingOptions {
  readonly server: {
    readonly gatewayUrl: string;
    readonly platformUrl: string;
    readonly operations: Operations;
    readonly applied: Parameters<typeof printApply>[0] | undefined;
  };
  readonly configuration: Configuration;
  readonly version: string;
}

/** The first screen. Listeners are bound by now: what it says works. */
export async function printServing({
  server,
  configuration,
  version,
}: ServingOptions): Promise<void> {
  const { operations, applied, gatewayUrl, platformUrl } = server;
  const { settings, file } = configuration;
  if (applied !== undefined && file !== undefined) {
    print(style.dim(file.path));
    printApply(applied, false);
    print();
  }
  const models = (await operations.listModels({})).filter(({ served }) => served);
  print(`${style.bold("svc gateway")} ${version}\n`);
  print(`  gateway   ${style.cyan(`${gatewayUrl}/v1`)}`);
  print(`  platform  ${style.cyan(platformUrl)}`);
  print(`  data      ${settings.dataDir}`);
  print(
    `  models    ${models.length === 0 ? style.yellow("none yet") : models.map(({ id }) => id).join(", ")}`,
  );
  if (models.length === 0)
    print(
      `\n  Connect an upstream: declare a provider and a model in svc.yaml (see README), then start again or run ./svc apply svc.yaml`,
    );
  const key = settings.firstKey === "on" ? await makeFirstKey(operations) : undefined;
  if (key === undefined && settings.firstKey === "off")
    print(`\n  A key: ./svc account create NAME, then ./svc key create --account NAME`);
  if (key !== undefined) {
    print(`\n  Your API key, shown this once:\n\n    ${style.bold(key)}\n`);
    print(`  Try it:\n\n    ${tryCommand({ url: gatewayUrl, key, models })}`);
  }
  print();
}

/** Only on the very first start, when nobody has made an account yet. */
async function makeFirstKey(operations: Operations): Promise<string | undefined> {
  if ((await operations.listAccounts({})).length > 0) return undefined;
  const account = await operations.createAccount({ name: "default" });
  const { key } = await operations.createKey({ account: account.id, name: "first" });
  return key;
}

function tryCommand({
  url,
  key,
  models,
}: {
  readonly url: string;
  readonly key: string;
  readonly models: readonly ModelView[];
}): string {
  const chat = models.find(({ endpoint }) => endpoint === "chat");
  if (chat === undefined) return `curl ${url}/v1/models -H "Authorization: Bearer ${key}"`;
  const body = JSON.stringify({
    model: chat.id,
    messages: [{ role: "user", content: "Hello" }],
    stream: true,
  });
  return `curl -N ${url}/v1/chat/completions -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" -d '${body}'`;
}
