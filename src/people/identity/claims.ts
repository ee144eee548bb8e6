import { IdentityRefused } from "./failures.ts";

/** What the provider says about a person, checked. */
export interface Claims {
  readonly issuer: string;
  readonly subject: string;
  readonly email: string | undefined;
  /** Undefined: the provider does not say. */
  readonly isEmailVerified: boolean | undefined;
  readonly name: string | undefined;
  readonly groups: readonly string[];
  /** Whether the provider says that more than one factor was used. */
  readonly hasManyFactors: boolean;
  readonly idToken: string;
}

type Raw = Readonly<Record<string, unknown>>;

const mostGroups = 1_000;
const longestGroup = 300;
const longestSubject = 255;

/** How providers name what was proved (RFC 8176): what a user knows, has or is. */
const methodKinds: readonly ReadonlySet<string>[] = [
  new Set(["pwd", "pin", "kba"]),
  new Set(["otp", "hwk", "swk", "sms", "tel", "sc", "pop"]),
  new Set(["fpt", "face", "iris", "vbm", "retina"]),
];
/** These two say by themselves that there were several. */
const manyMethods = new Set(["mfa", "mca"]);

/** Both have been checked by the library; what the ID token says goes before the other. */
export function readClaims(options: {
  readonly idToken: string;
  readonly token: Raw;
  readonly userInfo: Raw | undefined;
  readonly groupsClaim: string;
}): Claims {
  const { idToken, token, userInfo = {}, groupsClaim } = options;
  const all = { ...userInfo, ...token };
  const subject = text(token["sub"]);
  if (subject === undefined || subject.length > longestSubject || hasControls(subject))
    throw new IdentityRefused("its answer has no usable subject (sub)", "sub");
  // The two belong together: an address of one place is not verified by the other.
  const source = token["email"] === undefined ? userInfo : token;
  return {
    issuer: text(token["iss"]) ?? "",
    subject,
    email: text(source["email"]),
    isEmailVerified: verified(source["email_verified"]),
    name: text(all["name"]),
    groups: groupsOf(all, groupsClaim),
    hasManyFactors: areManyFactors(texts(token["amr"])),
    idToken,
  };
}

/** One method alone is one factor, whatever it is, and so are two of one kind. */
function areManyFactors(methods: readonly string[]): boolean {
  if (methods.some((method) => manyMethods.has(method))) return true;
  return methodKinds.filter((kind) => methods.some((method) => kind.has(method))).length > 1;
}

/** Whether a claim is there at all: else the userinfo endpoint may have it. */
export const lacksClaims = (token: Raw, groupsClaim: string): boolean =>
  token["email"] === undefined || valueAt(token, groupsClaim) === undefined;

function groupsOf(claims: Raw, name: string): readonly string[] {
  const value = valueAt(claims, name);
  const root = name.split(".", 1)[0] ?? name;
  const elsewhere = record(claims["_claim_names"]);
  if (value === undefined && (elsewhere?.[name] ?? elsewhere?.[root]) !== undefined)
    throw new IdentityRefused(
      "it left out your groups because there are too many. An operator can limit the groups claim to the groups assigned to this application",
      "groups overage",
    );
  const groups = typeof value === "string" ? [value] : texts(value);
  if (groups.length > mostGroups)
    throw new IdentityRefused(
      `it sent more than ${mostGroups} groups. An operator can limit the groups claim to the groups assigned to this application`,
      "too many groups",
    );
  return groups.filter((group) => group.length <= longestGroup);
}

/** A claim of that very name, or one inside another: `realm_access.roles`. */
function valueAt(claims: Raw, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let value: unknown = claims;
  for (const step of name.split(".")) {
    const inner = record(value);
    if (inner === undefined || !Object.hasOwn(inner, step)) return undefined;
    value = inner[step];
  }
  return value;
}

/** Some providers write it as text. */
function verified(value: unknown): boolean | undefined {
  if (value === undefined || value === null) return undefined;
  return value === true || value === "true";
}

const text = (value: unknown) =>
  typeof value === "string" && value !== "" && value.length <= 1_000 ? value : undefined;

const texts = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];

const record = (value: unknown): Raw | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Raw) : undefined;

const hasControls = (value: string) => /\p{Cc}/u.test(value);
