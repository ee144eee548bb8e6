import type { AuthenticationResponseJSON } from "@simplewebauthn/server";
import { Problem } from "../../base/problem.ts";
import { clonedPasskey, failedFactor, type People, type Visitor } from "../people.ts";
import type { OnSuccess } from "../sign-in-limits.ts";
import type { User } from "../store.ts";
import { networkOf } from "../throttle.ts";
import { type RelyingParty, verifyAssertion, WrongPasskey } from "./passkeys.ts";
import { recoveryHash } from "./recovery-codes.ts";
import type { Passkey, Proof, ProofOutcome, UsedTicket } from "./store.ts";
import { type Sealing, TicketExpired } from "./tickets.ts";
import { matchingStep } from "./totp.ts";

/** What a person gives: a code of the app, a recovery code, or what a passkey signed. */
export interface FactorAnswer {
  readonly code?: string | undefined;
  readonly passkey?: AuthenticationResponseJSON | undefined;
}

export interface Asking {
  readonly answer: FactorAnswer;
  readonly visitor: Visitor;
  /** Where the page that asks was opened; absent where passkeys cannot be used. */
  readonly party?: RelyingParty | undefined;
}

interface Question extends Asking {
  readonly user: User;
  readonly ticket: UsedTicket | undefined;
  readonly challenge: string | undefined;
  /** The passkey stands for the password, too. */
  readonly isAlone: boolean;
}

/** Checks what people give as their second factor. Every attempt counts until it is right. */
export class Prover {
  readonly #people: People;
  readonly #sealing: Sealing;

  constructor(people: People, sealing: Sealing) {
    this.#people = people;
    this.#sealing = sealing;
  }

  /** `use` writes what the proof allows; only there it turns out whether it was used before. */
  async prove(question: Question, use: (proof: Proof) => Promise<ProofOutcome>): Promise<void> {
    const { user, visitor, answer, isAlone } = question;
    const succeeded = isAlone ? async () => {} : await this.#admit(user, visitor);
    const proof = await this.#proofOf(question);
    const outcome = proof === undefined ? "wrong" : await use(proof);
    if (outcome === "accepted") return await succeeded();
    if (outcome === "ticket-used") throw new TicketExpired();
    const action = outcome === "cloned" ? clonedPasskey : failedFactor;
    await this.#people.countFailure(action, user, visitor.address);
    if (outcome === "cloned")
      throw new WrongPasskey(
        "This passkey was used elsewhere since its last use here, so it may have been copied. Sign in another way and replace it.",
      );
    if (answer.passkey !== undefined) throw new WrongPasskey();
    throw new WrongCode(outcome === "wrong" ? wrongCode(answer.code) : spent(proof));
  }

  #admit(user: User, { address, device }: Visitor): Promise<OnSuccess> {
    return this.#people.limits.admitCode(
      {
        userId: user.id,
        network: networkOf(address),
        // Who knew the password before there was a factor has no tries of their own.
        device: device?.userId === user.id && device.hasProof ? device.id : undefined,
      },
      this.#people.clock.nowMs(),
    );
  }

  async #proofOf(question: Question): Promise<Proof | undefined> {
    const { user, answer, ticket } = question;
    const proof =
      answer.passkey === undefined
        ? await this.#codeProof(user, answer.code ?? "")
        : await this.#passkeyProof(question, answer.passkey);
    return proof && { ...proof, ticket };
  }

  async #codeProof({ id: userId }: User, given: string): Promise<Proof | undefined> {
    const code = given.replace(/\s/g, "");
    const hash = recoveryHash(userId, code);
    if (hash !== undefined) return { factor: "recovery", userId, hash };
    const { totp } = await this.#people.store.factors(userId);
    if (totp === undefined) return undefined;
    const secret = this.#sealing.open(totp.sealedSecret, totpPlace(userId));
    const step = matchingStep(secret, code, this.#people.clock.nowMs());
    return step === undefined ? undefined : { factor: "totp", userId, step };
  }

  async #passkeyProof(
    { user, party, challenge, isAlone }: Question,
    response: AuthenticationResponseJSON,
  ): Promise<Proof | undefined> {
    const passkey = await this.#people.store.passkey(response.id);
    if (!isOf(passkey, user) || party === undefined || challenge === undefined) return undefined;
    if (!namesUser(response, user)) return undefined;
    try {
      const found = await verifyAssertion(response, { passkey, party, challenge, isAlone });
      const atMs = this.#people.clock.nowMs();
      return { factor: "passkey", userId: user.id, id: passkey.id, atMs, ...found };
    } catch (error) {
      if (error instanceof WrongPasskey) return undefined;
      throw error;
    }
  }
}

export const totpPlace = (userId: string) => `totp:${userId}`;

const isOf = (passkey: Passkey | undefined, { id }: User): passkey is Passkey =>
  passkey?.userId === id;

/** A passkey that browsers find by themselves says who it belongs to. */
function namesUser({ response }: AuthenticationResponseJSON, { id }: User): boolean {
  const { userHandle } = response;
  return (
    userHandle === undefined ||
    userHandle === "" ||
    Buffer.from(userHandle, "base64url").toString() === id
  );
}

type CodeFault = "wrong" | "malformed" | "spent" | "recovery";

export const wrongCode = (given = ""): CodeFault =>
  /^\d{6}$/.test(given.replace(/\s/g, "")) ? "wrong" : "malformed";
/** Of a recovery code, only what is not used yet is known. */
const spent = (proof: Proof | undefined): CodeFault =>
  proof?.factor === "recovery" ? "recovery" : "spent";

const codeMessages: Readonly<Record<CodeFault, string>> = {
  wrong:
    "This code is wrong or has expired. Enter the newest one: codes change every 30 seconds, and your phone's clock must be right.",
  malformed:
    "This is not a valid code. Enter the 6 digits that your app shows, or all 16 characters of a recovery code.",
  spent: "This code was already used. Wait for the next one: codes change every 30 seconds.",
  recovery: "This recovery code is wrong or was already used. Enter another one.",
};

export class WrongCode extends Problem {
  constructor(fault: CodeFault) {
    super({ code: "invalid", field: "code", message: codeMessages[fault] });
  }
}
