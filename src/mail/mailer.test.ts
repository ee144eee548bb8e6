import { afterEach, expect, test } from "bun:test";
import { connect, createServer, type Server, type Socket } from "node:net";
import type { SMTPServerOptions } from "smtp-server";
import { rejecting, sendWithoutEnd, startMailServer } from "../../test/setup/mail-server.ts";
import type { SmtpServer } from "../base/network/smtp-url.ts";
import { Mailer } from "./mailer.ts";

const open: (() => void)[] = [];
afterEach(() => {
  for (const close of open.splice(0)) close();
});
async function startServer(options: SMTPServerOptions = {}) {
  const server = await startMailServer(options);
  open.push(() => server.stop());
  return server;
}

const portOf = (server: Server) => {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
};

/** A server that is none: what it does with a connection is up to the test. */
async function startSocket(onConnection: (socket: Socket) => void): Promise<number> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on("error", () => {});
    onConnection(socket);
  });
  open.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", resolve);
  await promise;
  return portOf(server);
}

function mailerOf(server: Partial<SmtpServer>, totalMs?: number): Mailer {
  return new Mailer({
    server: {
      host: "127.0.0.1",
      port: 0,
      isTls: false,
      needsTls: false,
      login: undefined,
      ...server,
    },
    from: { name: "svc, gateway", address: "no-reply@example.com" },
    ...(totalMs === undefined ? {} : { totalMs }),
  });
}

const mail = {
  to: "ada@example.com",
  subject: "Hello",
  text: "Plain words",
  html: "<p>Words</p>",
};

const kindOf = (work: Promise<void>) =>
  work.then(
    () => "sent",
    (error: { readonly kind: string; readonly message: string }) => [error.kind, error.message],
  );

test("a message arrives once, for one address, as plain text and HTML", async () => {
  const { port, received } = await startServer();
  await mailerOf({ port }).send(mail);
  expect(received).toHaveLength(1);
  const [{ from, to, raw: text } = { from: "", to: [], raw: "" }] = received;
  expect([from, to]).toEqual(["no-reply@example.com", ["ada@example.com"]]);
  expect(text).toContain('From: "svc, gateway" <no-reply@example.com>');
  expect(text).toContain("To: ada@example.com");
  expect(text).toContain("Plain words");
  expect(text).toContain("<p>Words</p>");
});

test.each([
  "ada@example.com\r\nBcc: eve@example.com",
  "ada@example.com,eve@example.com",
  "ada@example.com>\r\nRCPT TO:<eve@example.com",
])("the address %p is rejected before the server sees it", async (to) => {
  const { port, received } = await startServer();
  expect(await kindOf(mailerOf({ port }).send({ ...mail, to }))).toEqual([
    "rejected",
    expect.stringContaining("the address is not valid"),
  ]);
  expect(received).toEqual([]);
});

test("line ends in a subject begin no header", async () => {
  const { port, received } = await startServer();
  await mailerOf({ port }).send({ ...mail, subject: "Hi\r\nBcc: eve@example.com\r\n\r\nBody" });
  expect(received[0]?.to).toEqual(["ada@example.com"]);
  expect(received[0]?.text).not.toMatch(/^Bcc:/im);
});

test("user and password are used where they are set, and named when they are wrong", async () => {
  const { port } = await startServer({
    authOptional: false,
    allowInsecureAuth: true,
    onAuth: ({ username, password }, _, done) =>
      password === "right" ? done(null, { user: username }) : done(new Error("Invalid login")),
  });
  const login = (password: string) => ({ port, login: { user: "svc", password } });
  await mailerOf(login("right")).send(mail);
  expect(await kindOf(mailerOf(login("wrong-password")).check())).toEqual([
    "login",
    expect.stringMatching(/^The mail server rejects the user or the password(?!.*wrong-password)/),
  ]);
  await mailerOf(login("right")).check();
});

test("what the server says about a rejected address is shown", async () => {
  const { port } = await startServer(rejecting(new Set([mail.to])));
  expect(await kindOf(mailerOf({ port }).send(mail))).toEqual([
    "rejected",
    expect.stringContaining("550 No such user"),
  ]);
});

test("without TLS, nothing is sent to a server on another machine", async () => {
  const { port, received } = await startServer();
  const sent = await kindOf(mailerOf({ port, needsTls: true }).send(mail));
  expect(sent).toEqual(["no-tls", expect.stringContaining("STARTTLS")]);
  expect(received).toEqual([]);
});

test.each([true, false])("a bad certificate ends it (smtps: %p)", async (isTls) => {
  const { port, received } = await startServer({ secure: isTls, disabledCommands: [] });
  const sent = await kindOf(mailerOf({ port, isTls, needsTls: true }).send(mail));
  expect(sent).toEqual(["certificate", expect.stringContaining("certificate")]);
  expect(received).toEqual([]);
});

test("a server that is not there, hangs, or never ends its greeting", async () => {
  const gone = await startSocket(() => {});
  for (const close of open.splice(0)) close();
  expect(await kindOf(mailerOf({ port: gone }).send(mail))).toEqual([
    "unreachable",
    "The mail server cannot be reached: ECONNREFUSED.",
  ]);
  const silent = await startSocket(() => {});
  expect(await kindOf(mailerOf({ port: silent }, 300).send(mail))).toEqual([
    "late",
    "The mail server did not finish in time.",
  ]);
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const endless = await startSocket((socket) => {
    const timer = setInterval(() => socket.write("220-still here\r\n"), 20);
    socket.on("close", () => {
      clearInterval(timer);
      resolve();
    });
  });
  expect((await kindOf(mailerOf({ port: endless }, 300).send(mail)))[0]).toBe("late");
  await closed;
  const rude = await startSocket((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
  expect((await kindOf(mailerOf({ port: rude }).send(mail)))[0]).toBe("failed");
});

test.each([
  ["empty lines", "\r\n"],
  ["lines that continue a reply", "220-still here\r\n"],
  ["a line", "x"],
])("a server that sends %s without end is cut off", async (_, text) => {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const port = await startSocket((socket) => {
    socket.on("close", () => resolve());
    sendWithoutEnd(socket, text);
  });
  expect(await kindOf(mailerOf({ port }).send(mail))).toEqual([
    "failed",
    "The mail server failed: it sent more than 256 KiB.",
  ]);
  await closed;
});

test("four are sent at once, fifty wait, and more are refused", async () => {
  let begun = 0;
  let onBegun = () => {};
  const port = await startSocket(() => {
    begun++;
    onBegun();
  });
  const mailer = mailerOf({ port });
  const sent = Array.from({ length: 60 }, () => kindOf(mailer.send(mail)));
  const refused = await Promise.all(sent.slice(54));
  expect(refused.map(([kind]) => kind)).toEqual(Array.from({ length: 6 }, () => "busy"));
  const { promise: allBegun, resolve } = Promise.withResolvers<void>();
  onBegun = () => (begun >= 5 ? resolve() : undefined);
  // Connections are accepted in their order, so none of the mailer's is still on its way behind it.
  const last = connect({ port, host: "127.0.0.1" });
  last.on("error", () => {});
  await allBegun;
  expect(begun).toBe(5);
  for (const close of open.splice(0)) close();
  const others = await Promise.all(sent.slice(0, 54));
  expect(others.filter(([kind]) => kind === "sent" || kind === "busy")).toEqual([]);
});
