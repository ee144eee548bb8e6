import { ApiError } from "../base/errors.ts";
import {
  type Advice,
  adviceFor,
  at,
  type Circumstances,
  edit,
  type Finding,
  field,
  isLocal,
  proxyAdvice,
  unknownNameAdvice,
  wrongAddress,
} from "./finding.ts";

/** What is wrong on the way to an upstream, by the codes of the runtime and of TLS. */
export function networkFinding(thrown: unknown, about: Circumstances): Finding | undefined {
  const codes = codesOf(thrown);
  return byProxy(codes, about) ?? codeTable.find(([pattern]) => pattern.test(codes))?.[1];
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

const certificate = (what: string, advice: Advice): Finding => [
  "certificate",
  (about) => ({
    what: `The certificate of ${at(about)} ${what}.`,
    advice: adviceFor(advice, about),
  }),
];

const trustAdvice =
  "If the server is your own, name the file of its authority in NODE_EXTRA_CA_CERTS where the gateway runs and restart it; if not, somebody may be in between (a proxy of your network?).";

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
      () => ({
        what: "The proxy in between did not let the call through.",
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
