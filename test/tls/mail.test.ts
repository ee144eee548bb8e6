import { expect, test } from "bun:test";
import type { AddressInfo } from "node:net";
import { createServer } from "node:tls";
import { createCertificate } from "../fake/certificate.ts";
import { sendWithoutEnd, startMailServer } from "../setup/mail-server.ts";
import { linesOf } from "./trusting.ts";

const authority = createCertificate({ name: "authority.example", isAuthority: true });
const right = createCertificate({ name: "localhost", issuer: authority });
const other = createCertificate({ name: "other.example", issuer: authority });

/** What the mailer says about each server. */
const sendTo = (urls: readonly string[]) =>
  linesOf({ script: "mail-calls.ts", words: urls, authority });

test("mail goes over TLS and STARTTLS to a server with the certificate of its name, and to no other", async () => {
  const [smtps, starttls, wrong] = await Promise.all([
    startMailServer({ secure: true, key: right.key, cert: right.cert }),
    startMailServer({ disabledCommands: [], key: right.key, cert: right.cert }),
    startMailServer({ secure: true, key: other.key, cert: other.cert }),
  ]);
  try {
    const lines = await sendTo([
      `smtps://localhost:${smtps.port}`,
      `smtp://localhost:${starttls.port}`,
      `smtps://localhost:${wrong.port}`,
    ]);
    expect(lines).toEqual([
      "sent",
      "sent",
      expect.stringContaining("The certificate of the mail server is not valid"),
    ]);
    const counts = [smtps, starttls, wrong].map(({ received }) => received.length);
    expect(counts).toEqual([1, 1, 0]);
  } finally {
    for (const server of [smtps, starttls, wrong]) server.stop();
  }
});

test("a server with TLS that sends lines without end is cut off", async () => {
  const server = createServer({ key: right.key, cert: right.cert }, (socket) => {
    socket.on("error", () => {});
    sendWithoutEnd(socket, "\r\n");
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", resolve);
  await promise;
  try {
    const { port } = server.address() as AddressInfo;
    expect(await sendTo([`smtps://localhost:${port}`])).toEqual([
      expect.stringContaining("it sent more than 256 KiB"),
    ]);
  } finally {
    server.close();
  }
});
