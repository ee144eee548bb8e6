import { type AuditActor, type AuditRecord, anOperator } from "../../base/audit.ts";
import type { Clock } from "../../base/clock.ts";
import { newId } from "../../base/ids.ts";
import type { Maker } from "../../people/invites.ts";

/** Who makes a change, and from which address. */
export interface Actor extends AuditActor {
  readonly address: string;
}

export const commandLine: Actor = { kind: "command", id: "", name: "command line", address: "" };
/** What a start does by itself: applies the config file, creates the first account and key. */
export const serverStart: Actor = { kind: "command", id: "", name: "start", address: "" };

type Detail = Readonly<Record<string, unknown>>;

/** What an operation adds to what its declaration says. */
export interface Audited {
  /** The id or name of what was changed. */
  readonly subject: string;
  readonly accountId?: string | undefined;
  readonly detail?: Detail;
  /** Where the declaration has more than one action: which. */
  readonly kind?: string;
  /** The actor after the change, for example after a sign-in. */
  readonly actor?: AuditActor;
}

/** Given to an operation that changes something: the store's write needs the record. */
export interface Author {
  readonly actor: Actor;
  readonly audit: (of: Audited) => AuditRecord;
}

/** How the audit log has a change; never a secret in it. */
export interface Audit<Input> {
  /** Such as `key.create`, or one for each kind of it. */
  readonly action: string | Readonly<Record<string, string>>;
  readonly detail?: (input: Input) => Detail;
}

/** For details: drops fields that the subject repeats and fields that must not be recorded. */
export function omit<Input extends object, Name extends keyof Input>(
  input: Input,
  ...names: readonly Name[]
): Omit<Input, Name> {
  const kept = Object.entries(input).filter(([name]) => !names.some((known) => known === name));
  return Object.fromEntries(kept) as Omit<Input, Name>;
}

/** For details: what the fields of a change were before it, under the same names; null: none. */
export function before(
  state: Readonly<Record<string, unknown>>,
  changed: object,
): { readonly before: Detail } {
  const named = Object.entries(changed).filter(([, value]) => value !== undefined);
  return { before: Object.fromEntries(named.map(([name]) => [name, state[name] ?? null])) };
}

type Method = (input: never, author: never) => Promise<unknown>;
type InputOf<T> = T extends (input: infer Input) => Promise<unknown> ? Input : never;
type ResultOf<T> = T extends (input: never) => Promise<infer Result> ? Result : never;

/** Of every operation of a resource; null: it changes nothing. */
export type Audits<Operations> = {
  readonly [Name in keyof Operations]: Audit<InputOf<Operations[Name]>> | null;
};

/** The operations as they are written: those that change something need to know for whom. */
export type Unbound<Operations, Declared> = {
  readonly [Name in keyof Operations]: Name extends keyof Declared
    ? Declared[Name] extends null
      ? Operations[Name]
      : (input: InputOf<Operations[Name]>, author: Author) => Promise<ResultOf<Operations[Name]>>
    : never;
};

/** The operations as they are used: on behalf of a known actor. */
export type Bound<Implementation> = {
  readonly [Name in keyof Implementation]: Implementation[Name] extends (
    input: infer Input,
    ...rest: never[]
  ) => infer Result
    ? (input: Input) => Result
    : never;
};

export interface Binding {
  readonly actor: Actor;
  readonly clock: Clock;
  /** Called when a change has been made, before its result is given. */
  readonly after?: (() => Promise<void>) | undefined;
}

/** The operations of one resource, in the name of an actor. */
export function bind(
  operations: Readonly<Record<string, Method>>,
  audits: Readonly<Record<string, Audit<never> | null>>,
  binding: Binding,
): Readonly<Record<string, Method>> {
  const bound = Object.entries(operations).map(([name, method]) => {
    const declared = audits[name];
    if (declared === null || declared === undefined) return [name, method];
    const run = method as (input: unknown, author: Author) => Promise<unknown>;
    const change = async (input: never) => {
      const result = await run(input, toAuthor(declared, input, binding));
      await binding.after?.();
      return result;
    };
    return [name, change];
  });
  return Object.fromEntries(bound);
}

function toAuthor(declared: Audit<never>, input: never, { actor, clock }: Binding): Author {
  return {
    actor,
    audit({ subject, accountId, detail, kind = "", actor: became = actor }) {
      const { action } = declared;
      const name = typeof action === "string" ? action : action[kind];
      if (name === undefined) throw new Error(`no audit action is declared for kind "${kind}"`);
      const atMs = clock.nowMs();
      return {
        id: newId("audit", atMs),
        atMs,
        actor: { kind: became.kind, id: became.id, name: became.name },
        accountId,
        action: name,
        subject,
        detail: { ...declared.detail?.(input), ...detail },
        address: actor.address,
      };
    },
  };
}

/** The creator of a link or a token, as members see it: operators stay anonymous. */
export function makerOf({ kind, id, name }: AuditActor): Maker {
  return { id, name: kind === "operator" ? anOperator : name };
}
