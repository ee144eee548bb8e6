import { ApiError } from "./base/errors.ts";
import { Problem } from "./base/problem.ts";
import type { Trial } from "./call/trial.ts";
import type { ProviderEntry, StoredOption, StoredSecret } from "./catalog/model.ts";
import { quirksOf } from "./catalog/vendors.ts";
import type { Configuration } from "./config/load.ts";
import { proxyCheck } from "./config/proxy.ts";
import { isSecretOption, optionPlace } from "./manifest/plan.ts";
import type { TrialView, TroubleView, Upstreams } from "./platform/provider-operations.ts";
import type { Provider } from "./providers/contract.ts";
import { type Circumstances, diagnose } from "./providers/diagnosis.ts";
import { ProviderRegistry, type ProviderSettings } from "./providers/registry.ts";
import { listOffered, runTrial, type TrialLimits } from "./providers/trial.ts";
import type { Secrets } from "./secrets/secrets.ts";

export interface ConnectOptions {
  readonly configuration: Pick<Configuration, "variable" | "environment">;
  readonly secrets: Secrets;
}

const listLimits: TrialLimits = { lookMs: 3_000, withinMs: 20_000 };
/** A server on this machine may have to load its model first; five calls stay within five minutes. */
const trialLimits: TrialLimits = { lookMs: 3_000, withinMs: 55_000 };

/** Calls providers that are in force, or not yet, each with settings of its own. */
export function createUpstreams({ configuration, secrets }: ConnectOptions): Upstreams {
  const { variable, environment } = configuration;
  const usesProxy = proxyCheck(environment);
  const registry = new ProviderRegistry({ usesProxy });
  const open = (entry: ProviderEntry) =>
    new Connection({ entry, secrets, variable, registry, usesProxy });
  return {
    async offer(entry) {
      const connection = open(entry);
      try {
        return { models: await listOffered(connection.provider(), listLimits) };
      } catch (error) {
        return { problem: connection.explain(error) };
      }
    },
    async tryOut(entry, trials) {
      const connection = open(entry);
      if (trials.length === 0) return [await connection.list()];
      const views: TrialView[] = [];
      // One after another: some vendors let a new key do one thing at a time.
      for (const trial of trials) views.push(await connection.tryOut(trial));
      return views;
    },
  };
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
        ? // A variable that was pasted often has a blank or a line's end behind it.
          (variable(one.variable) ?? "").trim()
        : secrets.open(one.sealed, place);
  const texts = Object.fromEntries(
    Object.entries(stored).map(([key, one]) => [key, read(one, optionPlace(name, key))]),
  );
  const key = apiKey && read(apiKey, `provider:${name}`);
  const quirks = quirksOf(texts["vendor"], baseUrl);
  return { name, kind, baseUrl, apiKey: key, allowPrivate, options: texts, quirks };
}

interface ConnectionOptions {
  readonly entry: ProviderEntry;
  readonly secrets: Secrets;
  readonly variable: Configuration["variable"];
  readonly registry: ProviderRegistry;
  readonly usesProxy: (url: URL) => boolean;
}

class Connection {
  readonly #options: ConnectionOptions;
  readonly #settings: ProviderSettings;
  #built: Provider | undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#settings = openSettings(options);
  }

  provider(): Provider {
    const { entry, variable, registry } = this.#options;
    const lacking = secretsOf(entry)
      .flatMap((one) => ("variable" in one ? [one.variable] : []))
      .find((name) => (variable(name) ?? "") === "");
    if (lacking !== undefined) throw new NotSet(lacking);
    return (this.#built ??= registry.build(this.#settings));
  }

  async tryOut(trial: Trial): Promise<TrialView> {
    const { kind, model } = trial;
    const view = await this.#timed(() => runTrial(this.provider(), trial, trialLimits), model);
    return { kind, model, ...view };
  }

  async list(): Promise<TrialView> {
    const view = await this.#timed(async () => {
      const models = await listOffered(this.provider(), listLimits);
      if (models !== undefined) return `${models.length} offered`;
      throw new Problem(
        "failed",
        "It has no route yet and cannot list its models: name one with --model.",
      );
    });
    return { kind: "models", model: null, ...view };
  }

  async #timed(
    work: () => Promise<string>,
    model?: string,
  ): Promise<Pick<TrialView, "ok" | "duration_ms" | "result" | "problem">> {
    const startMs = performance.now();
    const durationMs = () => Math.round(performance.now() - startMs);
    try {
      const result = this.#clean(await work());
      return { ok: true, duration_ms: durationMs(), result, problem: null };
    } catch (error) {
      const duration = durationMs();
      const problem = this.explain(error, { model, offered: await this.#offered(error, model) });
      return { ok: false, duration_ms: duration, result: null, problem };
    }
  }

  /** What is not found may be the model or the path: a list of the models tells. */
  async #offered(error: unknown, model: string | undefined): Promise<Circumstances["offered"]> {
    const isMissing = error instanceof ApiError && error.upstream?.reason === "missing";
    if (!isMissing || model === undefined) return undefined;
    try {
      return (await listOffered(this.provider(), listLimits))?.map(({ id }) => id);
    } catch {
      return null;
    }
  }

  explain(error: unknown, more: Pick<Circumstances, "model" | "offered"> = {}): TroubleView {
    const { entry, usesProxy } = this.#options;
    const { trouble, what, advice } =
      error instanceof NotSet
        ? {
            trouble: "bad_key",
            what: `${error.variable} is not set where the gateway runs.`,
            advice:
              "Set it there (in .env, or the environment of svc serve) and restart the gateway.",
          }
        : error instanceof Problem
          ? { trouble: "failed", what: error.message, advice: "" }
          : diagnose(error, {
              provider: entry.name,
              baseUrl: entry.baseUrl,
              keyVariable: keyVariable(entry),
              proxyVariable: proxyVariable(entry.baseUrl, usesProxy),
              ...more,
            });
    return { trouble, what: this.#clean(what), advice: this.#clean(advice) };
  }

  /** An upstream may echo a key where only a word of code is expected. */
  #clean(text: string): string {
    const { kind, apiKey, options } = this.#settings;
    const values = Object.entries(options)
      .filter(([name]) => isSecretOption(kind, name))
      .map(([, value]) => value);
    return [apiKey ?? "", ...values]
      .filter((value) => value.length >= 4)
      .reduce((cleaned, value) => cleaned.replaceAll(value, "…"), text);
  }
}

class NotSet extends Error {
  readonly variable: string;

  constructor(variable: string) {
    super(`${variable} is not set`);
    this.variable = variable;
  }
}

const isSecret = (one: StoredOption): one is StoredSecret => !("text" in one);

const secretsOf = ({ apiKey, options = {} }: ProviderEntry): readonly StoredSecret[] =>
  [...(apiKey === undefined ? [] : [apiKey]), ...Object.values(options)].filter(isSecret);

function keyVariable(entry: ProviderEntry): string | null | undefined {
  const [first] = secretsOf(entry);
  if (first === undefined) return undefined;
  return "variable" in first ? first.variable : null;
}

function proxyVariable(baseUrl: string, usesProxy: (url: URL) => boolean): string | undefined {
  if (!URL.canParse(baseUrl)) return undefined;
  const url = new URL(baseUrl);
  if (!usesProxy(url)) return undefined;
  return url.protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY";
}
