import { formatExact } from "../../format/moments.ts";
import { formatUsdExact } from "../../format/money.ts";
import { actionLabels } from "./action-labels.ts";
import type { AuditRecord } from "./records.ts";

/** Actions as they follow a name: “Ada created the key …”. */
export const actionWords: Readonly<Record<string, string>> = {
  "account.create": "created the account",
  "account.credit": "added credit to",
  "account.limit": "changed the limits of the account",
  "account.refund": "issued a refund to",
  "account.resume": "resumed the account",
  "account.retention": "changed how long receipts are kept for the account",
  "account.suspend": "suspended the account",
  "account.withdraw": "withdrew credit from",
  "engine.pull": "downloaded the model weights",
  "export.create": "added the export",
  "export.pause": "paused the export",
  "export.remove": "removed the export",
  "export.resume": "resumed the export",
  "factor.add": "added a second factor:",
  "factor.codes": "replaced their",
  "factor.remove": "removed a second factor:",
  "factor.reset": "removed the second factors of",
  "identity.connect": "connected the identity provider",
  "identity.disconnect": "disconnected the identity provider from",
  "identity.rights": "has another role because of groups at the identity provider",
  "identity.sign_out": "signed out at the identity provider",
  "key.create": "created the key",
  "key.limit": "changed the limits of the key",
  "key.pause": "paused the key",
  "key.playground": "created a temporary key for the playground",
  "key.resume": "resumed the key",
  "key.revoke": "revoked the key",
  "key.rotate": "rotated the key",
  "key.temporary": "created a temporary key",
  "key.update": "changed the key",
  "manifest.add": "added entries to the",
  "manifest.release": "stopped managing catalog entries by file",
  "manifest.apply": "applied a file to the",
  "member.invite": "created a member invitation for",
  "member.remove": "removed the member",
  "member.role": "changed the role of",
  "member.uninvite": "revoked the member invitation for",
  "model.deprecate": "deprecated the model",
  "model.embed": "added the embedded models",
  "model.retire": "retired the model",
  "model.create": "created the model",
  "model.alias": "changed the aliases of",
  "model.remove": "deleted the model",
  "model.rename": "renamed the model",
  "model.routes": "changed the routes of",
  "model.update": "changed the model",
  "node.drain": "drained the node",
  "node.resume": "resumed the node",
  "operator.invite": "created an operator invitation for",
  "operator.remove": "removed the operator role from",
  "operator.uninvite": "revoked the operator invitation for",
  "passkey.add": "added the passkey",
  "passkey.rejected": "used a passkey that may be a copy, as",
  "passkey.remove": "removed the passkey",
  "passkey.rename": "renamed a passkey to",
  "person.forgot": "requested a password reset link for",
  "person.join": "joined",
  "person.password": "changed their password",
  "person.rename": "changed their name to",
  "person.reset": "created a password reset link for",
  "person.sessions": "signed out all sessions of",
  "person.time_zone": "set their time zone to",
  "person.dismiss": "dismissed the checklist",
  "price.import": "imported list prices",
  "price.remove": "removed the price of",
  "price.set": "set the price of",
  "provider.add": "added the provider",
  "provider.models": "added models from the provider",
  "provider.update": "changed the provider",
  "provider.remove": "removed the provider",
  "response.purge": "deleted the stored responses of",
  "provider.key.add": "added a key to the provider",
  "provider.key.remove": "removed a key of the provider",
  "provider.key.update": "changed a key of the provider",
  "provider.reset": "retried the target",
  "provider.test": "tested the provider",
  "secret.cancel": "undid the rotation of the master secret, back to",
  "secret.finish": "finished the rotation to the master secret",
  "secret.rotate": "rotated the master secret to",
  "session.begin": "signed in",
  "session.end": "signed out",
  "session.end_others": "signed out everywhere else",
  "session.factor_failed": "failed the second factor as",
  "session.failed": "failed to sign in as",
  "session.verify": "confirmed their identity",
  "token.create": "created the token",
  "token.revoke": "revoked the token",
  "view.remove": "deleted the saved view",
  "view.save": "saved the view",
  "view.update": "changed the saved view",
};

/** With the amount in the sentence: “added $25.00 credit to”. */
const amountWords: Readonly<Record<string, (usd: string) => string>> = {
  "account.credit": (usd) => `added ${usd} credit to`,
  "account.refund": (usd) => `refunded ${usd} to`,
  "account.withdraw": (usd) => `withdrew ${usd} from`,
};

/** Of what people do to themselves; the subject is left out then. */
const ownWords: Readonly<Record<string, string>> = {
  "member.remove": "left the account",
  "member.role": "changed their own role",
  "operator.remove": "gave up the operator role",
  "person.sessions": "signed out everywhere",
};

type SpokenRecord = Pick<AuditRecord, "action" | "actor" | "subject" | "detail">;

/** What an actor did, up to the subject. */
export function sentenceOf({ action, actor, subject, detail }: SpokenRecord): string {
  const own = actor === subject ? ownWords[action] : undefined;
  if (own !== undefined) return own;
  const { usd } = detail;
  const words = amountWords[action];
  return words === undefined || typeof usd !== "string"
    ? wordsOf(action)
    : words(formatUsdExact(usd));
}

/** Falls back to the action's name: `key.create` becomes “key create”. */
export const wordsOf = (action: string) => actionWords[action] ?? action.replaceAll(/[._-]/g, " ");

export interface ActionGroup {
  readonly group: string;
  readonly items: readonly { readonly value: string; readonly label: string }[];
}

/** For the filter, grouped by resource. */
export function actionGroups(): readonly ActionGroup[] {
  const groups = new Map<string, { value: string; label: string }[]>();
  for (const action of Object.keys(actionWords)) {
    const [about = ""] = action.split(".");
    const group = about[0]?.toUpperCase() + about.slice(1);
    groups.set(group, [
      ...(groups.get(group) ?? []),
      { value: action, label: actionLabels[action] ?? wordsOf(action) },
    ]);
  }
  return [...groups].map(([group, items]) => ({ group, items }));
}

/** The sentence is complete without the subject that the log has for these. */
const withoutSubject = ["person.password", "price.import", "manifest.release"];
const entryActions = ["account.credit", "account.refund", "account.withdraw"];

interface Subject {
  readonly name: string;
  readonly id: string;
}

/** What was changed, by name where one is known; undefined where the sentence needs no subject. */
export function subjectOf(
  record: Pick<AuditRecord, "action" | "actor" | "account" | "subject">,
  names: ReadonlyMap<string, string>,
): Subject | undefined {
  const { action, actor, account, subject } = record;
  if (withoutSubject.includes(action)) return undefined;
  // The log has the reference of an entry; people look for the account.
  if (entryActions.includes(action) && account !== null)
    return { name: names.get(account) ?? account, id: account };
  if ([actor, account, ""].includes(subject)) return undefined;
  // An invitation without an email has only its ID.
  if (subject.startsWith("invite_")) return { name: "anyone with the link", id: subject };
  return { name: names.get(subject) ?? subject, id: subject };
}

export interface DetailField {
  readonly name: string;
  readonly text: string;
  /** What it was before, where the log has it. */
  readonly before?: string;
}

type DetailedRecord = Pick<AuditRecord, "action" | "subject" | "detail">;
type Names = ReadonlyMap<string, string>;

/** The fields of the detail as text; empty ones and those that did not change are omitted. */
export function detailOf(
  { action, subject, detail: given }: DetailedRecord,
  names: Names = new Map(),
): readonly DetailField[] {
  const { before, usd: _, ...rest } = given;
  const detail = entryActions.includes(action) ? rest : omitBefore(given);
  const earlier = isRecord(before) ? before : {};
  // The subject of an entry is its reference; without one it has its own ID.
  const isNamed = entryActions.includes(action) && !subject.startsWith("entry_");
  const named = { ...emptyOf(earlier), ...detail, ...(isNamed ? { reference: subject } : {}) };
  return Object.entries(named).flatMap(([name, value]) => {
    const text = textOf(value, names);
    const label = name.replaceAll("_", " ");
    if (!Object.hasOwn(earlier, name)) return text === "" ? [] : [{ name: label, text }];
    const was = textOf(earlier[name], names) || none;
    const is = text || none;
    return was === is ? [] : [{ name: label, text: is, before: was }];
  });
}

const none = "none";

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const emptyOf = (earlier: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.keys(earlier).map((name) => [name, null]));

function omitBefore(detail: Readonly<Record<string, unknown>>) {
  const { before: _, ...rest } = detail;
  return rest;
}

const isMoment = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

function textOf(value: unknown, names: Names): string {
  if (value === null || value === undefined) return "";
  if (Array.isArray(value)) return value.map((one) => textOf(one, names)).join(", ");
  if (isRecord(value)) {
    const { provider, model, ...rest } = value;
    const isRoute = typeof provider === "string" && typeof model === "string";
    const fields = Object.entries(isRoute ? rest : value).flatMap(([name, inner]) => {
      const text = textOf(inner, names);
      return text === "" ? [] : [`${name.replaceAll("_", " ")} ${text}`];
    });
    if (!isRoute) return fields.join(", ");
    return `${provider}/${model}${fields.length === 0 ? "" : ` (${fields.join(", ")})`}`;
  }
  const text = String(value);
  return isMoment.test(text) ? formatExact(Date.parse(text)) : (names.get(text) ?? text);
}
