import type { Trial } from "../call/trial.ts";
import type { ProviderEntry, StoredOption, StoredSecret } from "../catalog/model.ts";
import { hasPublicList } from "../catalog/model-lists.ts";
import { quirksOf } from "../catalog/vendors.ts";
import { isCommand } from "../config/key-commands.ts";
import type { Configuration } from "../config/load.ts";
import { proxyCheck } from "../config/proxy.ts";
import { referenceProblem } from "../config/references.ts";
import { isSecretOption, optionPlace } from "../manifest/provider-entry.ts";
import type { TrialView } from "../platform/providers/schemas.ts";
import type { Upstreams } from "../platform/providers/views.ts";
import { vendorOf } from "../platform/providers/views.ts";
import { Connection, trialLimits } from "../providers/connection.ts";
import type { ProviderSettings } from "../providers/registry.ts";
import { runTrial } from "../providers/trial.ts";
import type { ProbedTarget } from "../router/router.ts";
import type { Secrets } from "../secrets/secrets.ts";

export interface UpstreamsOptions {
  readonly configuration: Pick<Configuration, "variable" | "environment" | "commands">;
  readonly secrets: Secrets;
}

/** Calls providers, active or not yet, each with settings of its own. */
export function createUpstreams(options: UpstreamsOptions): Upstreams {
  return {
    async offer(entry, isNew) {
      const connection = await connect(options, { entry, isNew });
      try {
        return { models: await connection.offered() };
      } catch (error) {
        const problem = connection.explain(error);
        // Vendors list their models; a self-hosted server may not.
        const isWithout = Connection.hasNoList(error) && vendorOf(entry) === undefined;
        return { problem: isWithout ? { ...problem, trouble: "no_list" } : problem };
      }
    },
    async check(entry, trial) {
      const connection = await connect(options, { entry, isNew: true });
      const vendor = vendorOf(entry)?.id;
      const isListOpen = hasPublicList(vendor);
      const found = await connection.check(trial, isListOpen);
      if (typeof found !== "string")
        return found.isUnlisted && vendor === undefined
          ? { verdict: "untested" }
          : { verdict: "failed", problem: found.problem };
      if (found === "untested" || trial !== undefined || !isListOpen) return { verdict: found };
      // Anybody gets the list: only a call shows whether the key is accepted.
      const offered = (await connection.offered().catch(() => undefined)) ?? [];
      const model = (offered.find(({ id }) => id.endsWith(":free")) ?? offered[0])?.id;
      if (model === undefined) return { verdict: "untested" };
      const called = await connection.check({ kind: "chat", model }, isListOpen);
      if (typeof called === "string") return { verdict: called };
      const isKey = ["bad_key", "unsendable_key"].includes(called.problem.trouble);
      return isKey ? { verdict: "failed", problem: called.problem } : { verdict: "untested" };
    },
    async tryOut(entry, trials) {
      const connection = await connect(options, { entry, isNew: false });
      if (trials.length === 0) return [{ ...(await connection.list()), ...plainView }];
      const views: TrialView[] = [];
      // One after another: some vendors let a new key do one thing at a time.
      for (const trial of trials) views.push({ ...(await connection.tryOut(trial)), ...plainView });
      return views;
    },
  };
}

const plainView = { key: null, unlisted: [] };

async function connect(
  { configuration: { variable, environment, commands }, secrets }: UpstreamsOptions,
  { entry, isNew }: { readonly entry: ProviderEntry; readonly isNew: boolean },
): Promise<Connection> {
  const references = secretsOf(entry).flatMap((one) => ("variable" in one ? [one.variable] : []));
  await commands.refresh(references, { retries: true });
  const settings = openSettings({ entry, secrets, variable });
  const { kind, apiKey = "" } = settings;
  const secretOptions = Object.entries(settings.options).filter(([name]) =>
    isSecretOption(kind, name),
  );
  return new Connection({
    settings,
    missing: references
      .filter((name) => (variable(name) ?? "") === "")
      .map((name) => missingText(name, commands))[0],
    secretValues: [apiKey, ...secretOptions.map(([, value]) => value)],
    circumstances: {
      keyVariable: keyVariable(entry),
      isNew,
      isUsualAddress: isUsualAddress(entry),
      file: entry.origin?.file,
    },
    usesProxy: proxyCheck(environment),
    proxyVariable: (url) => {
      const name = url.protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY";
      const lower = name.toLowerCase();
      return (environment[lower] ?? "") === "" ? name : lower;
    },
  });
}

/** The smallest call that a target serves, at the operator's cost: rejects where it does not work. */
export function probeTarget({ provider, route, model }: ProbedTarget): Promise<string> {
  const { endpoint, input } = model;
  const kind = endpoint !== "embeddings" ? endpoint : input === "media" ? "media" : "embeddings";
  const trial: Trial = { kind, model: route.model, voices: route.voices };
  return runTrial(provider, trial, trialLimits);
}

/** The settings of a provider, its secrets opened. */
export function openSettings(options: {
  readonly entry: ProviderEntry;
  readonly secrets: Secrets;
  readonly variable: Configuration["variable"];
}): ProviderSettings {
  const { entry, secrets, variable } = options;
  const { name, kind, baseUrl, apiKey, allowPrivate, options: stored = {} } = entry;
  const read = (one: StoredOption, place: string) =>
    "text" in one
      ? one.text
      : "variable" in one
        ? // A pasted variable often ends with a space or a line end.
          (variable(one.variable) ?? "").trim()
        : secrets.open(one.sealed, place);
  const texts = Object.fromEntries(
    Object.entries(stored).map(([key, one]) => [key, read(one, optionPlace(name, key))]),
  );
  const key = apiKey && read(apiKey, `provider:${name}`);
  const known = quirksOf(texts["vendor"], baseUrl);
  const told = texts["responses"];
  const quirks = told === undefined ? known : { ...known, hasResponses: told === "true" };
  return { name, kind, baseUrl, apiKey: key, allowPrivate, options: texts, quirks };
}

function missingText(reference: string, commands: Configuration["commands"]) {
  const problem = referenceProblem(reference, commands);
  if (problem === undefined)
    return {
      what: `${reference} is not set in the gateway's environment.`,
      advice: "Set it in the environment of svc serve and restart the gateway.",
    };
  const advice = isCommand(reference)
    ? "Run it as the gateway's user to see why. It is tried again every 30 seconds."
    : "Fix the file on the gateway's machine. No restart is needed.";
  return { what: `${problem}.`, advice };
}

const isSecret = (one: StoredOption): one is StoredSecret => !("text" in one);

const secretsOf = ({ apiKey, options = {} }: ProviderEntry): readonly StoredSecret[] =>
  [...(apiKey === undefined ? [] : [apiKey]), ...Object.values(options)].filter(isSecret);

function keyVariable(entry: ProviderEntry): string | null | undefined {
  const [first] = secretsOf(entry);
  if (first === undefined) return undefined;
  return "variable" in first ? first.variable : null;
}

/** An address that the vendor or the kind has brought along. */
function isUsualAddress(entry: ProviderEntry): boolean {
  return entry.baseUrl === "" || vendorOf(entry)?.baseUrl === entry.baseUrl;
}
