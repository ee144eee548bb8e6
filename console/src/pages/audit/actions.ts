import { formatExact } from "../../format/moments.ts";
import { formatUsdExact } from "../../format/money.ts";
import type { AuditRecord } from "./records.ts";

/** Actions as they follow a name: “Ada created the key …”. */
export const actionWords: Readonly<Record<string, string>> = {
  "account.create": "created the account",
  "account.credit": "added credit to",
  "account.limit": "changed the limits of the account",
  "account.refund": "issued a refund to",
  "account.resume": "resumed the account",
  "account.suspend": "suspended the account",
  "account.withdraw": "withdrew credit from",
  "engine.pull": "downloaded the weights",
  "key.create": "created the key",
  "key.limit": "changed the limits of the key",
  "key.playground": "created a playground key",
  "key.revoke": "revoked the key",
  "key.rotate": "rotated the key",
  "key.temporary": "created a 15-minute key",
  "key.update": "changed the key",
  "manifest.add": "added entries to the",
  "manifest.release": "released a file's entries in the",
  "manifest.apply": "applied a file to the",
  "member.invite": "created a member invitation for",
  "member.remove": "removed the member",
  "member.role": "changed the role of",
  "member.uninvite": "revoked the member invitation for",
  "model.deprecate": "deprecated the model",
  "model.embed": "added the embedded models",
  "model.retire": "retired the model",
  "model.create": "created the model",
  "model.routes": "changed the routes of",
  "model.update": "changed the model",
  "operator.invite": "created an operator invitation for",
  "operator.remove": "removed the operator role from",
  "operator.uninvite": "revoked the operator invitation for",
  "person.join": "joined",
  "person.password": "changed their password",
  "person.rename": "changed their name to",
  "person.reset": "created a password reset link for",
  "person.sessions": "signed out all sessions of",
  "price.import": "imported list prices",
  "price.remove": "removed the price of",
  "price.set": "set the price of",
  "provider.add": "added the provider",
  "provider.models": "added models from the provider",
  "provider.update": "changed the provider",
  "provider.remove": "removed the provider",
  "provider.reset": "resumed the target",
  "provider.test": "tested the provider",
  "session.begin": "signed in",
  "session.end": "signed out",
  "session.failed": "failed to sign in as",
  "token.create": "created the token",
  "token.revoke": "revoked the token",
};

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
    groups.set(group, [...(groups.get(group) ?? []), { value: action, label: wordsOf(action) }]);
  }
  return [...groups].map(([group, items]) => ({ group, items }));
}

/** The sentence is complete without the subject that the log has for these. */
const withoutSubject = ["person.password", "price.import"];
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

export type Detail = readonly (readonly [name: string, text: string])[];

type DetailedRecord = Pick<AuditRecord, "action" | "subject" | "detail">;

/** The fields of the detail as text; empty ones are omitted. */
export function detailOf({ action, subject, detail }: DetailedRecord): Detail {
  // The subject of an entry is its reference; without one it has its own ID.
  const isNamed = entryActions.includes(action) && !subject.startsWith("entry_");
  return Object.entries(isNamed ? { ...detail, reference: subject } : detail).flatMap(
    ([name, value]) => {
      const text = textOf(value);
      if (text === "") return [];
      if (name === "usd") return [["amount", formatUsdExact(text)] as const];
      return [[name.replaceAll("_", " "), text] as const];
    },
  );
}

const isMoment = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

function textOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (Array.isArray(value)) return value.map(textOf).join(", ");
  if (typeof value === "object")
    return Object.entries(value)
      .map(([name, inner]) => `${name} ${textOf(inner)}`)
      .join(", ");
  const text = String(value);
  return isMoment.test(text) ? formatExact(Date.parse(text)) : text;
}
