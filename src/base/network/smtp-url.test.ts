import { expect, test } from "bun:test";
import { readSmtpUrl } from "./smtp-url.ts";

test("a mail server has a port of its scheme, and needs TLS unless it is this machine", () => {
  expect(readSmtpUrl("smtp://mail.example.com")).toEqual({
    host: "mail.example.com",
    port: 587,
    isTls: false,
    needsTls: true,
    login: undefined,
  });
  expect(readSmtpUrl("smtps://mail.example.com")).toMatchObject({ port: 465, isTls: true });
  expect(readSmtpUrl("smtp://127.0.0.1:1025")).toMatchObject({ port: 1025, needsTls: false });
  expect(readSmtpUrl("smtp://[::1]:25")).toMatchObject({ host: "::1", needsTls: false });
});

test("user and password are percent-encoded", () => {
  expect(readSmtpUrl("smtps://ada%40example.com:p%3A%2F%40ss@mail.example.com")?.login).toEqual({
    user: "ada@example.com",
    password: "p:/@ss",
  });
});

test.each([
  "mail.example.com",
  "http://mail.example.com",
  "smtp://",
  "smtp://mail.example.com/path",
  "smtp://mail.example.com?tls=off",
  "smtp://a:%zz@mail.example.com",
  "smtp://mail.example.com:port",
])("%p is not the address of a mail server", (text) => {
  expect(readSmtpUrl(text)).toBeUndefined();
});
