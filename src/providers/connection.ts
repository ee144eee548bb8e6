import { ApiError } from "../base/errors.ts";
import { Problem } from "../base/problem.ts";
import type { Trial, TrialKind, TrialLimits } from "../call/trial.ts";
import type { Provider } from "./contract.ts";
import { diagnose } from "./diagnosis.ts";
import type { Circumstances } from "./finding.ts";
import { ProviderRegistry, type ProviderSettings } from "./registry.ts";
import { listOffered, runTrial } from "./trial.ts";

export interface ConnectionOptions {
  readonly settings: ProviderSettings;
  /** A variable that should hold a secret of it, and is not set. */
  /** Of a variable, file or command without a value. */
  readonly missing: Pick<Trouble, "what" | "advice"> | undefined;
  /** Values that must not appear in what it reports. */
  readonly secretValues: readonly string[];
  readonly circumstances: Pick<Circumstances, "keyVariable" | "isNew" | "isUsualAddress" | "file">;
  readonly usesProxy: (url: URL) => boolean;
  /** The variable that sends calls to this address through a proxy. */
  readonly proxyVariable: (url: URL) => string;
}

export interface Trouble {
  /** For machines: bad_key, no_credit, wrong_address, … */
  readonly trouble: string;
  readonly what: string;
  readonly advice: string;
}

/** What a check found. A server without a list of models is not at fault if it is not a vendor's. */
export type Checked =
  | "works"
  | "untested"
  | { readonly problem: Trouble; readonly isUnlisted: boolean };

/** What came of one call. */
export interface TrialOutcome {
  readonly kind: TrialKind | "models";
  readonly model: string | null;
  readonly ok: boolean;
  readonly duration_ms: number;
  readonly result: string | null;
  readonly problem: Trouble | null;
}

const listLimits: TrialLimits = { lookMs: 3_000, withinMs: 20_000 };
/** An operator waits for it: a server that takes longer to load its model is asked once more. */
export const trialLimits = { lookMs: 3_000, withinMs: 30_000 } as const satisfies TrialLimits;

/** One provider with settings of its own, called as an operator tries it out. */
export class Connection {
  readonly #options: ConnectionOptions;
  readonly #registry: ProviderRegistry;
  #built: Provider | undefined;
  /** The last address that was called through a proxy. */
  #proxied: URL | undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#registry = new ProviderRegistry({ usesProxy: (url) => this.#watchProxy(url) });
  }

  /** What it offers; undefined where it cannot tell. */
  offered(): ReturnType<typeof listOffered> {
    return listOffered(this.#provider(), listLimits);
  }

  /**
   * Whether it can be called with this key and address: by one small call where a model is known,
   * else by the list of its models. A list that is open to anybody says nothing of the key.
   */
  async check(trial: Trial | undefined, isListOpen = false): Promise<Checked> {
    try {
      if (trial !== undefined) await runTrial(this.#provider(), trial, withinLimits({}));
      else if ((await this.offered()) === undefined) return "untested";
      return "works";
    } catch (error) {
      if (error instanceof NotSet) return "untested";
      const { reason } = (error instanceof ApiError && error.upstream) || {};
      // It answered, so that its address and key are right.
      if (reason === "limited" || (trial !== undefined && reason === "refused")) return "works";
      if (trial !== undefined && reason === "missing")
        return isListOpen ? "untested" : this.check(undefined);
      if (reason === "overloaded") return "untested";
      const isUnlisted = trial === undefined && Connection.hasNoList(error);
      return { problem: this.explain(error), isUnlisted };
    }
  }

  /** Whether the reply is that of a server without a list of models. A wrong path looks the same. */
  static hasNoList(error: unknown): boolean {
    const { status = 0, symptom } = (error instanceof ApiError && error.upstream) || {};
    return [404, 405, 501].includes(status) && symptom === undefined;
  }

  async tryOut(trial: Trial): Promise<TrialOutcome> {
    const { kind, model, limits = {} } = trial;
    const within = withinLimits(limits);
    const outcome = await this.#timed(() => runTrial(this.#provider(), trial, within), model);
    return { kind, model, ...outcome };
  }

  async list(): Promise<TrialOutcome> {
    const outcome = await this.#timed(async () => {
      const models = await this.offered();
      if (models !== undefined)
        return `${models.length} ${models.length === 1 ? "model" : "models"} listed`;
      throw new Problem({
        code: "failed",
        message:
          "The provider has no route yet and cannot list its models. Specify a model to call.",
      });
    });
    return { kind: "models", model: null, ...outcome };
  }

  /** Why a call did not work. */
  explain(error: unknown, more: Pick<Circumstances, "model" | "offered"> = {}): Trouble {
    const { settings, circumstances } = this.#options;
    const { trouble, what, advice } =
      error instanceof NotSet
        ? {
            trouble: "bad_key",
            what: error.missing.what,
            advice: error.missing.advice,
          }
        : error instanceof Problem
          ? { trouble: "failed", what: error.message, advice: "" }
          : diagnose(error, {
              provider: settings.name,
              baseUrl: settings.baseUrl,
              proxyVariable: this.#proxyVariable(),
              ...circumstances,
              ...more,
            });
    return { trouble, what: this.#clean(what), advice: this.#clean(advice) };
  }

  #provider(): Provider {
    const { settings, missing } = this.#options;
    if (missing !== undefined) throw new NotSet(missing);
    return (this.#built ??= this.#registry.build(settings));
  }

  async #timed(
    work: () => Promise<string>,
    model?: string,
  ): Promise<Omit<TrialOutcome, "kind" | "model">> {
    const startMs = performance.now();
    const durationMs = () => Math.round(performance.now() - startMs);
    try {
      const result = this.#clean(await work());
      return { ok: true, duration_ms: durationMs(), result, problem: null };
    } catch (error) {
      const duration = durationMs();
      const problem = this.explain(error, {
        model,
        offered: await this.#offeredInstead(error, model),
      });
      return { ok: false, duration_ms: duration, result: null, problem };
    }
  }

  /** What is not found may be the model or the path: a list of the models tells. */
  async #offeredInstead(
    error: unknown,
    model: string | undefined,
  ): Promise<Circumstances["offered"]> {
    const isMissing = error instanceof ApiError && error.upstream?.reason === "missing";
    if (!isMissing || model === undefined) return undefined;
    try {
      return (await this.offered())?.map(({ id }) => id);
    } catch {
      return null;
    }
  }

  /** Some kinds build their own address, or call a second one to sign in. */
  #watchProxy(url: URL): boolean {
    const usesProxy = this.#options.usesProxy(url);
    if (usesProxy) this.#proxied = url;
    return usesProxy;
  }

  #proxyVariable(): string | undefined {
    const { settings, usesProxy, proxyVariable } = this.#options;
    const named = URL.canParse(settings.baseUrl) ? new URL(settings.baseUrl) : undefined;
    const url = named !== undefined && usesProxy(named) ? named : this.#proxied;
    return url === undefined ? undefined : proxyVariable(url);
  }

  /** An upstream may echo a key where only a word of code is expected. */
  #clean(text: string): string {
    return this.#options.secretValues
      .filter((value) => value.length >= 4)
      .reduce((cleaned, value) => cleaned.replaceAll(value, "…"), text);
  }
}

class NotSet extends Error {
  readonly missing: Pick<Trouble, "what" | "advice">;

  constructor(missing: Pick<Trouble, "what" | "advice">) {
    super(missing.what);
    this.missing = missing;
  }
}

/** The model's own limits, as far as an operator will wait. */
function withinLimits({ lookMs, firstByteMs, withinMs }: Partial<TrialLimits>): TrialLimits {
  const usual = trialLimits;
  return {
    lookMs: Math.min(lookMs ?? usual.lookMs, usual.lookMs),
    withinMs: Math.min(withinMs ?? usual.withinMs, usual.withinMs),
    ...(firstByteMs === undefined ? {} : { firstByteMs }),
  };
}
