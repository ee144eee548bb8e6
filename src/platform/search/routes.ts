import { Type } from "../../base/json/type.ts";
import type { User } from "../../people/store.ts";
import { type Context, route } from "../context.ts";
import { fields, nullable, oneOf, text, type View } from "../http/schemas.ts";
import type { FoundKey } from "../keys/schemas.ts";
import { findIn, mostOfAKind } from "./find.ts";

const kinds = ["account", "model", "key", "person", "request", "rejection"] as const;

const result = Type.Object({
  kind: oneOf(kinds),
  id: Type.String(),
  name: Type.String(),
  detail: Type.String({ description: "For example an email address or a masked secret." }),
  account: nullable(
    Type.Object(
      { id: Type.String(), name: Type.String() },
      { description: "The account of a key, a request or a rejected call." },
    ),
  ),
});
type Result = View<typeof result>;
type Kind = (typeof kinds)[number];
type Names = ReadonlyMap<string, string>;

const query = fields({
  q: text({ least: 1, most: 100, about: "Words of a name, or an id or its beginning." }),
});
const reply = Type.Object({
  results: Type.Array(result, { description: `At most ${mostOfAKind} of a kind, best first.` }),
});

/** Names and ids only: each result leads to a page that has its own access rule. */
export const searchRoutes = [
  route("GET /api/search", {
    about: "Finds accounts, models, keys, users, requests and rejected calls by name or id.",
    access: "operator",
    query,
    reply,
    handle: (context, { query: { q } }) =>
      context.inTurn(async () => ({ results: await searchAll(context, q) })),
  }),
  route("GET /api/accounts/:account/search", {
    about: "Finds models, keys, members, requests and rejected calls of an account by name or id.",
    access: "viewer",
    query,
    reply,
    handle: (context, { query: { q } }) =>
      context.inTurn(async () => ({ results: await searchAccount(context, q) })),
  }),
] as const;

async function searchAll(context: Context, q: string): Promise<readonly Result[]> {
  const { operations, dependencies } = context;
  const { accounts, catalog, people } = dependencies;
  const wanted = { text: q, limit: mostOfAKind };
  const [{ requests, rejections }, owners, { models }, keys, users] = await Promise.all([
    callsLike(context, { q }),
    accounts.search(wanted),
    catalog.load(),
    operations.keys.search(wanted),
    people.store.search(wanted),
  ]);
  const found = [...requests, ...rejections, ...keys.map(toFoundKey)];
  const names = await namesOf(accounts, found);
  return [
    ...of("request", requests, names),
    ...of("rejection", rejections, names),
    ...of("account", owners.map(toFoundAccount)),
    ...of("model", findIn(models.map(toFoundModel), q)),
    ...of("key", keys.map(toFoundKey), names),
    ...of("person", users.map(toFoundPerson)),
  ];
}

async function searchAccount(context: Context, q: string): Promise<readonly Result[]> {
  const { operations, dependencies, account } = context;
  const names = new Map([[account.id, account.name]]);
  const wanted = { text: q, limit: mostOfAKind };
  const [{ requests, rejections }, models, keys, users] = await Promise.all([
    callsLike(context, { q, accountId: account.id }),
    operations.models.list({}),
    operations.keys.search({ ...wanted, account: account.id }),
    dependencies.people.store.search({ ...wanted, accountId: account.id }),
  ]);
  // As on the account's own page: models that nobody can call are the operator's business.
  const visible = models.filter(({ served, status }) => served || status === "retired");
  return [
    ...of("request", requests, names),
    ...of("rejection", rejections, names),
    ...of("model", findIn(visible.map(toFoundModel), q)),
    ...of("key", keys.map(toFoundKey), names),
    ...of("person", users.map(toFoundPerson)),
  ];
}

/** Of the few that were found, not of all. */
async function namesOf(
  accounts: Context["dependencies"]["accounts"],
  found: readonly Found[],
): Promise<Names> {
  const ids = new Set(found.flatMap(({ accountId }) => accountId ?? []));
  const owners = await Promise.all([...ids].map((id) => accounts.find(id)));
  return new Map(owners.flatMap((owner) => (owner === undefined ? [] : [[owner.id, owner.name]])));
}

interface Found {
  readonly id: string;
  readonly name: string;
  readonly detail: string;
  readonly accountId?: string;
}

function of(kind: Kind, found: readonly Found[], names?: Names): readonly Result[] {
  return found.map(({ id, name, detail, accountId }) => ({
    kind,
    id,
    name,
    detail,
    account: toAccount(accountId, names),
  }));
}

function toAccount(id: string | undefined, names: Names | undefined): Result["account"] {
  const name = id === undefined ? undefined : names?.get(id);
  return id === undefined || name === undefined ? null : { id, name };
}

const toFoundAccount = ({ id, name }: { readonly id: string; readonly name: string }) => ({
  id,
  name,
  detail: "",
});

const toFoundModel = ({ id, endpoint }: { readonly id: string; readonly endpoint: string }) => ({
  id,
  name: id,
  detail: endpoint,
});

const toFoundKey = ({ id, account, name, hint }: FoundKey): Found => ({
  id,
  name: name === "" ? hint : name,
  detail: hint,
  accountId: account,
});

const toFoundPerson = ({ id, name, email }: Pick<User, "id" | "name" | "email">) => ({
  id,
  name: name === "" ? email : name,
  detail: email,
});

/** Shorter beginnings match everything of a whole day. */
const requestPattern = /^req_[0-9a-z]{2,60}$/i;

const toFoundCall = (id: string, detail: string, accountId: string): Found => ({
  id,
  name: id,
  detail,
  accountId,
});

async function callsLike(
  { dependencies }: Context,
  { q, accountId }: { readonly q: string; readonly accountId?: string },
): Promise<{ readonly requests: readonly Found[]; readonly rejections: readonly Found[] }> {
  const idPrefix = q.trim().toLowerCase();
  if (!requestPattern.test(idPrefix)) return { requests: [], rejections: [] };
  const query = { idPrefix, accountId, limit: mostOfAKind };
  const [{ receipts }, { rejections }] = await Promise.all([
    dependencies.reports.receipts(query),
    dependencies.reports.rejections(query),
  ]);
  return {
    requests: receipts.map(({ id, model, accountId: of }) => toFoundCall(id, model, of)),
    rejections: rejections.map(({ id, status, code, accountId: of }) =>
      toFoundCall(id, `${status} ${code}`, of),
    ),
  };
}
