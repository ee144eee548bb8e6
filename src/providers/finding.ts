import type { UpstreamTrouble } from "../base/errors.ts";
import type { FaultKind } from "./kit/setup-fault.ts";

/** What keeps a provider from working, by a word for machines. */
export type Trouble =
  | FaultKind
  | "bad_key"
  | "unsendable_key"
  | "no_credit"
  | "wrong_address"
  | "model_missing"
  | "certificate"
  | "proxy"
  | "proxy_unreachable"
  | "private_address"
  | "timeout"
  | "limited"
  | "overloaded"
  | "refused"
  | "failed";

/** In plain words: what is wrong, and what to do. Never a key, a prompt or a vendor's sentence. */
export interface Diagnosis {
  readonly trouble: Trouble;
  readonly what: string;
  readonly advice: string;
}

/** What was tried, as far as it helps to say what to do. */
export interface Circumstances {
  readonly provider: string;
  /** Empty where the kind makes its own. */
  readonly baseUrl: string;
  /** The upstream's name of the model that was called, if one was. */
  readonly model?: string | undefined;
  /** The variable that holds the key; null: it is kept in the store; undefined: there is none. */
  readonly keyVariable?: string | null | undefined;
  /** The variable that sends calls through a proxy. */
  readonly proxyVariable?: string | undefined;
  /** What the upstream offers, where that could be asked; null: asked, and it did not tell. */
  readonly offered?: readonly string[] | null | undefined;
  /** It is not saved yet: the operator corrects the command. */
  readonly isNew?: boolean | undefined;
  /** The file that defines it, where it is to be corrected. */
  readonly file?: string | undefined;
  /** The address is the vendor's own, and not one that the operator wrote. */
  readonly isUsualAddress?: boolean | undefined;
}

export type Said = Omit<Diagnosis, "trouble"> & { readonly trouble?: Trouble };
/** What is known of the failure; nothing, where no upstream failed. */
export type Facts = Partial<UpstreamTrouble>;
type Words = (circumstances: Circumstances, facts: Facts) => Said;
export type Finding = readonly [trouble: Trouble, words: Words];

export const at = ({ baseUrl, provider }: Circumstances) =>
  baseUrl === "" ? `${provider}'s address` : baseUrl;
export const isLocal = ({ baseUrl }: Circumstances) =>
  /^https?:\/\/(127\.|localhost\b)/.test(baseUrl);
/** As what the operator knows it. */
export const field = ({ isNew }: Circumstances) => (isNew === true ? "the address" : "base_url");

/** Starts with a space: it follows another sentence. */
export function edit({ isNew, file }: Circumstances): string {
  if (isNew === true) return "";
  return file === undefined
    ? " Edit the provider to change it."
    : ` Change it in ${file} and apply the file.`;
}

export const addressAdvice = (about: Circumstances) =>
  `Check ${field(about)}. Most addresses end in /v1.${edit(about)}`;

export const unknownNameAdvice = (about: Circumstances) =>
  about.isUsualAddress === true
    ? "Check that this machine is online and can resolve host names."
    : `Check ${field(about)} for typos, and check that this machine is online.${edit(about)}`;

export type Advice = string | ((about: Circumstances) => string);
export const adviceFor = (advice: Advice, about: Circumstances) =>
  typeof advice === "string" ? advice : advice(about);

export const wrongAddress = (what: string, advice: Advice = addressAdvice): Finding => [
  "wrong_address",
  (about, { isSignIn }) =>
    isSignIn === true
      ? {
          what: what.replace("ADDRESS", `${about.provider}'s sign-in server`),
          advice: "Check token_uri in its credentials and this machine's network.",
        }
      : { what: what.replace("ADDRESS", at(about)), advice: adviceFor(advice, about) },
];

export const proxyAdvice =
  "Put a user name and password in the proxy's address (http://name:password@host:port), or set NO_PROXY for this host. Then restart the gateway.";
