import { withoutPassword } from "../../base/text/passwords.ts";
import type { Setting } from "../setting.ts";
import { mailbox, path, smtpUrl } from "../setting-readers.ts";

/** The server that invitations and password reset links are mailed through. */
export const mailSettings = {
  smtpUrl: {
    env: "SVC_SMTP_URL",
    about: "mail server, such as smtps://user:password@mail.example.com",
    fallback: undefined,
    read: smtpUrl,
    inFile: false,
    show: withoutPassword,
  },
  smtpUrlFile: {
    env: "SVC_SMTP_URL_FILE",
    about: "file with the address of the mail server, in place of SVC_SMTP_URL",
    fallback: undefined,
    read: path,
    inFile: false,
  },
  mailFrom: {
    env: "SVC_MAIL_FROM",
    about: "sender of mails, such as Models <no-reply@example.com>",
    fallback: undefined,
    read: mailbox,
  },
} as const satisfies Record<string, Setting<unknown>>;
