import { ApiError, type UpstreamReason, type UpstreamSymptom } from "../base/errors.ts";
import {
  addressAdvice,
  at,
  type Circumstances,
  type Diagnosis,
  edit,
  type Facts,
  type Finding,
  field,
  proxyAdvice,
  type Said,
  type Trouble,
  unknownNameAdvice,
  wrongAddress,
} from "./finding.ts";
import { faultOf } from "./kit/setup-fault.ts";
import { networkFinding } from "./network-finding.ts";

/** Explains in plain words why a call failed. */
export function diagnose(thrown: unknown, circumstances: Circumstances): Diagnosis {
  const fault = faultOf(thrown);
  if (fault !== undefined) {
    const { kind, message, advice } = fault;
    const hint = kind === "settings" || kind === "credentials" ? edit(circumstances) : "";
    return { trouble: kind, what: message, advice: (advice + hint).trim() };
  }
  const facts: Facts = (thrown instanceof ApiError ? thrown.upstream : undefined) ?? {};
  const [usual, words] =
    networkFinding(thrown, circumstances) ??
    (facts.symptom === undefined ? byStatus(facts.status ?? 0) : bySymptom[facts.symptom]) ??
    byReason[facts.reason ?? "failed"];
  const said = words(circumstances, facts);
  const trouble = said.trouble ?? usual;
  return { trouble, what: said.what, advice: said.advice + proxyHint(trouble, circumstances) };
}

/** What our own side saw before or behind the call. */
const bySymptom: Readonly<Record<UpstreamSymptom, Finding>> = {
  unsendable_key: [
    "unsendable_key",
    (about) => ({
      what: `The key of ${about.provider} contains characters that cannot be sent in a header.`,
      advice: `Keys contain only ASCII letters, digits and punctuation, with no spaces. Copy the key again${intoPlace(about)}.`,
    }),
  ],
  private_address: [
    "private_address",
    (about) => ({
      what: `${at(about)} is, or resolves to, a private network address.`,
      advice:
        about.isNew === true
          ? "If that is intended, allow private addresses for this provider."
          : `If that is intended, set allow_private on the provider.${edit(about)}`,
    }),
  ],
  forbidden_address: [
    "private_address",
    (about) => ({
      what: `${at(about)} resolves to a blocked address (link-local or cloud metadata).`,
      advice: `Use another address.${edit(about)}`,
    }),
  ],
  unknown_name: wrongAddress("The host name in ADDRESS cannot be resolved.", unknownNameAdvice),
  unconnected: wrongAddress("Could not connect to ADDRESS.", (about) =>
    about.isUsualAddress === true
      ? "Check this machine's network and firewall."
      : `Check the host and port in ${field(about)}, and any firewall.${edit(about)}`,
  ),
  not_an_api: wrongAddress("ADDRESS does not appear to be a model API. It did not return JSON."),
};

function byStatus(status: number): Finding | undefined {
  if (status === 407)
    return [
      "proxy",
      () => ({
        what: "The proxy requires a user name and password (407).",
        advice: proxyAdvice,
      }),
    ];
  if (status >= 300 && status < 400)
    return wrongAddress(
      `ADDRESS redirects to another address (${status}). Redirects are not followed.`,
      (about) => `Use the redirect target as the address.${edit(about)}`,
    );
  if (status === 405 || status === 501)
    return wrongAddress(`ADDRESS does not support this kind of call (${status}).`);
  return undefined;
}

const failed: Finding = [
  "failed",
  (about, facts) => ({
    what:
      facts.status !== undefined && facts.status >= 500
        ? `${about.provider} failed with status ${facts.status}.`
        : `${about.provider} returned an unexpected response${codeWords(facts)}.`,
    advice: "Try again. If it keeps failing, check the vendor's status page or the server's log.",
  }),
];

const byReason: Readonly<Record<UpstreamReason, Finding>> = {
  auth: [
    "bad_key",
    (about, facts) => ({
      what: `${about.provider} rejected the key${codeWords(facts)}.`,
      advice: keyAdvice(about),
    }),
  ],
  quota: [
    "no_credit",
    (about) => ({
      what: `The key works, but ${about.provider} reports no remaining credit or quota.`,
      advice: "Add credit or raise the limit in the vendor's console.",
    }),
  ],
  missing: ["model_missing", missing],
  limited: [
    "limited",
    (about) => ({
      what: `${about.provider} is rate limiting requests.`,
      advice: "Wait a minute and try again. The key and the address are correct.",
    }),
  ],
  overloaded: [
    "overloaded",
    (about) => ({
      what: `${about.provider} is overloaded or still loading the model.`,
      advice: "Try again in a moment.",
    }),
  ],
  timeout: [
    "timeout",
    (about, facts) => ({
      what: `${about.provider} did not respond ${timeWords(facts)}.`,
      advice:
        about.isUsualAddress === true
          ? "Try again. If it keeps failing, check the vendor's status page."
          : `The server may still be loading the model, so try again. If it keeps failing, check ${field(about)}.`,
    }),
  ],
  unreachable: wrongAddress("ADDRESS could not be reached."),
  refused: [
    "refused",
    (about, facts) => ({
      what: `${about.provider} rejected the call${codeWords(facts)}.`,
      advice:
        about.model === undefined
          ? addressAdvice(about)
          : `Check that ${about.model} supports this kind of call and that its endpoint here is correct.`,
    }),
  ],
  failed,
};

/** ` (401, invalid_api_key)`: the status and the vendor's code, never its sentences. */
function codeWords({ status, vendorCode = "" }: Facts): string {
  if (status === undefined) return "";
  // The code comes first; its type and the like only repeat it.
  const [code = ""] = vendorCode.split(" ");
  const isShown = code !== "" && code !== String(status) && code.length <= mostCodeChars;
  return ` (${isShown ? `${status}, ${code}` : status})`;
}

const mostCodeChars = 120;

/** ` within 2 s`, where the time limit was ours. */
function timeWords({ withinMs }: Facts): string {
  return withinMs === undefined ? "in time" : `within ${withinMs / 1000} s`;
}

function intoPlace({ keyVariable, isNew, file }: Circumstances): string {
  if (typeof keyVariable === "string")
    return ` into ${keyVariable} in the gateway's environment and restart the gateway`;
  if (isNew === true) return "";
  return file === undefined
    ? " and replace the provider's key"
    : ` into api_key in ${file} and apply the file`;
}

function keyAdvice({ keyVariable, isNew = false, file, model }: Circumstances): string {
  if (keyVariable === undefined && isNew) return "No key was provided. Add the API key.";
  if (keyVariable === undefined)
    return file === undefined
      ? "The provider has no key. Add one."
      : `The provider has no api_key. Add one in ${file}, such as api_key: \${NAME}, and apply the file.`;
  const key = keyVariable === null ? "the key" : `the key in ${keyVariable}`;
  const check =
    model === undefined
      ? `Check that ${key} is for this vendor, complete and not revoked.`
      : `Check that ${key} is for this vendor, complete, not revoked, and allowed to use this model.`;
  if (isNew) return check;
  return keyVariable === null
    ? `${check} If not, replace ${file === undefined ? "the stored key" : `api_key in ${file}`}.`
    : `${check} If not, correct it in the gateway's environment and restart the gateway.`;
}

/** 404 can also mean a wrong path: the rest of the reply decides. */
function missing(about: Circumstances, facts: Facts): Said {
  const { provider, model, offered, baseUrl } = about;
  // An address that the kind builds itself has no typo. A code that names a model, or a status other
  // than that of a wrong path, shows that the path exists.
  const isOfModel =
    namesModel.test(facts.vendorCode ?? "") || baseUrl === "" || facts.status !== 404;
  if (model === undefined || (offered === null && !isOfModel))
    return {
      trouble: "wrong_address",
      what: `${at(about)} was not found${codeWords(facts)}.`,
      advice: addressAdvice(about),
    };
  const some = offered?.slice(0, 8).join(", ") ?? "";
  const more = (offered?.length ?? 0) > 8 ? ", …" : "";
  return {
    what: `${provider} has no model "${model}", or this key cannot use it.`,
    advice: `${some === "" ? "" : `Available models: ${some}${more}. `}Correct the model name in the route.`,
  };
}

/** Words of code for a model, whatever a vendor calls one, that is not there. */
const namesModel = /model_?not_?(found|available|exist)|(unknown|invalid)_model|deploymentnotfound/;

const byNetwork: readonly Trouble[] = ["wrong_address", "certificate", "timeout"];

function proxyHint(trouble: Trouble, { proxyVariable }: Circumstances): string {
  if (proxyVariable === undefined || !byNetwork.includes(trouble)) return "";
  return ` Calls go through the proxy in ${proxyVariable}. To bypass it, set NO_PROXY for this host.`;
}
