import { expect, test } from "bun:test";
import { invitationLetter, resetLetter } from "./letters.ts";

const link = "https://console.example.com/join#secret";
const expiresAt = "2027-03-15T12:30:00Z";

test("an invitation says who invites to what, until when, in text and in HTML", () => {
  const { subject, text, html } = invitationLetter({
    by: "ada@example.com",
    account: { name: "Lighthouse", role: "developer" },
    link,
    expiresAt,
  });
  expect(subject).toBe("Your invitation to svc gateway");
  expect(text).toStartWith(
    "ada@example.com invites you to the account Lighthouse as developer.\n\nOpen this link to join:\n\nhttps://console.example.com/join#secret\n",
  );
  expect(text).toContain("expires on March 15, 2027 at 12:30 PM UTC.");
  expect(html).toContain(`<a href="${link}">`);
  expect(invitationLetter({ by: "An operator", link, expiresAt }).text).toStartWith(
    "An operator invites you to become an operator of this svc gateway.",
  );
});

test("a name is text: it adds no markup, no line and nothing to the subject", () => {
  const name = `<a href="https://evil.example">x</a>\r\nBcc: eve@example.com\n\nPay here`;
  const { subject, text, html } = invitationLetter({
    by: name,
    account: { name, role: "viewer" },
    link,
    expiresAt,
  });
  expect(subject).not.toContain("evil");
  expect(html.match(/<a /g)).toHaveLength(1);
  expect(text.split("\n").filter((line) => line.startsWith("Bcc:") || line === "Pay here")).toEqual(
    [],
  );
});

test("a reset link says that nothing happens without it", () => {
  const { text } = resetLetter({ link, expiresAt });
  expect(text).toContain(link);
  expect(text).toContain("Your password stays as it is.");
});
