import { isLoopback } from "../../base/network/address.ts";
import type { Setting } from "../setting.ts";
import { oneOf, onOff, path, Wrong } from "../setting-readers.ts";

/** Signing in through the company's identity provider (OpenID Connect). */
export const signInSettings = {
  oidcIssuer: {
    env: "SVC_OIDC_ISSUER",
    about: "identity provider that people sign in with (OpenID Connect)",
    fallback: undefined,
    read: issuer,
  },
  oidcClientId: {
    env: "SVC_OIDC_CLIENT_ID",
    about: "client id of this platform at the identity provider",
    fallback: undefined,
    read: clientId,
  },
  oidcClientSecret: {
    env: "SVC_OIDC_CLIENT_SECRET",
    about: "client secret; without it, the platform is a public client with PKCE alone",
    fallback: undefined,
    read: clientSecret,
    inFile: false,
    hidden: true,
  },
  oidcClientSecretFile: {
    env: "SVC_OIDC_CLIENT_SECRET_FILE",
    about: "file with the client secret, in place of SVC_OIDC_CLIENT_SECRET",
    fallback: undefined,
    read: path,
    inFile: false,
  },
  oidcClientAuth: {
    env: "SVC_OIDC_CLIENT_AUTH",
    about: "how the client secret is sent: basic (in a header) or post (in the body)",
    fallback: "basic",
    read: oneOf("basic", "post"),
  },
  oidcName: {
    env: "SVC_OIDC_NAME",
    about: "name of the identity provider, for the button: Sign in with NAME",
    fallback: "single sign-on",
    read: providerName,
  },
  oidcScopes: {
    env: "SVC_OIDC_SCOPES",
    about: "scopes that a sign-in asks for, separated by spaces",
    fallback: "openid email profile",
    read: scopes,
  },
  oidcGroupsClaim: {
    env: "SVC_OIDC_GROUPS_CLAIM",
    about: "claim with the groups of a person, such as groups or realm_access.roles",
    fallback: "groups",
    read: claimName,
  },
  oidcRoles: {
    env: "SVC_OIDC_ROLES",
    about: "what groups may do, such as admins=operator; ml=ACCOUNT:developer; *=ACCOUNT:viewer",
    fallback: undefined,
    read: roleRules,
  },
  oidcLink: {
    env: "SVC_OIDC_LINK",
    about: "on: the first sign-in of a member who already has a password connects both by email",
    fallback: "off",
    read: onOff,
  },
  oidcTrustEmail: {
    env: "SVC_OIDC_TRUST_EMAIL",
    about: "on: new users may have an email address that the provider does not call verified",
    fallback: "off",
    read: onOff,
  },
  oidcPasswords: {
    env: "SVC_OIDC_PASSWORDS",
    about: "who may sign in without the identity provider: on (everyone), operators or off",
    fallback: "on",
    read: oneOf("on", "operators", "off"),
  },
  oidcSecondFactor: {
    env: "SVC_OIDC_SECOND_FACTOR",
    about: "the provider's sign-in counts as second factor: trust, amr (if it says so) or require",
    fallback: "trust",
    read: oneOf("trust", "amr", "require"),
  },
} as const satisfies Record<string, Setting<unknown>>;

/** What several of these settings say together. */
export function signInProblems(values: {
  readonly oidcIssuer: string | undefined;
  readonly oidcClientId: string | undefined;
  readonly oidcRoles: readonly string[] | undefined;
  readonly oidcPasswords: string;
}): readonly string[] {
  const { oidcIssuer, oidcClientId, oidcRoles, oidcPasswords } = values;
  if (oidcIssuer === undefined)
    return [
      ...(oidcClientId === undefined && oidcRoles === undefined
        ? []
        : ["SVC_OIDC_ISSUER is missing. Set it to the address of the identity provider."]),
      ...(oidcPasswords === "on"
        ? []
        : ["SVC_OIDC_PASSWORDS needs an identity provider. Set SVC_OIDC_ISSUER, or set it to on."]),
    ];
  return oidcClientId === undefined
    ? ["SVC_OIDC_CLIENT_ID is missing. Set it to the client id that the identity provider shows."]
    : [];
}

/** Anyone with an account at Microsoft could sign in with one of these. */
const manyTenants = /^https:\/\/login\.microsoftonline\.com\/(common|organizations|consumers)\b/i;

function issuer(text: string): string | Wrong {
  const url = URL.parse(text);
  const isPlain =
    url !== null &&
    [url.username, url.password, url.search, url.hash].every((part) => part === "") &&
    !url.pathname.includes("/.well-known/");
  if (!isPlain)
    return new Wrong(
      "the issuer of the identity provider, such as https://login.example.com (without /.well-known/openid-configuration)",
    );
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLoopback(url.hostname)))
    return new Wrong("an https address (http is allowed on this machine alone)");
  return manyTenants.test(url.href)
    ? new Wrong("the issuer of one tenant: https://login.microsoftonline.com/TENANT_ID/v2.0")
    : text;
}

const visible = /^[\x21-\x7e]+$/;

function clientId(text: string): string | Wrong {
  return visible.test(text) && text.length <= 300
    ? text
    : new Wrong("at most 300 characters without spaces");
}

function clientSecret(text: string): string | Wrong {
  return /^[\x20-\x7e]{8,1000}$/.test(text) ? text : new Wrong("8 to 1000 characters");
}

function providerName(text: string): string | Wrong {
  return /^[\p{L}\p{N}][\p{L}\p{N} .&'+-]{0,39}$/u.test(text)
    ? text
    : new Wrong("a name of at most 40 letters and digits, such as Example Corp");
}

function scopes(text: string): string | Wrong {
  const words = text.split(/[\s,]+/).filter((word) => word !== "");
  return words.includes("openid") && words.every((word) => visible.test(word)) && words.length <= 20
    ? words.join(" ")
    : new Wrong("scopes with openid among them, such as openid email profile groups");
}

function claimName(text: string): string | Wrong {
  return visible.test(text) && text.length <= 200
    ? text
    : new Wrong("the name of a claim, such as groups");
}

const mostRules = 200;
const given = /^(?:operator|(.{1,200}?)\s*:\s*(owner|developer|viewer))$/;

/**
 * Each as `group=operator` or `group=account:role`. A group may contain equals signs and commas, as
 * those of directories do: what follows the last equals sign is the role.
 */
function roleRules(text: string): readonly string[] | Wrong {
  const parts = text
    .split(/[;\n]/)
    .map((part) => part.trim())
    .filter((part) => part !== "");
  const rules = parts.map(roleRule);
  const wrongAt = rules.indexOf(undefined);
  if (wrongAt >= 0 || parts.length === 0)
    return new Wrong(
      `GROUP=operator or GROUP=ACCOUNT:owner, developer or viewer, separated by semicolons${wrongAt > 0 ? ` (wrong: entry ${wrongAt + 1})` : ""}`,
    );
  if (rules.includes("*=operator"))
    return new Wrong("a mapping in which * is no operator: name a group for operators");
  return parts.length > mostRules
    ? new Wrong(`at most ${mostRules} entries`)
    : rules.filter((rule) => rule !== undefined);
}

function roleRule(text: string): string | undefined {
  const at = text.lastIndexOf("=");
  const group = text.slice(0, Math.max(at, 0)).trim();
  const [what, account, role] = given.exec(text.slice(at + 1).trim()) ?? [];
  if (group === "" || group.length > 300 || what === undefined) return undefined;
  return account === undefined ? `${group}=operator` : `${group}=${account}:${role}`;
}
