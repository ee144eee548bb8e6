import type { AuditActor } from "../../base/audit.ts";
import { visible } from "../../base/text/visible-text.ts";
import type { AccountRole } from "../../people/role.ts";

/** What a message says; who gets it is not part of it. */
export interface Letter {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

interface LinkOf {
  readonly link: string;
  readonly expiresAt: string;
}

export interface InvitationOf extends LinkOf {
  /** As the invited person may see it. */
  readonly by: string;
  /** Undefined: to become an operator. */
  readonly account?: { readonly name: string; readonly role: AccountRole } | undefined;
}

/** Operators stay anonymous, as on the pages of an account. */
export const inviterName = ({ kind, name }: AuditActor): string =>
  kind === "person" ? name : "An operator";

/** Names are not in the subject: it is ours, whatever a name says. */
export function invitationLetter({ by, account, link, expiresAt }: InvitationOf): Letter {
  const what =
    account === undefined
      ? "to become an operator of this svc gateway"
      : `to the account ${visible(account.name)} as ${account.role}`;
  return letterOf({
    subject: "Your invitation to svc gateway",
    lines: [`${visible(by)} invites you ${what}.`, "Open this link to join:"],
    link,
    after: [
      `The link works once and expires on ${dateText(expiresAt)}.`,
      "If you did not expect this message, ignore it.",
    ],
  });
}

export function resetLetter({ link, expiresAt }: LinkOf): Letter {
  return letterOf({
    subject: "Your password reset link for svc gateway",
    lines: ["Open this link to choose a new password:"],
    link,
    after: [
      `The link works once and expires on ${dateText(expiresAt)}. Using it signs you out everywhere else.`,
      "If you did not ask for it, ignore this message. Your password stays as it is.",
    ],
  });
}

interface Content {
  readonly subject: string;
  readonly lines: readonly string[];
  readonly link: string;
  readonly after: readonly string[];
}

function letterOf({ subject, lines, link, after }: Content): Letter {
  const paragraph = (text: string) => `<p>${escaped(text)}</p>`;
  return {
    subject,
    text: `${[...lines, link, ...after].join("\n\n")}\n`,
    html: [
      "<!doctype html>",
      `<html lang="en"><head><meta charset="utf-8"><title>${escaped(subject)}</title></head><body>`,
      ...lines.map(paragraph),
      `<p><a href="${escaped(link)}">${escaped(link)}</a></p>`,
      ...after.map(paragraph),
      "</body></html>",
    ].join("\n"),
  };
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
const escaped = (text: string) => text.replaceAll(/[&<>"']/g, (one) => entities[one] ?? one);

const dates = new Intl.DateTimeFormat("en-US", {
  dateStyle: "long",
  timeStyle: "short",
  timeZone: "UTC",
});
const dateText = (iso: string) => `${dates.format(new Date(iso))} UTC`;
