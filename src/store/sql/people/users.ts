import type { User } from "../../../people/store.ts";
import type { Tables } from "../schema.ts";

export function toUser(row: Tables["users"]): User {
  return {
    id: row.id,
    email: row.email,
    name: row.name,
    passwordHash: row.password_hash,
    isOperator: row.is_operator === 1,
    isOperatorByIdentity: row.operator_by_identity === 1 || undefined,
    createdAtMs: row.created_at_ms,
  };
}

export function fromUser(user: User): Tables["users"] {
  return {
    id: user.id,
    email: user.email,
    name: user.name,
    password_hash: user.passwordHash,
    is_operator: user.isOperator ? 1 : 0,
    operator_by_identity: 0,
    created_at_ms: user.createdAtMs,
  };
}
