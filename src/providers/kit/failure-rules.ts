import type { ErrorCode, UpstreamReason } from "../../base/errors.ts";
import type { Said } from "./error-body.ts";

/** What an upstream's error is for us: what the caller gets, and why, for the router. */
export interface Verdict {
  readonly code: ErrorCode;
  readonly reason: UpstreamReason;
  /** An input can be the cause, so that it says little about the target. */
  readonly byInput?: true;
}

/** Whose fault it is. */
const verdicts = {
  "too long": { code: "context_length_exceeded", reason: "refused" },
  filtered: { code: "content_filtered", reason: "refused" },
  rejected: { code: "upstream_rejected", reason: "refused" },
  key: { code: "upstream_unavailable", reason: "auth" },
  "key in doubt": { code: "upstream_unavailable", reason: "auth", byInput: true },
  credit: { code: "upstream_unavailable", reason: "quota" },
  "credit in doubt": { code: "upstream_unavailable", reason: "quota", byInput: true },
  /** Too much for the credit that is left; a smaller request may be served. */
  "too costly": { code: "upstream_unavailable", reason: "failed" },
  "missing model": { code: "upstream_unavailable", reason: "missing" },
  limit: { code: "upstream_rate_limited", reason: "limited" },
  /** This request alone is larger than the limit; smaller ones are served. */
  "over the limit": { code: "upstream_rate_limited", reason: "limited", byInput: true },
  overloaded: { code: "upstream_overloaded", reason: "overloaded" },
  timeout: { code: "upstream_timeout", reason: "timeout", byInput: true },
  failure: { code: "upstream_error", reason: "failed" },
} as const satisfies Readonly<Record<string, Verdict>>;

type Fault = keyof typeof verdicts;

/** All that is given must hold. */
interface Rule {
  readonly fault: Fault;
  /** The vendors that answer so. */
  readonly from: string;
  readonly statuses?: readonly number[];
  /** Found in the words of code, type, status and reason. */
  readonly code?: RegExp;
  /**
   * How the vendor's sentence begins, in lower case. What a caller sent may follow it, so nothing
   * that blames the operator is looked for further on.
   */
  readonly opening?: RegExp;
  /** Found anywhere in the sentence: for what blames the caller alone. */
  readonly anywhere?: RegExp;
  /** Found in the names of the quotas that were reached. */
  readonly quota?: RegExp;
}

const refusals = [400, 413, 422];

const filterRules: readonly Rule[] = [
  { fault: "filtered", from: "xai", opening: /^content violates usage guidelines/ },
  { fault: "filtered", from: "deepseek", opening: /^content exists risk/ },
  { fault: "filtered", from: "alibaba", code: /data_?inspection_?failed/ },
  {
    fault: "filtered",
    from: "alibaba",
    opening: /^<\d{3}> [a-z.]{0,40}datainspectionfailed:/,
  },
  { fault: "filtered", from: "openai", code: /\binvalid_prompt\b/ },
  { fault: "filtered", from: "openrouter", code: /\bflagged_input\b/ },
  { fault: "filtered", from: "openai azure moonshot", code: /content_filter|content_policy/ },
  { fault: "filtered", from: "openai", statuses: refusals, code: /safety/ },
  {
    fault: "filtered",
    from: "anthropic",
    statuses: refusals,
    anywhere: /content filtering policy/,
  },
];

const creditRules: readonly Rule[] = [
  {
    fault: "too costly",
    from: "openrouter",
    statuses: [402],
    opening:
      /^(this request requires more credits, or fewer max_tokens|prompt tokens limit exceeded)/,
  },
  {
    fault: "credit",
    from: "openai anthropic perplexity moonshot novita hyperbolic together",
    code: /insufficient_(quota|funds)|credit_(balance|limit)|billing|exceeded_current_quota|not_enough_balance/,
  },
  { fault: "credit", from: "bedrock alibaba", code: /servicequotaexceeded|arrearage|freetieronly/ },
  {
    fault: "credit",
    from: "anthropic",
    opening:
      /^(your credit balance is too low|you have reached your specified (workspace )?api usage limits)/,
  },
  {
    fault: "credit",
    from: "xai",
    opening:
      /^your (team \S{1,80} has either used all available credits|newly created team doesn.t have any credits)/,
  },
  {
    fault: "credit",
    from: "deepseek openrouter hyperbolic together",
    opening: /^(insufficient (balance|credits|funds)|credit limit exceeded|key limit exceeded)/,
  },
  {
    fault: "credit",
    from: "huggingface deepinfra nvidia gemini",
    opening:
      /^(you have (exceeded|depleted) your monthly included credits|inference prohibited, please enter a payment method|account '[^']{0,80}': cloud credits expired|your prepaid credits)/,
  },
  {
    fault: "credit",
    from: "fireworks",
    opening: /^account \S{1,80} is suspended, possibly due to reaching the monthly spending limit/,
  },
  // A quota of a day is like credit: waiting a minute does not help.
  { fault: "credit", from: "gemini", quota: /perday/ },
  { fault: "credit", from: "bedrock", code: /throttling/, opening: /^too many tokens per day/ },
  {
    fault: "credit",
    from: "cerebras github openrouter cohere",
    statuses: [429],
    opening:
      /^((tokens|requests) per day limit exceeded|rate limit of \d{1,9} per 86400s exceeded|rate limit exceeded: free-models-per-day|you are using a trial key, which is limited to \d{1,9} api calls \/ month)/,
  },
  // Google says the words of the next rule about every quota, and which one in its details.
  { fault: "limit", from: "gemini vertex", statuses: [429], code: /resource_exhausted/ },
  {
    fault: "credit",
    from: "openai",
    statuses: [429],
    opening: /^you exceeded your current quota, please check your plan/,
  },
];

const keyRules: readonly Rule[] = [
  {
    fault: "key",
    from: "openai groq cerebras moonshot perplexity novita llamacpp anthropic",
    code: /(invalid|wrong|incorrect)_(api_key|authentication)|api_key_(invalid|service_blocked)|authentication_error|account_deactivated|missing_scope|organization_restricted/,
  },
  {
    fault: "key",
    from: "bedrock alibaba",
    code: /unrecognizedclient|expiredtoken|invalidsignature|incompletesignature|missingauthentication|accessdenied/,
  },
  {
    fault: "key",
    from: "gemini vertex",
    code: /unauthenticated|consumer_suspended|service_disabled|iam_permission_denied/,
  },
  {
    fault: "key",
    from: "openai novita github",
    code: /unsupported_country|model_access_denied|\bno_access\b/,
  },
  // Callers from places that it does not serve.
  { fault: "key", from: "gemini", statuses: [400], code: /failed_precondition/ },
  {
    fault: "key",
    from: "xai openai groq perplexity anthropic cohere moonshot",
    opening: /^(incorrect|invalid|wrong) (api[ -]key|x-api-key|api token|authentication)/,
  },
  {
    fault: "key",
    from: "gemini fireworks anthropic",
    opening: /^(api key (not valid|expired)|the api key you provided|your api key )/,
  },
  {
    fault: "key",
    from: "huggingface github openrouter deepinfra hyperbolic",
    opening:
      /^(invalid (username or password|credentials)|bad credentials|no (cookie )?auth credentials found|user (not found|is not authenticated)|could not validate credentials|this authentication method does not have)/,
  },
  {
    fault: "key",
    from: "deepseek nvidia nebius bedrock",
    opening: /^auth(entication|orization) (fails|failed)/,
  },
  {
    fault: "key",
    from: "azure vertex",
    opening:
      /^(access denied due to|unauthorized\. access token is missing|request had invalid authentication credentials)/,
  },
  {
    fault: "key",
    from: "xai anthropic",
    opening: /^(access to the chat endpoint is denied|this organization has been disabled)/,
  },
  {
    fault: "key",
    from: "bedrock",
    code: /validationexception/,
    opening: /^operation not allowed/,
  },
];

const limitRules: readonly Rule[] = [
  { fault: "over the limit", from: "groq", statuses: [413], code: /rate_limit_exceeded/ },
  {
    fault: "over the limit",
    from: "openai groq",
    statuses: [413, 429],
    opening: /^request too large for /,
  },
  {
    fault: "over the limit",
    from: "anthropic",
    statuses: [429],
    opening: /^extra usage is required for long context/,
  },
  // They answer as if we were too many.
  {
    fault: "overloaded",
    from: "bedrock moonshot",
    statuses: [429],
    code: /modelnotready|engine_overloaded/,
  },
  { fault: "overloaded", from: "groq", statuses: [498], code: /\bcapacity_exceeded\b/ },
  { fault: "filtered", from: "cohere", statuses: [498] },
];

const lengthRules: readonly Rule[] = [
  {
    fault: "too long",
    from: "openai groq cerebras llamacpp github",
    code: /context_length|exceed_context|context_window|tokens_limit_reached/,
  },
  {
    fault: "too long",
    from: "openai vllm deepseek xai openrouter",
    opening: /^this (model|endpoint)'s maximum (context|prompt) length is /,
  },
  {
    fault: "too long",
    from: "anthropic fireworks bedrock mistral gemini groq",
    opening:
      /^((the )?prompt is too long|input is too long|prompt contains \d{1,12} tokens|the input token count|please reduce the length of the messages)/,
  },
  {
    fault: "too long",
    from: "moonshot",
    opening: /^(invalid request: )?your request exceeded model token limit/,
  },
  {
    fault: "too long",
    from: "alibaba",
    opening: /^(<\d{3}> [a-z.]{1,60}: )?range of input length should be /,
  },
  {
    fault: "too long",
    from: "cohere",
    opening: /^too many tokens: (total number of tokens|size limit exceeded)/,
  },
  {
    fault: "too long",
    from: "vllm",
    opening: /^the (decoder |encoder )?prompt \(length \d{1,12}\) is longer than/,
  },
  {
    fault: "too long",
    from: "anthropic bedrock gemini ollama lmstudio huggingface",
    statuses: refusals,
    anywhere:
      /maximum context length|context (size|window|length|limit)|(prompt|input) is too long|input token count|tokens \+ .?max_new_tokens|exceeds the maximum number of tokens/,
  },
];

const modelRules: readonly Rule[] = [
  {
    fault: "missing model",
    from: "openai groq huggingface github perplexity mistral",
    statuses: [400, 403, 404],
    code: /model_not_(found|available|supported)|model_decommissioned|unknown_model|invalid_model/,
  },
  {
    fault: "missing model",
    from: "bedrock",
    statuses: [400],
    code: /validationexception/,
    anywhere: /model identifier is invalid|on-demand throughput isn.t supported/,
  },
  {
    fault: "missing model",
    from: "lmstudio openrouter",
    statuses: [400],
    opening: /^(no models loaded|\S{1,120} is not a valid model id)/,
  },
  // The model is there; none of its targets takes what was asked for.
  {
    fault: "rejected",
    from: "openrouter",
    statuses: [404],
    opening: /^no endpoints found that (support|can handle) /,
  },
  {
    fault: "rejected",
    from: "gemini",
    statuses: [403],
    opening: /^you do not have permission to access the file /,
  },
];

/** The first that holds decides. */
const rules: readonly Rule[] = [
  ...filterRules,
  ...creditRules,
  ...keyRules,
  ...limitRules,
  ...lengthRules,
  ...modelRules,
];

/** Where no words are known. */
function byStatus(status: number): Fault {
  switch (status) {
    case 400:
    case 413:
    case 422:
      return "rejected";
    case 401:
    case 403:
      return "key in doubt";
    case 402:
      return "credit in doubt";
    case 404:
    case 410:
      return "missing model";
    case 408:
    case 504:
      return "timeout";
    case 429:
      return "limit";
    case 503:
    case 529:
      return "overloaded";
    default:
      return "failure";
  }
}

export function verdictOf(status: number, said: Said): Verdict {
  const rule = rules.find((one) => holds(one, status, said));
  return verdicts[rule?.fault ?? byStatus(status)];
}

function holds(
  { statuses, code, opening, anywhere, quota }: Rule,
  status: number,
  said: Said,
): boolean {
  if (statuses !== undefined && !statuses.includes(status)) return false;
  if (code !== undefined && !code.test(said.code)) return false;
  if (opening !== undefined && !opening.test(said.message)) return false;
  if (anywhere !== undefined && !anywhere.test(said.message)) return false;
  return quota === undefined || quota.test(said.quotas);
}
