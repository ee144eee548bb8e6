import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { invalid } from "../../base/problem.ts";
import { isMailAddress } from "../../base/text/mailbox.ts";
import { tryAgainIn } from "../../base/text/try-again.ts";
import type { Mail } from "../../mail/mailer.ts";
import { MailTrouble } from "../../mail/trouble.ts";
import { Throttle } from "../../people/throttle.ts";
import type { Actor } from "../audit/author.ts";
import type { Letter } from "./letters.ts";

/** Of one person: a month of work, but no bulk mail. */
const senderLimit = { burst: 30, everyMs: 60_000 };

export interface PostOptions {
  /** Undefined: no mail server is set. */
  readonly mailer: { send(mail: Mail): Promise<void> } | undefined;
  readonly clock: Clock;
  readonly log?: Log | undefined;
}

/** Mails links to people. */
export class Post {
  readonly #options: PostOptions;
  readonly #senders = new Throttle(senderLimit);

  constructor(options: PostOptions) {
    this.#options = options;
  }

  get isReady(): boolean {
    return this.#options.mailer !== undefined;
  }

  /** Before a link is created: whether it can be mailed at all. */
  check(to: string | undefined): string {
    if (!this.isReady) throw noPost();
    const address = to?.trim() ?? "";
    if (address === "")
      throw invalid({ email: "Enter the email address that the link is sent to." });
    if (!isMailAddress(address))
      throw invalid({ email: "Email must be one address, such as ada@example.com." });
    return address;
  }

  /** Null: sent. Otherwise why not, in a sentence; the link is then for its creator. */
  async send(to: string, letter: Letter, by: Actor): Promise<string | null> {
    const { mailer, clock, log } = this.#options;
    const sender = `${by.kind} ${by.id}`;
    const waitMs = this.#senders.waitMs(sender, clock.nowMs());
    if (waitMs > 0) return `You have sent too many messages. ${tryAgainIn(waitMs)}`;
    this.#senders.count(sender, clock.nowMs());
    try {
      await mailer?.send({ to, ...letter });
      return null;
    } catch (error) {
      if (!(error instanceof MailTrouble)) throw error;
      log?.warn("mail not sent", { kind: error.kind, detail: error.message });
      return error.message;
    }
  }
}

export const noPost = () =>
  invalid({
    mail: "Mail is not set up on this server. Share the link yourself, or set SVC_SMTP_URL and SVC_MAIL_FROM.",
  });
