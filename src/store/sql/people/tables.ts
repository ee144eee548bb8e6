import { factors } from "../../../people/factors/store.ts";
import { accountRoles, type Scope } from "../../../people/role.ts";
import { inviteKinds } from "../../../people/store.ts";

/** The tables of people; see schema.ts. */
export interface PeopleTables {
  users: {
    id: string;
    email: string;
    name: string;
    password_hash: string;
    is_operator: number;
    /** 1: groups at the identity provider made them one. */
    operator_by_identity: number;
    created_at_ms: number;
  };
  memberships: {
    user_id: string;
    account_id: string;
    role: string;
    created_at_ms: number;
    /** 1: the role comes from groups at the identity provider. */
    by_identity: number;
    /** The lower role that was given by hand besides; null: none. */
    hand_role: string | null;
  };
  identities: {
    issuer: string;
    subject: string;
    user_id: string;
    email: string;
    id_token: string | null;
    created_at_ms: number;
    last_used_ms: number;
  };
  sessions: {
    id: string;
    user_id: string;
    hash: string;
    created_at_ms: number;
    last_seen_ms: number;
    expires_at_ms: number;
    user_agent: string;
    address: string;
    factor: string | null;
    verified_at_ms: number | null;
    issuer: string | null;
    /** Whose link began it; null: none. */
    link: string | null;
  };
  totps: { user_id: string; sealed_secret: string; last_step: number; created_at_ms: number };
  recovery_codes: { user_id: string; hash: string };
  passkeys: {
    id: string;
    user_id: string;
    name: string;
    public_key: string;
    counter: number;
    /** A JSON array. */
    transports: string;
    rp_id: string;
    is_backed_up: number;
    created_at_ms: number;
    last_used_ms: number | null;
  };
  /** So that each works once; until it would have expired. */
  used_tickets: { id: string; expires_at_ms: number };
  invites: {
    id: string;
    hash: string;
    kind: string;
    email: string | null;
    user_id: string | null;
    account_id: string | null;
    role: string | null;
    created_by: string;
    created_by_id: string;
    created_at_ms: number;
    expires_at_ms: number;
  };
  tokens: {
    id: string;
    name: string;
    hash: string;
    hint: string;
    account_id: string | null;
    role: string;
    /** JSON array. */
    scopes: string;
    created_by: string;
    created_by_id: string;
    created_at_ms: number;
    expires_at_ms: number | null;
    revoked_at_ms: number | null;
  };
  preferences: {
    user_id: string;
    time_zone: string;
    /** A JSON array. */
    dismissed: string;
  };
  saved_views: {
    id: string;
    user_id: string;
    account_id: string | null;
    page: string;
    name: string;
    search: string;
    created_at_ms: number;
  };
  audit: {
    id: string;
    at_ms: number;
    actor_kind: string;
    actor_id: string;
    actor_name: string;
    account_id: string | null;
    action: string;
    subject: string;
    /** JSON object. */
    detail: string;
    address: string;
  };
}

/** What a row may hold besides what we write: nothing. Who edits by hand gets the least. */
export const toRole = (text: string) => accountRoles.find((known) => known === text) ?? "viewer";
export const toKind = (text: string) => inviteKinds.find((known) => known === text) ?? "reset";
export const toFactor = (text: string | null) => factors.find((known) => known === text);
export const toScopes = (text: string) => JSON.parse(text) as readonly Scope[];
