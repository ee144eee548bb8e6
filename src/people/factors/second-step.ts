import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from "@simplewebauthn/server";
import { failedFactor, type People, type Visitor } from "../people.ts";
import { newSecret } from "../session-secrets.ts";
import type { User } from "../store.ts";
import { networkOf } from "../throttle.ts";
import { newChallenge, type RelyingParty, requestOptions, WrongPasskey } from "./passkeys.ts";
import type { Asking, Prover } from "./prover.ts";
import {
  type FactorsOf,
  hasFactor,
  type Proof,
  type ProofOutcome,
  type SignOutMark,
} from "./store.ts";
import { markOf, type PendingInvite, type Ticket, TicketExpired, type Tickets } from "./tickets.ts";

/** What a browser or program needs for the second step. */
export interface Challenge {
  readonly ticket: string;
  readonly expiresAtMs: number;
  /** For a cookie: the ticket is of no use without it. */
  readonly holder: string;
  /** What the person can give. */
  readonly ways: readonly ("totp" | "passkey" | "recovery")[];
  /** For the browser's passkeys; absent where none of the person's works at this address. */
  readonly options?: PublicKeyCredentialRequestOptionsJSON | undefined;
}

interface Held {
  readonly ticket: string;
  readonly holder: string;
}

type Answering = Asking & Held;

/** What a right answer leads to. */
export interface Proven {
  readonly user: User;
  readonly proof: Proof;
  readonly invite: PendingInvite | undefined;
  /** Of the identity provider that took the first step. */
  readonly issuer: string | undefined;
}

/** Writes what was proven, which uses it up. */
type Use = (proven: Proven) => Promise<ProofOutcome>;

/** The second step of a sign-in, and the sign-in with a passkey alone. */
export class SecondStep {
  readonly #people: People;
  readonly #tickets: Tickets;
  readonly #prover: Prover;

  constructor(people: People, tickets: Tickets, prover: Prover) {
    this.#people = people;
    this.#tickets = tickets;
    this.#prover = prover;
  }

  /** For a user whose password was right; undefined: the password is enough. */
  async challenge(
    user: User,
    options: {
      readonly party: RelyingParty | undefined;
      readonly invite?: PendingInvite | undefined;
      readonly issuer?: string | undefined;
      readonly voidedBy?: SignOutMark | undefined;
    },
  ): Promise<Challenge | undefined> {
    const { party, ...reached } = options;
    const known = await this.#people.store.factors(user.id);
    if (!hasFactor(known)) return undefined;
    const passkeys = known.passkeys.filter(({ rpId }) => rpId === party?.id);
    const challenge = newChallenge();
    const passwordMark = markOf(user.passwordHash);
    const content = { userId: user.id, passwordMark, challenge, ...reached };
    const holder = newSecret();
    const nowMs = this.#people.clock.nowMs();
    return {
      ...this.#tickets.issue("second step", content, { holder, nowMs }),
      holder,
      ways: waysOf(known, passkeys.length > 0),
      options:
        party === undefined || passkeys.length === 0
          ? undefined
          : await requestOptions({ party, challenge, allowed: passkeys }),
    };
  }

  /** For a visitor who has not said who they are. */
  async passkeyChallenge(party: RelyingParty): Promise<Challenge> {
    const challenge = newChallenge();
    const holder = newSecret();
    const nowMs = this.#people.clock.nowMs();
    return {
      ...this.#tickets.issue("passkey sign-in", { challenge }, { holder, nowMs }),
      holder,
      ways: ["passkey"],
      options: await requestOptions({ party, challenge, allowed: undefined }),
    };
  }

  /** After the password. */
  async finish(given: Answering, use: Use): Promise<void> {
    const ticket = this.#open("second step", given);
    const user = await this.#people.store.user(ticket.userId ?? "");
    if (user === undefined || markOf(user.passwordHash) !== ticket.passwordMark)
      throw new TicketExpired();
    const { used, challenge, invite, issuer } = ticket;
    await this.#prover.prove({ ...given, user, ticket: used, challenge, isAlone: false }, (proof) =>
      use({ user, proof, invite, issuer }),
    );
  }

  /** With a passkey that has checked its person: it stands for the password and the second factor. */
  async finishPasskey(
    given: Omit<Answering, "answer"> & { readonly passkey: AuthenticationResponseJSON },
    use: Use,
  ): Promise<void> {
    const { visitor, passkey, ...rest } = given;
    const nowMs = this.#people.clock.nowMs();
    const succeeded = await this.#people.limits.admitVisitor(networkOf(visitor.address), nowMs);
    const { used, challenge } = this.#open("passkey sign-in", given);
    const user = await this.#userOf(passkey, visitor);
    await this.#prover.prove(
      { ...rest, visitor, answer: { passkey }, user, ticket: used, challenge, isAlone: true },
      (proof) => use({ user, proof, invite: undefined, issuer: undefined }),
    );
    await succeeded();
  }

  async #userOf(passkey: AuthenticationResponseJSON, { address }: Visitor): Promise<User> {
    const { store } = this.#people;
    const known = await store.passkey(passkey.id);
    const user = known && (await store.user(known.userId));
    if (user !== undefined) return user;
    await this.#people.countFailure(failedFactor, undefined, address);
    throw new WrongPasskey(
      "This passkey is not known here. Sign in with your password, or use another passkey.",
    );
  }

  #open(purpose: "second step" | "passkey sign-in", { ticket, holder }: Held): Ticket {
    return this.#tickets.open(purpose, ticket, { holder, nowMs: this.#people.clock.nowMs() });
  }
}

function waysOf({ totp, recoveryCodes }: FactorsOf, hasPasskey: boolean): Challenge["ways"] {
  return [
    ...(hasPasskey ? (["passkey"] as const) : []),
    ...(totp === undefined ? [] : (["totp"] as const)),
    ...(recoveryCodes === 0 ? [] : (["recovery"] as const)),
  ];
}
