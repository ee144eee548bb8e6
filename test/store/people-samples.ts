import type { Invite, Session, Token, User } from "../../src/people/store.ts";

export const userOf = (id: string, rest: Partial<User> = {}): User => ({
  id,
  email: `${id}@example.com`,
  name: "",
  passwordHash: "x",
  isOperator: false,
  createdAtMs: 1,
  ...rest,
});

const madeBy = { createdBy: "a test", createdById: "", createdAtMs: 1 };

export const inviteOf = (id: string, rest: Partial<Invite> = {}): Invite => ({
  id,
  hash: `hash of ${id}`,
  kind: "operator",
  expiresAtMs: 9,
  ...madeBy,
  ...rest,
});

export const sessionOf = (id: string, rest: Partial<Session> = {}): Session => ({
  id,
  userId: "user_1",
  hash: `hash of ${id}`,
  createdAtMs: 1,
  lastSeenMs: 1,
  expiresAtMs: 9,
  userAgent: "",
  address: "",
  ...rest,
});

export const tokenOf = (id: string, rest: Partial<Token> = {}): Token => ({
  id,
  name: "t",
  hash: `hash of ${id}`,
  hint: "x",
  role: "operator",
  scopes: [],
  ...madeBy,
  ...rest,
});
