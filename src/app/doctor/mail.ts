import { readSmtpUrl } from "../../base/network/smtp-url.ts";
import type { Settings } from "../../config/settings.ts";
import { MailTrouble } from "../../mail/trouble.ts";
import { createMailer } from "../mail.ts";
import type { Checks } from "./checks.ts";

/** Connects and signs in as a message would, and sends none. */
export async function checkMail(checks: Checks, settings: Settings): Promise<void> {
  const mailer = createMailer(settings);
  const server = readSmtpUrl(settings.smtpUrl ?? "");
  if (mailer === undefined || server === undefined)
    return checks.skipped("No mail server is set; links are shared by hand (SVC_SMTP_URL)");
  const place = `${server.host}:${server.port}`;
  try {
    await mailer.check();
    checks.ok(`The mail server ${place} accepts this server (no mail was sent)`);
  } catch (error) {
    if (!(error instanceof MailTrouble)) throw error;
    checks.problem(`${place}: ${error.message}`, adviceFor[error.kind]);
  }
}

const certificates =
  "Use the name in its certificate as the host of SVC_SMTP_URL. For an authority of your own, set NODE_EXTRA_CA_CERTS to its certificate.";
const adviceFor: Readonly<Record<MailTrouble["kind"], string>> = {
  busy: "Run the check again.",
  late: "Check host and port of SVC_SMTP_URL: smtp:// is for STARTTLS (usually 587), smtps:// for TLS (usually 465).",
  unreachable: "Check host and port of SVC_SMTP_URL, and whether a firewall blocks the port.",
  certificate: certificates,
  "no-tls": "Use smtps:// if the server has TLS on another port. Mail is never sent unencrypted.",
  login: "Check user and password in SVC_SMTP_URL. Both must be percent-encoded.",
  rejected: "See the log of the mail server.",
  failed: "Check that SVC_SMTP_URL names a mail server, and see its log.",
};
