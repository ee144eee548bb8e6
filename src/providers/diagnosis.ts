import { ApiError, type UpstreamReason } from "../base/errors.ts";

/** What keeps a provider from working, by a word for machines. */
export type Trouble =
  | "bad_key"
  | "no_credit"
  | "wrong_address"
  | "model_missing"
  | "certificate"
  | "proxy"
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
}

type Said = Omit<Diagnosis, "trouble"> & { readonly trouble?: Trouble };
type Words = (circumstances: Circumstances, detail: string) => Said;
type Finding = readonly [trouble: Trouble, words: Words];

/** Says in plain words why a call failed. */
export function diagnose(thrown: unknown, circumstances: Circumstances): Diagnosis {
  const error = thrown instanceof ApiError ? thrown : undefined;
  const detail = error?.detail ?? "";
  const [usual, words] =
    byCode(codesOf(thrown)) ??
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

const at = ({ baseUrl }: Circumstances) => (baseUrl === "" ? "its address" : baseUrl);
const edit = "Correct it in svc.yaml and run svc apply svc.yaml.";
const addressEdit = `Check base_url: most end in /v1. ${edit}`;

const certificate = (what: string, advice: string): Finding => [
  "certificate",
  (about) => ({ what: `The certificate of ${at(about)} ${what}.`, advice }),
];

const wrongAddress = (what: string, advice = addressEdit): Finding => [
  "wrong_address",
  (about) => ({ what: what.replace("ADDRESS", at(about)), advice }),
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
      `The server belongs to somebody else, or base_url names it otherwise. ${edit}`,
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
      `Does it need http:// in place of https://, or another port? ${edit}`,
    ),
  ],
  [
    /ENOTFOUND|EAI_AGAIN|EAI_NODATA|DNS/,
    wrongAddress("The name in ADDRESS is not known.", `Check base_url for a slip. ${edit}`),
  ],
  [
    /ECONNREFUSED|ConnectionRefused|FailedToOpenSocket/,
    wrongAddress(
      "Nothing listens at ADDRESS.",
      `Start the server, or check host and port of base_url. ${edit}`,
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
      `Does it need https:// in place of http://? If not, try again: the server may be restarting. ${edit}`,
    ),
  ],
];

const byCode = (codes: string) => codeTable.find(([pattern]) => pattern.test(codes))?.[1];

/** What our own side says before or behind the call. */
const detailTable: readonly (readonly [RegExp, Finding])[] = [
  [
    /private or loopback/,
    [
      "private_address",
      (about) => ({
        what: `${at(about)} is, or leads to, an address of your own network.`,
        advice:
          "If that is meant, add allow_private: true to the provider in svc.yaml and run svc apply svc.yaml.",
      }),
    ],
  ],
  [
    /link-local|keeps credentials/,
    [
      "private_address",
      (about) => ({
        what: `${at(about)} leads to an address that is never called (link-local, or where a cloud keeps credentials).`,
        advice: `Use another address. ${edit}`,
      }),
    ],
  ],
  [
    /the name \S+ cannot be found/,
    wrongAddress(
      "The name in ADDRESS is not known.",
      `Check base_url for a slip, and the network of this machine. ${edit}`,
    ),
  ],
  [
    /no connection could be made|connection was refused/,
    wrongAddress(
      "No connection to ADDRESS could be made.",
      `Check host and port of base_url, and whether a firewall is in between. ${edit}`,
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
      `Use the address that it leads to. ${edit}`,
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
    (about) => ({
      what: `${about.provider} did not answer in time.`,
      advice:
        "A server that loads its model first may need longer: try again. Else check base_url.",
    }),
  ],
  unreachable: wrongAddress("ADDRESS could not be reached."),
  refused: [
    "refused",
    (about, detail) => ({
      what: `${about.provider} refused the call${codeWords(detail)}.`,
      advice:
        about.model === undefined
          ? addressEdit
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

function keyAdvice({ keyVariable }: Circumstances): string {
  if (keyVariable === undefined)
    return "It has no api_key: add one in svc.yaml, such as api_key: ${NAME}, and run svc apply svc.yaml.";
  const check = "Is it of this vendor, whole, and not revoked? May it use this model?";
  return keyVariable === null
    ? `${check} To change the stored one, write the new key, or \${NAME}, at api_key in svc.yaml and run svc apply svc.yaml.`
    : `Check ${keyVariable} where the gateway runs, then restart it. ${check}`;
}

/** 404 is for a wrong path as well: what else the server tells decides. */
function missing(about: Circumstances, detail: string): Said {
  const { provider, model, offered } = about;
  if (model === undefined || offered === null)
    return {
      trouble: "wrong_address",
      what: `Nothing is found at ${at(about)}${codeWords(detail)}.`,
      advice: addressEdit,
    };
  const some = offered?.slice(0, 8).join(", ") ?? "";
  const more = (offered?.length ?? 0) > 8 ? ", …" : "";
  return {
    what: `${provider} has no model ${model}, or this key may not use it.`,
    advice: `${some === "" ? "" : `It offers: ${some}${more}. `}Correct the model of the route in svc.yaml and run svc apply svc.yaml.`,
  };
}

const byNetwork: readonly Trouble[] = ["wrong_address", "certificate", "timeout"];

function proxyHint(trouble: Trouble, { proxyVariable }: Circumstances): string {
  if (proxyVariable === undefined || !byNetwork.includes(trouble)) return "";
  return ` ${proxyVariable} is set, so calls go through that proxy: if that is not meant, set NO_PROXY for this host.`;
}
