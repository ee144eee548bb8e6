import { outside } from "./compare-schemas.ts";
import {
  asFields,
  asList,
  deref,
  isSame,
  lateDeprecation,
  lost,
  mayGo,
  type Schema,
} from "./schema-tree.ts";

export interface OperationPair {
  readonly old: Schema;
  readonly now: Schema;
  readonly where: string;
  readonly before: Schema;
  readonly after: Schema;
  /** YYYY-MM-DD */
  readonly today: string;
}

/** What breaks a caller of one operation; both hold what they take over from their documents. */
export function operationChanges(pair: OperationPair): readonly string[] {
  const { old, now, where, today } = pair;
  return [
    ...(old["operationId"] === now["operationId"] ? [] : [`${where}: operationId has changed`]),
    ...lateDeprecation({ old, now, today }, where),
    ...securityChanges(pair),
    ...serverChanges(pair),
    ...parameterChanges(pair),
    ...requestChanges(pair),
    ...replyChanges(pair),
  ];
}

/** Every way in which a caller could prove who they are must be left. */
function securityChanges({ old, now, where, before, after }: OperationPair): readonly string[] {
  const left = waysIn(now["security"], after);
  return waysIn(old["security"], before).every((way) => left.includes(way))
    ? []
    : [`${where}: security has changed`];
}

/** Each as text, with what its schemes are: under the same name may stand another one. */
function waysIn(security: unknown, document: Schema): readonly string[] {
  const schemes = asFields(asFields(document["components"])["securitySchemes"]);
  const ways = asList(security).map((way) =>
    JSON.stringify(
      Object.entries(asFields(way))
        .map(([name, scopes]) => {
          const { description: _words, ...scheme } = deref(schemes[name], document);
          return [name, scopes, Object.entries(scheme).toSorted()];
        })
        .toSorted(),
    ),
  );
  return ways.length === 0 ? ["[]"] : ways;
}

/** Addresses may move, but not to another path: it holds the major version. */
function serverChanges({ old, now, where }: OperationPair): readonly string[] {
  const was = serverPaths(old["servers"]);
  const is = serverPaths(now["servers"]);
  return was[0] === is[0] && was.every((path) => is.includes(path))
    ? []
    : [`${where}: the path of its server was ${was.join(", ")} and is ${is.join(", ")}`];
}

function serverPaths(servers: unknown): readonly string[] {
  const paths = asList(servers).map((server) => {
    const { url, variables } = asFields(server);
    const filled = String(url).replaceAll(/\{(\w+)\}/g, (_, name: string) =>
      String(asFields(asFields(variables)[name])["default"]),
    );
    // Servers may be told by their path alone.
    return new URL(filled, "http://server.test").pathname.replace(/\/$/, "");
  });
  return paths.length === 0 ? [""] : paths;
}

function parameterChanges(pair: OperationPair): readonly string[] {
  const { where, before, after, today } = pair;
  const was = parametersOf(pair.old, before);
  const is = parametersOf(pair.now, after);
  const found: string[] = [];
  for (const [name, now] of is)
    if (now["required"] === true && was.get(name)?.["required"] !== true)
      found.push(`${where}: ${name} is required now`);
  for (const [name, old] of was) {
    const at = `${where} ${name}`;
    const now = is.get(name);
    if (now === undefined) {
      if (!mayGo(old, today)) found.push(`${at} is gone`);
      continue;
    }
    for (const form of ["style", "explode", "allowReserved"])
      if (!isSame(old[form], now[form])) found.push(`${at}: ${form} has changed`);
    found.push(
      ...lateDeprecation({ old, now, today }, at),
      ...widened(pair, { old: schemaOf(old), now: schemaOf(now), at }),
    );
  }
  return found;
}

/** By place and name; those of an operation stand behind those of its path, and win. */
function parametersOf(operation: Schema, document: Schema): ReadonlyMap<string, Schema> {
  return new Map(
    asList(operation["parameters"])
      .map((parameter) => deref(parameter, document))
      .map((parameter) => [`${String(parameter["in"])} ${String(parameter["name"])}`, parameter]),
  );
}

function schemaOf(parameter: Schema): Schema {
  const [media] = Object.values(asFields(parameter["content"]));
  return asFields(parameter["schema"] ?? media?.["schema"]);
}

function requestChanges(pair: OperationPair): readonly string[] {
  const { old, now, where, before, after } = pair;
  const at = `${where} request`;
  const was = deref(old["requestBody"], before);
  const is = deref(now["requestBody"], after);
  return [
    ...(is["required"] === true && was["required"] !== true ? [`${at}: a body is required`] : []),
    ...contentPairs(was, is).flatMap(([type, oldSchema, nowSchema]) =>
      nowSchema === undefined
        ? [`${at}: ${type} is gone`]
        : widened(pair, { old: oldSchema, now: nowSchema, at }),
    ),
  ];
}

function replyChanges(pair: OperationPair): readonly string[] {
  const { old, now, where, before, after } = pair;
  return Object.entries(asFields(old["responses"])).flatMap(([status, oldReply]) => {
    const at = `${where} ${status}`;
    const nowReply = asFields(now["responses"])[status];
    if (nowReply === undefined) return [`${at} is gone`];
    const was = deref(oldReply, before);
    const is = deref(nowReply, after);
    return [
      ...headerChanges(pair, { was, is, at }),
      ...contentPairs(was, is).flatMap(([type, oldSchema, nowSchema]) =>
        nowSchema === undefined
          ? [`${at}: ${type} is gone`]
          : narrowed(pair, { old: oldSchema, now: nowSchema, at }),
      ),
    ];
  });
}

function headerChanges(
  pair: OperationPair,
  { was, is, at }: { readonly was: Schema; readonly is: Schema; readonly at: string },
): readonly string[] {
  const { before, after, today } = pair;
  const left = new Map(
    Object.entries(asFields(is["headers"])).map(([name, header]) => [name.toLowerCase(), header]),
  );
  return Object.entries(asFields(was["headers"])).flatMap(([name, header]) => {
    const where = `${at}: header ${name}`;
    const old = deref(header, before);
    const kept = left.get(name.toLowerCase());
    if (kept === undefined) return mayGo(old, today) ? [] : [`${where} is gone`];
    const now = deref(kept, after);
    const isUnsure = old["required"] === true && now["required"] !== true;
    return [
      ...(isUnsure ? [`${where} is not sure to be there`] : []),
      ...lateDeprecation({ old, now, today }, where),
      ...narrowed(pair, { old: schemaOf(old), now: schemaOf(now), at: where }),
    ];
  });
}

interface SchemaPair {
  readonly old: Schema;
  readonly now: Schema;
  readonly at: string;
}

/** What callers send: all that was allowed still is. */
function widened(pair: OperationPair, { old, now, at }: SchemaPair): readonly string[] {
  const { before, after, today } = pair;
  const both = { inner: old, outer: now, innerRoot: before, outerRoot: after };
  return [
    ...outside({ ...both, mayBeMissing: () => false }, at),
    ...lost({ old, now, oldRoot: before, nowRoot: after, today }, at),
  ];
}

/** What callers get: nothing that was not allowed before. */
function narrowed(pair: OperationPair, { old, now, at }: SchemaPair): readonly string[] {
  const { before, after, today } = pair;
  const both = { inner: now, outer: old, innerRoot: after, outerRoot: before };
  return [
    ...outside({ ...both, mayBeMissing: (field) => mayGo(field, today) }, at),
    ...lost({ old, now, oldRoot: before, nowRoot: after, today }, at),
  ];
}

function contentPairs(
  was: Schema,
  is: Schema,
): readonly (readonly [string, Schema, Schema | undefined])[] {
  return Object.entries(asFields(was["content"])).map(([type, media]) => {
    const now = asFields(is["content"])[type];
    // A type without a schema may be anything.
    return [type, asFields(media["schema"]), now === undefined ? now : asFields(now["schema"])];
  });
}
