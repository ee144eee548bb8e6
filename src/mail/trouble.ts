import { visible } from "../base/text/visible-text.ts";

/** Why a message was not sent. */
export type MailTroubleKind =
  | "busy"
  | "late"
  | "unreachable"
  | "certificate"
  | "no-tls"
  | "login"
  | "rejected"
  | "failed";

const longestDetail = 200;

/** The message is a sentence for people; the name of the server is not in it. */
export class MailTrouble extends Error {
  readonly kind: MailTroubleKind;

  constructor(kind: MailTroubleKind, detail?: string) {
    const more = detail === undefined ? "" : `: ${visible(detail).slice(0, longestDetail)}`;
    super(`${sentences[kind]}${more}${more.endsWith(".") ? "" : "."}`);
    this.name = "MailTrouble";
    this.kind = kind;
  }
}

const sentences: Readonly<Record<MailTroubleKind, string>> = {
  busy: "Too many messages are being sent. Try again in a minute",
  late: "The mail server did not finish in time",
  unreachable: "The mail server cannot be reached",
  certificate: "The certificate of the mail server is not valid",
  "no-tls": "The mail server offers no encryption (STARTTLS)",
  login: "The mail server rejects the user or the password in SVC_SMTP_URL",
  rejected: "The mail server rejects the message",
  failed: "The mail server failed",
};

interface SmtpError {
  readonly code: string;
  readonly response: string | undefined;
  readonly message: string;
}

/** From what the library throws: its codes, the system's, and what the server said. */
export function toTrouble(error: unknown): MailTrouble {
  const { code, response, message } = readError(error);
  if (/certificate|CERT|altname/i.test(`${code} ${message}`))
    return new MailTrouble("certificate", message);
  if (code === "EAUTH" || code === "ENOAUTH") return new MailTrouble("login", response);
  if (code === "ETLS") return new MailTrouble("no-tls", response);
  if (code === "ETIMEDOUT") return new MailTrouble("late");
  if (code === "EENVELOPE" || code === "EMESSAGE")
    return new MailTrouble("rejected", response ?? message);
  if (response !== undefined) return new MailTrouble("failed", response);
  if (["ECONNREFUSED", "ENOTFOUND", "EDNS", "EAI_AGAIN", "EHOSTUNREACH"].includes(code))
    return new MailTrouble("unreachable", code);
  return new MailTrouble("failed", message);
}

function readError(error: unknown): SmtpError {
  const message = error instanceof Error ? error.message : String(error);
  const of = typeof error === "object" && error !== null ? error : {};
  const text = (name: string) => {
    const value: unknown = Object.hasOwn(of, name) ? Reflect.get(of, name) : undefined;
    return typeof value === "string" ? value : undefined;
  };
  return { code: text("code") ?? "", response: text("response"), message };
}
