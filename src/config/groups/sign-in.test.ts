import { expect, test } from "bun:test";
import { Wrong } from "../setting-readers.ts";
import { signInProblems, signInSettings } from "./sign-in.ts";

const { oidcRoles, oidcIssuer, oidcScopes } = signInSettings;
const none = {
  oidcIssuer: undefined,
  oidcClientId: undefined,
  oidcRoles: undefined,
  oidcPasswords: "on",
};

test("roles: what follows the last equals sign is the role, so groups may be those of a directory", () => {
  expect(
    oidcRoles.read("admins = operator;cn=ml,ou=x=My account:developer\n/team/b=acct_1 : viewer;"),
  ).toEqual(["admins=operator", "cn=ml,ou=x=My account:developer", "/team/b=acct_1:viewer"]);
});

test.each(["", "admins", "admins=", "=operator", "a=b", "a=b:admin", "a=:viewer", "*=operator"])(
  "roles are not %p",
  (text) => {
    expect(oidcRoles.read(text)).toBeInstanceOf(Wrong);
  },
);

test.each([
  "http://login.example.com",
  "https://login.example.com/.well-known/openid-configuration",
  "https://user:secret@login.example.com",
  "https://login.microsoftonline.com/common/v2.0",
  "login.example.com",
])("%p is no issuer", (text) => {
  expect(oidcIssuer.read(text)).toBeInstanceOf(Wrong);
});

test("an issuer is kept as it is, and http is for this machine", () => {
  for (const text of ["https://a.example/o/svc/", "http://127.0.0.1:9000", "http://localhost:9000"])
    expect(oidcIssuer.read(text)).toBe(text);
});

test("scopes contain openid", () => {
  expect(oidcScopes.read("openid  groups")).toBe("openid groups");
  expect(oidcScopes.read("email")).toBeInstanceOf(Wrong);
});

test("what is missing beside the others is named", () => {
  expect(signInProblems(none)).toEqual([]);
  expect(signInProblems({ ...none, oidcClientId: "a" })[0]).toContain("SVC_OIDC_ISSUER is missing");
  expect(signInProblems({ ...none, oidcPasswords: "off" })[0]).toContain("SVC_OIDC_PASSWORDS");
  expect(signInProblems({ ...none, oidcIssuer: "https://a.example" })[0]).toContain(
    "SVC_OIDC_CLIENT_ID is missing",
  );
});
