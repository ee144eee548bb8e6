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

/** Says in plain words why a call failed. */
export function diagnose(thrown: unknown, circumstances: Circumstances): Diagnosis {
  const fault = faultOf(thrown);
  if (fault !== undefined) {
    const { kind, message, advice } = fault;
    const mending = kind === "settings" || kind === "credentials" ? edit(circumstances) : "";
    return { trouble: kind, what: message, advice: (advice + mending).trim() };
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
      what: `The key of ${about.provider} has characters that cannot be sent: it was not copied as it is.`,
      advice: `Keys have letters of the English alphabet, digits and signs, without blanks. Copy it once more${intoPlace(about)}.`,
    }),
  ],
  private_address: [
    "private_address",
    (about) => ({
      what: `${at(about)} is, or leads to, an address of your own network.`,
      advice:
        about.isNew === true
          ? "If that is meant, say so with --allow-private."
          : `If that is meant, set allow_private of the provider.${edit(about)}`,
    }),
  ],
  forbidden_address: [
    "private_address",
    (about) => ({
      what: `${at(about)} leads to an address that is never called (link-local, or where a cloud keeps credentials).`,
      advice: `Use another address.${edit(about)}`,
    }),
  ],
  unknown_name: wrongAddress("The name in ADDRESS is not known.", unknownNameAdvice),
  unconnected: wrongAddress("No connection to ADDRESS could be made.", (about) =>
    about.isUsualAddress === true
      ? "Check the network of this machine: is a firewall in between?"
      : `Check host and port of ${field(about)}, and whether a firewall is in between.${edit(about)}`,
  ),
  not_an_api: wrongAddress("What answers at ADDRESS is no API for models: it sent no JSON."),
};

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
  (about, facts) => ({
    what:
      facts.status !== undefined && facts.status >= 500
        ? `${about.provider} itself failed (it answered ${facts.status}).`
        : `${about.provider} did not answer as expected${codeWords(facts)}.`,
    advice: "Try again; if it stays so, look at the status page of the vendor or the server's log.",
  }),
];

const byReason: Readonly<Record<UpstreamReason, Finding>> = {
  auth: [
    "bad_key",
    (about, facts) => ({
      what: `${about.provider} does not accept the key${codeWords(facts)}.`,
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
    (about, facts) => ({
      what: `${about.provider} did not answer ${timeWords(facts)}.`,
      advice:
        about.isUsualAddress === true
          ? "Try again; if it stays so, look at the status page of the vendor."
          : `A server that loads its model first may need longer: try again. Else check ${field(about)}.`,
    }),
  ],
  unreachable: wrongAddress("ADDRESS could not be reached."),
  refused: [
    "refused",
    (about, facts) => ({
      what: `${about.provider} refused the call${codeWords(facts)}.`,
      advice:
        about.model === undefined
          ? addressAdvice(about)
          : `Is ${about.model} a model for this kind of call? Check the endpoint of its model here.`,
    }),
  ],
  failed,
};

/** ` (401, invalid_api_key)`: the status and the vendor's words of code, never its sentences. */
function codeWords({ status, vendorCode = "" }: Facts): string {
  if (status === undefined) return "";
  const isShown = vendorCode !== "" && vendorCode.length <= mostCodeChars;
  return ` (${isShown ? `${status}, ${vendorCode}` : status})`;
}

const mostCodeChars = 120;

/** ` within 2 s`, where the time limit was ours. */
function timeWords({ withinMs }: Facts): string {
  return withinMs === undefined ? "in time" : `within ${withinMs / 1000} s`;
}

function intoPlace({ keyVariable, isNew, file }: Circumstances): string {
  if (typeof keyVariable === "string")
    return ` into ${keyVariable} where the gateway runs, and restart the gateway`;
  if (isNew === true) return "";
  return file === undefined
    ? ", and replace the key of the provider"
    : ` to api_key in ${file}, and apply the file`;
}

function keyAdvice({ keyVariable, isNew = false, file }: Circumstances): string {
  if (keyVariable === undefined && isNew)
    return "It was given no key: name its variable with --key-env, or hand it over with --key-stdin.";
  if (keyVariable === undefined)
    return file === undefined
      ? "It has no key: give the provider one."
      : `It has no api_key: add one in ${file}, such as api_key: \${NAME}, and apply the file.`;
  const check = "Is it of this vendor, whole, and not revoked? May it use this model?";
  if (isNew) return keyVariable === null ? check : `Check ${keyVariable}. ${check}`;
  return keyVariable === null
    ? `${check} If not, replace the stored key${file === undefined ? "" : ` at api_key in ${file}`}.`
    : `Check ${keyVariable} where the gateway runs, then restart it. ${check}`;
}

/** 404 is for a wrong path as well: what else the server tells decides. */
function missing(about: Circumstances, facts: Facts): Said {
  const { provider, model, offered, baseUrl } = about;
  // An address that the kind makes by itself has no slip; who says "model", or has another status
  // for it than that of a wrong path, has found the path.
  const isOfModel =
    namesModel.test(facts.vendorCode ?? "") || baseUrl === "" || facts.status !== 404;
  if (model === undefined || (offered === null && !isOfModel))
    return {
      trouble: "wrong_address",
      what: `Nothing is found at ${at(about)}${codeWords(facts)}.`,
      advice: addressAdvice(about),
    };
  const some = offered?.slice(0, 8).join(", ") ?? "";
  const more = (offered?.length ?? 0) > 8 ? ", …" : "";
  return {
    what: `${provider} has no model ${model}, or this key may not use it.`,
    advice: `${some === "" ? "" : `It offers: ${some}${more}. `}Correct the model of the route.`,
  };
}

/** Words of code for a model, whatever a vendor calls one, that is not there. */
const namesModel = /model_?not_?(found|available|exist)|(unknown|invalid)_model|deploymentnotfound/;

const byNetwork: readonly Trouble[] = ["wrong_address", "certificate", "timeout"];

function proxyHint(trouble: Trouble, { proxyVariable }: Circumstances): string {
  if (proxyVariable === undefined || !byNetwork.includes(trouble)) return "";
  return ` ${proxyVariable} is set, so calls go through that proxy: if that is not meant, set NO_PROXY for this host.`;
}
