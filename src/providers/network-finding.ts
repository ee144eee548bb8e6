import { ApiError } from "../base/errors.ts";
import { certificateTrouble } from "../base/network/certificate-trouble.ts";
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
      what: `The proxy in ${proxyVariable} cannot be reached: ${problem}.`,
      advice: `Start the proxy, correct ${proxyVariable} in the gateway's environment, or set NO_PROXY for this host to bypass it. Then restart the gateway.`,
    }),
  ];
}

const proxyProblems: readonly (readonly [RegExp, string])[] = [
  [/ECONNREFUSED|ConnectionRefused|FailedToOpenSocket/, "connection refused"],
  [/ENOTFOUND|EAI_AGAIN|EAI_NODATA|DNS/, "its host name cannot be resolved"],
  [/EHOSTUNREACH|ENETUNREACH/, "no route to host"],
];

const certificate = (what: string, advice: Advice): Finding => [
  "certificate",
  (about) => ({
    what: `The certificate of ${at(about)} ${what}.`,
    advice: adviceFor(advice, about),
  }),
];

const trustAdvice =
  "If you run the server, set NODE_EXTRA_CA_CERTS to the file of its certificate authority in the gateway's environment and restart the gateway. Otherwise a proxy may be intercepting the connection.";

/** Codes of the runtime and of TLS, in the order in which they are looked for. */
const codeTable: readonly (readonly [RegExp, Finding])[] = [
  [
    certificateTrouble.expired,
    certificate(
      "has expired",
      "The server's owner must renew it. Also check this machine's clock.",
    ),
  ],
  [certificateTrouble.notYetValid, certificate("is not valid yet", "Check this machine's clock.")],
  [
    certificateTrouble.otherName,
    certificate(
      "is for another host name",
      (about) => `Check the host name in ${field(about)}.${edit(about)}`,
    ),
  ],
  [certificateTrouble.selfSigned, certificate("is self-signed", trustAdvice)],
  [
    certificateTrouble.unknownAuthority,
    certificate("is signed by an unknown certificate authority", trustAdvice),
  ],
  [
    /ERR_PROXY_TUNNEL/,
    [
      "proxy",
      () => ({
        what: "The proxy rejected the call.",
        advice: proxyAdvice,
      }),
    ],
  ],
  [
    /EPROTO|ERR_SSL|WRONG_VERSION_NUMBER/,
    wrongAddress(
      "ADDRESS does not support TLS.",
      (about) => `Try http:// instead of https://, or another port.${edit(about)}`,
    ),
  ],
  [
    /ENOTFOUND|EAI_AGAIN|EAI_NODATA|DNS/,
    wrongAddress("The host name in ADDRESS cannot be resolved.", unknownNameAdvice),
  ],
  [
    /ECONNREFUSED|ConnectionRefused|FailedToOpenSocket/,
    wrongAddress("ADDRESS refused the connection.", (about) =>
      about.isUsualAddress === true && !isLocal(about)
        ? "Check this machine's network. A firewall may be blocking outgoing calls."
        : `Start the server, or check the host and port in ${field(about)}.${edit(about)}`,
    ),
  ],
  [
    /EHOSTUNREACH|ENETUNREACH/,
    wrongAddress("ADDRESS cannot be reached from this machine.", "Check this machine's network."),
  ],
  [
    /ECONNRESET|ConnectionClosed|EPIPE/,
    wrongAddress(
      "ADDRESS accepted the connection and closed it.",
      (about) =>
        `Try again in case the server is restarting, or use https:// instead of http://.${edit(about)}`,
    ),
  ],
];
