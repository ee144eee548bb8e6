import { formatExact } from "../../format/moments.ts";

/** What was done, as it goes on after a name: “Ada created the key …”. */
export const actionWords: Readonly<Record<string, string>> = {
  "account.create": "created the account",
  "account.credit": "added credit to the account",
  "account.limit": "changed the limits of the account",
  "account.refund": "refunded money to the account",
  "account.resume": "resumed the account",
  "account.suspend": "suspended the account",
  "account.withdraw": "withdrew money from the account",
  "engine.pull": "had weights of an embedded model fetched",
  "key.create": "created the key",
  "key.limit": "changed the limits of the key",
  "key.playground": "created a playground key",
  "key.revoke": "revoked the key",
  "key.rotate": "replaced the key",
  "key.temporary": "created a 15-minute key",
  "key.update": "changed the key",
  "manifest.add": "added entries to the",
  "manifest.release": "released the entries of a file in the",
  "manifest.apply": "applied a file to the",
  "member.invite": "invited a member",
  "member.remove": "removed a member",
  "member.role": "changed the role of",
  "member.uninvite": "took an invitation back",
  "model.deprecate": "deprecated the model",
  "model.embed": "added the embedded models",
  "model.retire": "retired the model",
  "model.create": "created the model",
  "model.routes": "changed the routes of",
  "model.update": "changed the model",
  "operator.invite": "invited an operator",
  "operator.remove": "took the operator's role from",
  "operator.uninvite": "took back an operator's invitation",
  "person.join": "joined by a link",
  "person.password": "changed their password",
  "person.rename": "changed their name",
  "person.reset": "made a link for a new password of",
  "person.sessions": "ended all sessions of",
  "price.import": "took over list prices",
  "price.remove": "removed the price of",
  "price.set": "set a price of",
  "provider.add": "added the provider",
  "provider.models": "chose models of the provider",
  "provider.update": "changed the provider",
  "provider.remove": "removed the provider",
  "provider.reset": "put back in service",
  "provider.test": "tested the provider",
  "session.begin": "signed in",
  "session.end": "signed out",
  "session.failed": "failed to sign in as",
  "token.create": "created the token",
  "token.revoke": "revoked the token",
};

/** Also of actions that have no words here: `key.create` is then “key create”. */
export const wordsOf = (action: string) => actionWords[action] ?? action.replaceAll(/[._-]/g, " ");

export interface ActionGroup {
  readonly group: string;
  readonly items: readonly { readonly value: string; readonly label: string }[];
}

/** For the filter: by what they are about. */
export function actionGroups(): readonly ActionGroup[] {
  const groups = new Map<string, { value: string; label: string }[]>();
  for (const action of Object.keys(actionWords)) {
    const [about = ""] = action.split(".");
    const group = about[0]?.toUpperCase() + about.slice(1);
    groups.set(group, [...(groups.get(group) ?? []), { value: action, label: wordsOf(action) }]);
  }
  return [...groups].map(([group, items]) => ({ group, items }));
}

export type Detail = readonly (readonly [name: string, text: string])[];

/** The fields of what was told, in words; what is empty says nothing. */
export function detailOf(detail: Readonly<Record<string, unknown>>): Detail {
  return Object.entries(detail).flatMap(([name, value]) => {
    const text = textOf(value);
    return text === "" ? [] : [[name.replaceAll("_", " "), text] as const];
  });
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
