import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { readSmtpUrl } from "../base/network/smtp-url.ts";
import { readMailbox } from "../base/text/mailbox.ts";
import type { Settings } from "../config/settings.ts";
import { Mailer } from "../mail/mailer.ts";
import { Post } from "../platform/mail/post.ts";

/** Undefined where no mail server is set. */
export function createMailer({
  smtpUrl = "",
  mailFrom = "",
}: Pick<Settings, "smtpUrl" | "mailFrom">): Mailer | undefined {
  const server = readSmtpUrl(smtpUrl);
  const from = readMailbox(mailFrom);
  return server && from && new Mailer({ server, from });
}

export const createPost = (
  settings: Pick<Settings, "smtpUrl" | "mailFrom">,
  { clock, log }: { readonly clock: Clock; readonly log?: Log | undefined },
): Post => new Post({ mailer: createMailer(settings), clock, log });
