import type { Factor } from "./factors/store.ts";

export interface User {
  readonly id: string;
  /** In lower case; unique. */
  readonly email: string;
  readonly name: string;
  /** "": none, since the user came through the identity provider. */
  readonly passwordHash: string;
  readonly isOperator: boolean;
  /** Whether groups at the identity provider alone give that role. */
  readonly isOperatorByIdentity?: boolean | undefined;
  readonly createdAtMs: number;
}

/** Who created a link: the command line of this machine, or a user. */
export const linkMakers = ["machine", "person"] as const;
export type LinkMaker = (typeof linkMakers)[number];

/** One browser that has signed in. Of its secret only a hash is kept. */
export interface Session {
  readonly id: string;
  readonly userId: string;
  readonly hash: string;
  readonly createdAtMs: number;
  readonly lastSeenMs: number;
  readonly expiresAtMs: number;
  readonly userAgent: string;
  readonly address: string;
  /** What was proved besides the password, or instead of it. */
  readonly factor?: Factor | undefined;
  /** When the person last proved who they are; absent in sessions from before it was recorded. */
  readonly verifiedAtMs?: number | undefined;
  /** Of the identity provider that it began with. */
  readonly issuer?: string | undefined;
  /** Whose link it began with. */
  readonly link?: LinkMaker | undefined;
}
