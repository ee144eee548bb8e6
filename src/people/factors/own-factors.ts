import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from "@simplewebauthn/server";
import type { AuditRecord } from "../../base/audit.ts";
import { invalid, Problem } from "../../base/problem.ts";
import { checkName, type People, type Person } from "../people.ts";
import { needsFactor } from "../session-policy.ts";
import {
  newChallenge,
  type RelyingParty,
  registrationOptions,
  requestOptions,
  verifyRegistration,
} from "./passkeys.ts";
import { type Asking, type Prover, totpPlace, WrongCode, wrongCode } from "./prover.ts";
import { newRecoveryCodes, recoveryHashes } from "./recovery-codes.ts";
import { hasFactor, mostPasskeys } from "./store.ts";
import { type Sealing, TicketExpired, type Tickets } from "./tickets.ts";
import { matchingStep, newTotpSecret, totpUri } from "./totp.ts";

const issuer = "svc gateway";

type Who = Pick<Person, "user" | "session">;

export interface TotpSetup {
  readonly ticket: string;
  /** For people who cannot scan the code. */
  readonly secret: string;
  readonly uri: string;
}

/** The factors of a person who is signed in: set up, shown, removed. */
export class OwnFactors {
  readonly #people: People;
  readonly #sealing: Sealing;
  readonly #tickets: Tickets;
  readonly #prover: Prover;

  constructor(options: {
    readonly people: People;
    readonly sealing: Sealing;
    readonly tickets: Tickets;
    readonly prover: Prover;
  }) {
    this.#people = options.people;
    this.#sealing = options.sealing;
    this.#tickets = options.tickets;
    this.#prover = options.prover;
  }

  /** Nothing is stored before a code has shown that the app has the secret. */
  async beginTotp({ user, session }: Who): Promise<TotpSetup> {
    const { totp } = await this.#people.store.factors(user.id);
    if (totp !== undefined) throw hasTotp();
    const secret = newTotpSecret();
    const { ticket } = this.#tickets.issue("totp", { userId: user.id, secret }, this.#now(session));
    return { ticket, secret, uri: totpUri(secret, user.email, issuer) };
  }

  /** The recovery codes that come with the first factor; null: the person has some. */
  async addTotp(
    { user, session }: Who,
    given: { readonly ticket: string; readonly code: string },
    audit: AuditRecord,
  ): Promise<readonly string[] | null> {
    const now = this.#now(session);
    const { used, secret, userId } = this.#tickets.open("totp", given.ticket, now);
    if (secret === undefined || userId !== user.id) throw new TicketExpired();
    const step = matchingStep(secret, given.code.replace(/\s/g, ""), now.nowMs);
    if (step === undefined) throw new WrongCode(wrongCode(given.code));
    const codes = newRecoveryCodes();
    const totp = {
      userId,
      sealedSecret: this.#sealing.seal(secret, totpPlace(userId)),
      lastStep: step,
      createdAtMs: now.nowMs,
    };
    const hashes = recoveryHashes(userId, codes);
    const added = await this.#people.store.addTotp(
      { totp, recoveryHashes: hashes, ticket: used, sessionId: session.id },
      audit,
    );
    if (added === "taken") throw hasTotp();
    if (added === "ticket-used") throw new TicketExpired();
    return added.hasNewCodes ? codes : null;
  }

  async removeTotp({ user }: Who, audit: AuditRecord): Promise<void> {
    const { totp, passkeys } = await this.#people.store.factors(user.id);
    if (totp === undefined) throw noTotp();
    if (passkeys.length === 0) this.#checkLast(user);
    if (!(await this.#people.store.removeTotp(user.id, audit))) throw noTotp();
  }

  async newCodes({ user }: Who, audit: AuditRecord): Promise<readonly string[]> {
    const codes = newRecoveryCodes();
    const hashes = recoveryHashes(user.id, codes);
    if (await this.#people.store.replaceRecoveryCodes(user.id, hashes, audit)) return codes;
    throw new Problem({
      code: "conflict",
      message: "Recovery codes need a second factor. Set up an authenticator app or a passkey.",
    });
  }

  async beginPasskey(
    { user, session }: Who,
    party: RelyingParty,
  ): Promise<{
    readonly ticket: string;
    readonly options: PublicKeyCredentialCreationOptionsJSON;
  }> {
    const challenge = newChallenge();
    const content = { userId: user.id, challenge };
    const { ticket } = this.#tickets.issue("passkey", content, this.#now(session));
    const { passkeys } = await this.#people.store.factors(user.id);
    const known = passkeys.filter(({ rpId }) => rpId === party.id);
    return { ticket, options: await registrationOptions({ user, known, party, challenge }) };
  }

  async addPasskey(
    { user, session }: Who,
    given: {
      readonly ticket: string;
      readonly response: RegistrationResponseJSON;
      readonly name: string;
      readonly party: RelyingParty;
    },
    audit: AuditRecord,
  ): Promise<readonly string[] | null> {
    const { name, party, response } = given;
    checkName(name);
    const now = this.#now(session);
    const { used, challenge, userId } = this.#tickets.open("passkey", given.ticket, now);
    if (challenge === undefined || userId !== user.id) throw new TicketExpired();
    const made = await verifyRegistration(response, { party, challenge });
    const codes = newRecoveryCodes();
    const added = await this.#people.store.addPasskey(
      {
        passkey: { ...made, userId, name: name.trim(), rpId: party.id, createdAtMs: now.nowMs },
        recoveryHashes: recoveryHashes(userId, codes),
        ticket: used,
        sessionId: session.id,
      },
      audit,
    );
    if (added === "ticket-used") throw new TicketExpired();
    if (added === "taken")
      throw new Problem({ code: "conflict", message: "This passkey has already been added." });
    if (added === "full")
      throw new Problem({
        code: "conflict",
        message: `You have ${mostPasskeys} passkeys, which is the maximum. Remove one first.`,
      });
    return added.hasNewCodes ? codes : null;
  }

  async renamePasskey(
    { user }: Who,
    { id, name }: { readonly id: string; readonly name: string },
    audit: AuditRecord,
  ): Promise<void> {
    checkName(name);
    const of = { userId: user.id, id };
    if (!(await this.#people.store.renamePasskey(of, name.trim(), audit))) throw noPasskey();
  }

  async removePasskey({ user }: Who, id: string, audit: AuditRecord): Promise<void> {
    const { totp, passkeys } = await this.#people.store.factors(user.id);
    if (totp === undefined && passkeys.length === 1) this.#checkLast(user);
    if (!(await this.#people.store.removePasskey({ userId: user.id, id }, audit)))
      throw noPasskey();
  }

  /** For a person who is to prove once more who they are. */
  async passkeyChallenge(
    { user, session }: Who,
    party: RelyingParty,
  ): Promise<{
    readonly ticket: string;
    readonly options: PublicKeyCredentialRequestOptionsJSON;
  }> {
    const { passkeys } = await this.#people.store.factors(user.id);
    const allowed = passkeys.filter(({ rpId }) => rpId === party.id);
    if (allowed.length === 0) throw noPasskey();
    const challenge = newChallenge();
    const content = { userId: user.id, challenge };
    const { ticket } = this.#tickets.issue("verify", content, this.#now(session));
    return { ticket, options: await requestOptions({ party, challenge, allowed }) };
  }

  /**
   * With a code or a passkey, or with the password where there is no factor: the session may then
   * change how its person signs in.
   */
  async verify(
    { user, session }: Who,
    given: Asking & {
      readonly password?: string | undefined;
      readonly ticket?: string | undefined;
    },
    audit: AuditRecord,
  ): Promise<void> {
    const now = this.#now(session);
    const { store } = this.#people;
    const { password, ticket: text, ...asking } = given;
    if (password !== undefined) {
      if (hasFactor(await store.factors(user.id)))
        throw invalid({
          password:
            "You have a second factor, so the password is not enough. Send a code or a passkey.",
        });
      await this.#people.authenticate({ email: user.email, password });
      await store.verifySession({ id: session.id, atMs: now.nowMs }, audit);
      return;
    }
    const ticket = text === undefined ? undefined : this.#tickets.open("verify", text, now);
    if (ticket !== undefined && ticket.userId !== user.id) throw new TicketExpired();
    await this.#prover.prove(
      { ...asking, user, ticket: ticket?.used, challenge: ticket?.challenge, isAlone: false },
      (proof) => store.verifySession({ id: session.id, atMs: now.nowMs, proof }, audit),
    );
  }

  #now({ id }: Who["session"]) {
    return { holder: id, nowMs: this.#people.clock.nowMs() };
  }

  #checkLast(user: Who["user"]): void {
    if (needsFactor(user, this.#people.policy))
      throw new Problem({
        code: "conflict",
        message: "You need a second factor here. Set up another one before you remove this one.",
      });
  }
}

const hasTotp = () =>
  new Problem({
    code: "conflict",
    message: "You already have an authenticator app. Remove it before you set up another one.",
  });
const noTotp = () =>
  new Problem({ code: "not_found", message: "You have no authenticator app to remove." });
const noPasskey = () => new Problem({ code: "not_found", message: "This passkey does not exist." });
