import { ApiError, type UpstreamReason } from "../base/errors.ts";
import { type FaultKind, faultOf } from "./kit/setup-fault.ts";

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
  /** Nothing of it stands in svc.yaml yet: what is wrong is mended in the command. */
  readonly isNew?: boolean | undefined;
  /** The address is the vendor's own, and not one that the operator wrote. */
  readonly isUsualAddress?: boolean | undefined;
}

type Said = Omit<Diagnosis, "trouble"> & { readonly trouble?: Trouble };
type Words = (circumstances: Circumstances, detail: string) => Said;
type Finding = readonly [trouble: Trouble, words: Words];

/** Says in plain words why a call failed. */
export function diagnose(thrown: unknown, circumstances: Circumstances): Diagnosis {
  const fault = faultOf(thrown);
  if (fault !== undefined) {
    const { kind, message, advice } = fault;
    const mending = kind === "settings" || kind === "credentials" ? edit(circumstances) : "";
    return { trouble: kind, what: message, advice: (advice + mending).trim() };
  }
  const error = thrown instanceof ApiError ? thrown : undefined;
  const detail = error?.detail ?? "";
  const codes = codesOf(thrown);
  const [usual, words] =
    byProxy(codes, circumstances) ??
    byCode(codes) ??
    byDetail(detail) ??
    byStatus(statusOf(detail)) ??
    (error?.upstream === undefined ? failed : byReason[error.upstream.reason]);
  const said = words(circumstances, detail);
  const trouble = said.trouble ?? usual;
  return { trouble, what: said.what, advice: said.advice + proxyHint(trouble, circumstances) };
}

/** The error's own code and those of what caused it. */
function codesOf(thrown: unknown): string {
  const codes: string[] = [];
  let at: unknown = thrown;
  for (let depth = 0; at instanceof Error && depth < 8; depth++) {
    if (!(at instanceof ApiError) && "code" in at) codes.push(String(at.code));
    at = at.cause;
  }
  return codes.join(" ");
}

const statusOf = (detail: string) => Number(/ answered (\d{3})\b/.exec(detail)?.[1] ?? Number.NaN);

const signInMark = "(sign-in)";

const at = ({ baseUrl }: Circumstances) => (baseUrl === "" ? "its address" : baseUrl);
const isLocal = ({ baseUrl }: Circumstances) => /^https?:\/\/(127\.|localhost\b)/.test(baseUrl);
/** As what the operator knows it. */
const field = ({ isNew }: Circumstances) => (isNew === true ? "the address" : "base_url");

/** Begins with a blank: it stands behind what to look at. */
const edit = ({ isNew }: Circumstances) =>
  isNew === true ? "" : " Correct it in svc.yaml and run svc apply svc.yaml.";

const addressAdvice = (about: Circumstances) =>
  `Check ${field(about)}: most end in /v1.${edit(about)}`;

const unknownNameAdvice = (about: Circumstances) =>
  about.isUsualAddress === true
    ? "Is this machine online, and can it look up names?"
    : `Check ${field(about)} for a slip, and whether this machine is online.${edit(about)}`;

type Advice = string | ((about: Circumstances) => string);
const adviceFor = (advice: Advice, about: Circumstances) =>
  typeof advice === "string" ? advice : advice(about);

const certificate = (what: string, advice: Advice): Finding => [
  "certificate",
  (about) => ({
    what: `The certificate of ${at(about)} ${what}.`,
    advice: adviceFor(advice, about),
  }),
];

const wrongAddress = (what: string, advice: Advice = addressAdvice): Finding => [
  "wrong_address",
  (about, detail) =>
    detail.includes(signInMark)
      ? {
          what: what.replace("ADDRESS", `the server where ${about.provider} signs in`),
          advice: "Check token_uri in its credentials, and the network of this machine.",
        }
      : { what: what.replace("ADDRESS", at(about)), advice: adviceFor(advice, about) },
];

/** Where every connection goes to the proxy first, it is the proxy that could not be reached. */
function byProxy(codes: string, { proxyVariable }: Circumstances): Finding | undefined {
  if (proxyVariable === undefined) return undefined;
  const problem = proxyProblems.find(([pattern]) => pattern.test(codes))?.[1];
  if (problem === undefined) return undefined;
  return [
    "proxy_unreachable",
    () => ({
      what: `The proxy that ${proxyVariable} names cannot be reached: ${problem}.`,
      advice: `Start the proxy or correct ${proxyVariable} where the gateway runs; to go past it, set NO_PROXY for this host. Then restart the gateway.`,
    }),
  ];
}

const proxyProblems: readonly (readonly [RegExp, string])[] = [
  [/ECONNREFUSED|ConnectionRefused|FailedToOpenSocket/, "nothing listens there"],
  [/ENOTFOUND|EAI_AGAIN|EAI_NODATA|DNS/, "its name is not known"],
  [/EHOSTUNREACH|ENETUNREACH/, "there is no way to it from here"],
];

const trustAdvice =
  "If the server is your own, name the file of its authority in NODE_EXTRA_CA_CERTS where the gateway runs and restart it; if not, somebody may be in between (a proxy of your network?).";

const proxyAdvice =
  "Give name and password in the proxy's address (http://name:password@host:port), or set NO_PROXY for this host, and restart the gateway.";

/** Codes of the runtime and of TLS, in the order in which they are looked for. */
const codeTable: readonly (readonly [RegExp, Finding])[] = [
  [
    /CERT_HAS_EXPIRED/,
    certificate("has expired", "Its owner must renew it. Is the clock of this machine right?"),
  ],
  [/CERT_NOT_YET_VALID/, certificate("is not valid yet", "Is the clock of this machine right?")],
  [
    /ERR_TLS_CERT_ALTNAME_INVALID/,
    certificate(
      "is for another name",
      (about) =>
        `The server belongs to somebody else, or ${field(about)} names it otherwise.${edit(about)}`,
    ),
  ],
  [/SELF_SIGNED_CERT/, certificate("is signed by nobody but itself", trustAdvice)],
  [
    /UNABLE_TO_(VERIFY_LEAF_SIGNATURE|GET_ISSUER_CERT)|CERT_(UNTRUSTED|SIGNATURE_FAILURE|CHAIN)/,
    certificate("is signed by an authority that this machine does not know", trustAdvice),
  ],
  [
    /ERR_PROXY_TUNNEL/,
    [
      "proxy",
      (_, detail) => ({
        what: detail.includes("407")
          ? "The proxy in between wants a name and password (407)."
          : "The proxy in between did not let the call through.",
        advice: proxyAdvice,
      }),
    ],
  ],
  [
    /EPROTO|ERR_SSL|WRONG_VERSION_NUMBER/,
    wrongAddress(
      "ADDRESS does not speak TLS.",
      (about) => `Does it need http:// in place of https://, or another port?${edit(about)}`,
    ),
  ],
  [
    /ENOTFOUND|EAI_AGAIN|EAI_NODATA|DNS/,
    wrongAddress("The name in ADDRESS is not known.", unknownNameAdvice),
  ],
  [
    /ECONNREFUSED|ConnectionRefused|FailedToOpenSocket/,
    wrongAddress("Nothing listens at ADDRESS.", (about) =>
      about.isUsualAddress === true && !isLocal(about)
        ? "Check the network of this machine: something in between does not let the call out."
        : `Start the server, or check host and port of ${field(about)}.${edit(about)}`,
    ),
  ],
  [
    /EHOSTUNREACH|ENETUNREACH/,
    wrongAddress("ADDRESS cannot be reached from here.", "Check the network of this machine."),
  ],
  [
    /ECONNRESET|ConnectionClosed|EPIPE/,
    wrongAddress(
      "ADDRESS took the connection and closed it.",
      (about) =>
        `Does it need https:// in place of http://? If not, try again: the server may be restarting.${edit(about)}`,
    ),
  ],
];

const byCode = (codes: string) => codeTable.find(([pattern]) => pattern.test(codes))?.[1];

/** What our own side says before or behind the call. */
const detailTable: readonly (readonly [RegExp, Finding])[] = [
  [
    /characters that cannot be sent/,
    [
      "unsendable_key",
      (about) => ({
        what: `The key of ${about.provider} has characters that cannot be sent: it was not copied as it is.`,
        advice: `Keys have letters of the English alphabet, digits and signs, without blanks. Copy it once more${intoPlace(about)}.`,
      }),
    ],
  ],
  [
    /: (project|location) must be /,
    [
      "settings",
      (about, detail) => ({
        what: `${about.provider} cannot be called as it is set up: ${detail.split(": ").at(-1)}.`,
        advice: edit(about).trim(),
      }),
    ],
  ],
  [
    /private or loopback/,
    [
      "private_address",
      (about) => ({
        what: `${at(about)} is, or leads to, an address of your own network.`,
        advice:
          about.isNew === true
            ? "If that is meant, say so with --allow-private."
            : "If that is meant, add allow_private: true to the provider in svc.yaml and run svc apply svc.yaml.",
      }),
    ],
  ],
  [
    /link-local|keeps credentials/,
    [
      "private_address",
      (about) => ({
        what: `${at(about)} leads to an address that is never called (link-local, or where a cloud keeps credentials).`,
        advice: `Use another address.${edit(about)}`,
      }),
    ],
  ],
  [
    /the name \S+ cannot be found/,
    wrongAddress("The name in ADDRESS is not known.", unknownNameAdvice),
  ],
  [
    /no connection could be made|connection was refused/,
    wrongAddress(
      "No connection to ADDRESS could be made.",
      (about) =>
        about.isUsualAddress === true
          ? "Check the network of this machine: is a firewall in between?"
          : `Check host and port of ${field(about)}, and whether a firewall is in between.${edit(about)}`,
    ),
  ],
  [
    /sent no JSON|sent text\/html/,
    wrongAddress("What answers at ADDRESS is no API for models: it sent no JSON."),
  ],
];

const byDetail = (detail: string) => detailTable.find(([pattern]) => pattern.test(detail))?.[1];

function byStatus(status: number): Finding | undefined {
  if (status === 407)
    return [
      "proxy",
      () => ({
        what: "The proxy in between wants a name and password (407).",
        advice: proxyAdvice,
      }),
    ];
  if (status >= 300 && status < 400)
    return wrongAddress(
      `ADDRESS sends callers on to another address (${status}), which is never followed.`,
      (about) => `Use the address that it leads to.${edit(about)}`,
    );
  if (status === 405 || status === 501)
    return wrongAddress(`ADDRESS does not know this kind of call (${status}).`);
  return undefined;
}

const failed: Finding = [
  "failed",
  (about, detail) => ({
    what:
      statusOf(detail) >= 500
        ? `${about.provider} itself failed (it answered ${statusOf(detail)}).`
        : `${about.provider} did not answer as expected${codeWords(detail)}.`,
    advice: "Try again; if it stays so, look at the status page of the vendor or the server's log.",
  }),
];

const byReason: Readonly<Record<UpstreamReason, Finding>> = {
  auth: [
    "bad_key",
    (about, detail) => ({
      what: `${about.provider} does not accept the key${codeWords(detail)}.`,
      advice: keyAdvice(about),
    }),
  ],
  quota: [
    "no_credit",
    (about) => ({
      what: `The key works, but there is no credit or quota left at ${about.provider}.`,
      advice: "Add credit, or raise the limit, in the vendor's console.",
    }),
  ],
  missing: ["model_missing", missing],
  limited: [
    "limited",
    (about) => ({
      what: `${about.provider} takes no more requests just now: a rate limit was reached.`,
      advice: "Wait a minute and try again. The key and the address are right.",
    }),
  ],
  overloaded: [
    "overloaded",
    (about) => ({
      what: `${about.provider} is overloaded, or still loading the model.`,
      advice: "Try again in a moment.",
    }),
  ],
  timeout: [
    "timeout",
    (about, detail) => ({
      what: `${about.provider} did not answer ${timeWords(detail)}.`,
      advice:
        about.isUsualAddress === true
          ? "Try again; if it stays so, look at the status page of the vendor."
          : `A server that loads its model first may need longer: try again. Else check ${field(about)}.`,
    }),
  ],
  unreachable: wrongAddress("ADDRESS could not be reached."),
  refused: [
    "refused",
    (about, detail) => ({
      what: `${about.provider} refused the call${codeWords(detail)}.`,
      advice:
        about.model === undefined
          ? addressAdvice(about)
          : `Is ${about.model} a model for this kind of call? Its endpoint stands in svc.yaml.`,
    }),
  ],
  failed,
};

/** ` (401, invalid_api_key)`: the status and the vendor's words of code, never its sentences. */
function codeWords(detail: string): string {
  const match = / answered (\d{3})(?: \(([\w. -]{1,120})\))?/.exec(detail);
  if (match === null) return "";
  return ` (${[match[1], match[2]].filter((word) => word !== undefined).join(", ")})`;
}

/** ` within 2 s`, where the time limit was ours. */
function timeWords(detail: string): string {
  const ms = / within (\d+) ms$/.exec(detail)?.[1];
  return ms === undefined ? "in time" : `within ${Number(ms) / 1000} s`;
}

function intoPlace({ keyVariable, isNew }: Circumstances): string {
  if (typeof keyVariable === "string")
    return ` into ${keyVariable} where the gateway runs, and restart the gateway`;
  return isNew === true ? "" : ` to api_key in svc.yaml, and run svc apply svc.yaml`;
}

function keyAdvice({ keyVariable, isNew = false }: Circumstances): string {
  if (keyVariable === undefined)
    return isNew
      ? "It was given no key: name its variable with --key-env, or hand it over with --key-stdin."
      : "It has no api_key: add one in svc.yaml, such as api_key: ${NAME}, and run svc apply svc.yaml.";
  const check = "Is it of this vendor, whole, and not revoked? May it use this model?";
  if (isNew) return keyVariable === null ? check : `Check ${keyVariable}. ${check}`;
  return keyVariable === null
    ? `${check} To change the stored one, write the new key, or \${NAME}, at api_key in svc.yaml and run svc apply svc.yaml.`
    : `Check ${keyVariable} where the gateway runs, then restart it. ${check}`;
}

/** 404 is for a wrong path as well: what else the server tells decides. */
function missing(about: Circumstances, detail: string): Said {
  const { provider, model, offered, baseUrl } = about;
  // An address that the kind makes by itself has no slip, and who names the model knows the path.
  const isOfModel = namesModel.test(detail) || baseUrl === "";
  if (model === undefined || (offered === null && !isOfModel))
    return {
      trouble: "wrong_address",
      what: `Nothing is found at ${at(about)}${codeWords(detail)}.`,
      advice: addressAdvice(about),
    };
  const some = offered?.slice(0, 8).join(", ") ?? "";
  const more = (offered?.length ?? 0) > 8 ? ", …" : "";
  return {
    what: `${provider} has no model ${model}, or this key may not use it.`,
    advice: `${some === "" ? "" : `It offers: ${some}${more}. `}Correct the model of the route in svc.yaml and run svc apply svc.yaml.`,
  };
}

/** A vendor's word of code for a model, or what it calls one, that it does not have. */
const namesModel = /model_?not_?(found|available|exist)|(unknown|invalid)_model|deploymentnotfound/;

const byNetwork: readonly Trouble[] = ["wrong_address", "certificate", "timeout"];

function proxyHint(trouble: Trouble, { proxyVariable }: Circumstances): string {
  if (proxyVariable === undefined || !byNetwork.includes(trouble)) return "";
  return ` ${proxyVariable} is set, so calls go through that proxy: if that is not meant, set NO_PROXY for this host.`;
}
