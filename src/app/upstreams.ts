import { ApiError } from "../base/errors.ts";
import { Problem } from "../base/problem.ts";
import type { Trial, TrialLimits } from "../call/trial.ts";
import type { ProviderEntry, StoredOption, StoredSecret } from "../catalog/model.ts";
import { quirksOf } from "../catalog/vendors.ts";
import type { Configuration } from "../config/load.ts";
import { proxyCheck } from "../config/proxy.ts";
import { isSecretOption, optionPlace } from "../manifest/provider-entry.ts";
import type { TrialView, TroubleView, Upstreams } from "../platform/providers/operations.ts";
import { vendorOf } from "../platform/providers/views.ts";
import type { Provider } from "../providers/contract.ts";
import { diagnose } from "../providers/diagnosis.ts";
import type { Circumstances } from "../providers/finding.ts";
import { ProviderRegistry, type ProviderSettings } from "../providers/registry.ts";
import { listOffered, runTrial } from "../providers/trial.ts";
import type { ProbedTarget } from "../router/router.ts";
import type { Secrets } from "../secrets/secrets.ts";

export interface ConnectOptions {
  readonly configuration: Pick<Configuration, "variable" | "environment">;
  readonly secrets: Secrets;
}

const listLimits: TrialLimits = { lookMs: 3_000, withinMs: 20_000 };
/** An operator waits for it: a server that takes longer to load its model is asked once more. */
const trialLimits = { lookMs: 3_000, withinMs: 30_000 } as const satisfies TrialLimits;

/** Calls providers that are in force, or not yet, each with settings of its own. */
export function createUpstreams({ configuration, secrets }: ConnectOptions): Upstreams {
  const { variable, environment } = configuration;
  const usesProxy = proxyCheck(environment);
  const open = (entry: ProviderEntry, isNew = false) =>
    new Connection({ entry, isNew, secrets, variable, environment, usesProxy });
  return {
    async offer(entry, isNew) {
      const connection = open(entry, isNew);
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
  readonly isNew: boolean;
  readonly secrets: Secrets;
  readonly variable: Configuration["variable"];
  readonly environment: Configuration["environment"];
  readonly usesProxy: (url: URL) => boolean;
}

class Connection {
  readonly #options: ConnectionOptions;
  readonly #settings: ProviderSettings;
  readonly #registry: ProviderRegistry;
  #built: Provider | undefined;
  /** The last address that was called through a proxy. */
  #proxied: URL | undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#settings = openSettings(options);
    this.#registry = new ProviderRegistry({ usesProxy: (url) => this.#watchProxy(url) });
  }

  /** Some kinds make their address themselves, or call a second one. */
  #watchProxy(url: URL): boolean {
    const usesProxy = this.#options.usesProxy(url);
    if (usesProxy) this.#proxied = url;
    return usesProxy;
  }

  provider(): Provider {
    const { entry, variable } = this.#options;
    const lacking = secretsOf(entry)
      .flatMap((one) => ("variable" in one ? [one.variable] : []))
      .find((name) => (variable(name) ?? "") === "");
    if (lacking !== undefined) throw new NotSet(lacking);
    return (this.#built ??= this.#registry.build(this.#settings));
  }

  async tryOut(trial: Trial): Promise<TrialView> {
    const { kind, model, limits = {} } = trial;
    const within = withinLimits(limits);
    const view = await this.#timed(() => runTrial(this.provider(), trial, within), model);
    return { kind, model, ...view, unlisted: [] };
  }

  async list(): Promise<TrialView> {
    const view = await this.#timed(async () => {
      const models = await listOffered(this.provider(), listLimits);
      if (models !== undefined) return `${models.length} offered`;
      throw new Problem({
        code: "failed",
        message: "It has no route yet and cannot list its models: name one with --model.",
      });
    });
    return { kind: "models", model: null, ...view, unlisted: [] };
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
    const { entry, isNew } = this.#options;
    const { trouble, what, advice } =
      error instanceof NotSet
        ? {
            trouble: "bad_key",
            what: `${error.variable} is not set where the gateway runs.`,
            advice: "Set it in the environment of svc serve and restart the gateway.",
          }
        : error instanceof Problem
          ? { trouble: "failed", what: error.message, advice: "" }
          : diagnose(error, {
              provider: entry.name,
              baseUrl: entry.baseUrl,
              keyVariable: keyVariable(entry),
              proxyVariable: this.#proxyVariable(),
              isNew,
              file: entry.origin?.file,
              isUsualAddress: isUsualAddress(entry),
              ...more,
            });
    return { trouble, what: this.#clean(what), advice: this.#clean(advice) };
  }

  #proxyVariable(): string | undefined {
    const { entry, usesProxy, environment } = this.#options;
    const named = URL.canParse(entry.baseUrl) ? new URL(entry.baseUrl) : undefined;
    const url = named !== undefined && usesProxy(named) ? named : this.#proxied;
    if (url === undefined) return undefined;
    const name = url.protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY";
    const lower = name.toLowerCase();
    return (environment[lower] ?? "") === "" ? name : lower;
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

/** An address that the vendor or the kind has brought along. */
function isUsualAddress(entry: ProviderEntry): boolean {
  return entry.baseUrl === "" || vendorOf(entry)?.baseUrl === entry.baseUrl;
}

/** The model's own, as far as an operator will wait. */
function withinLimits({ lookMs, firstByteMs, withinMs }: Partial<TrialLimits>): TrialLimits {
  const usual = trialLimits;
  return {
    lookMs: Math.min(lookMs ?? usual.lookMs, usual.lookMs),
    withinMs: Math.min(withinMs ?? usual.withinMs, usual.withinMs),
    ...(firstByteMs === undefined ? {} : { firstByteMs }),
  };
}
