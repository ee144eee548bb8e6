import { readSmtpUrl } from "../../src/base/network/smtp-url.ts";
import { Mailer } from "../../src/mail/mailer.ts";

// Run as a child of mail.test.ts, which says which authority is trusted: prints one line per server.
for (const url of process.argv.slice(2)) {
  const server = readSmtpUrl(url);
  if (server === undefined) throw new Error(`wrong address: ${url}`);
  const mailer = new Mailer({
    // As on another machine: with STARTTLS or not at all.
    server: { ...server, needsTls: true },
    from: { name: "", address: "no-reply@example.com" },
  });
  const mail = { to: "ada@example.com", subject: "Hello", text: "Words", html: "<p>Words</p>" };
  console.log(
    await mailer.send(mail).then(
      () => "sent",
      (error: unknown) => String(error),
    ),
  );
}
