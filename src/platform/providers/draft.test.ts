import { describe, expect, test } from "bun:test";
import { providerKinds } from "../../catalog/provider-kinds.ts";
import { vendors } from "../../catalog/vendors.ts";
import { draftText } from "../../manifest/draft.ts";
import { withLiterals } from "../../manifest/literals.ts";
import { readDraft, readManifest } from "../../manifest/manifest.ts";
import { type DraftOptions, draftProvider, vendorTable } from "./draft.ts";

const draft = (word: string, more: Partial<DraftOptions> = {}) =>
  draftProvider({
    word,
    hasLiteralKey: false,
    allowPrivate: false,
    options: [],
    isSet: () => false,
    ...more,
  });
const set =
  (...names: readonly string[]) =>
  (name: string) =>
    names.includes(name);

describe("a vendor that is known", () => {
  test("needs nothing but its key, and takes the variable that is set", () => {
    const { name, draft: fields } = draft("groq", { isSet: set("GROQ_API_KEY") });
    expect(name).toBe("groq");
    expect(fields).toEqual({ vendor: "groq", api_key: "${GROQ_API_KEY}" });
    expect(draft("gemini", { isSet: set("GOOGLE_API_KEY") }).draft).toEqual({
      kind: "gemini",
      api_key: "${GOOGLE_API_KEY}",
    });
  });

  test("takes the variable that is named before those that are usual", () => {
    const given = { keyEnv: "MINE", isSet: set("GROQ_API_KEY"), name: "second" };
    expect(draft("groq", given)).toMatchObject({
      name: "second",
      draft: { vendor: "groq", api_key: "${MINE}" },
    });
  });

  test("without a key says how much it lacks one", () => {
    expect(draft("groq").lacksKey).toBe("usual");
    expect(draft("anthropic").lacksKey).toBe("needed");
    expect(draft("ollama").lacksKey).toBeUndefined();
    expect(draft("groq", { hasLiteralKey: true })).toMatchObject({
      lacksKey: undefined,
      draft: { api_key: "<stored>" },
    });
  });

  test("on this machine is let be there", () => {
    expect(draft("ollama").draft).toEqual({ vendor: "ollama", allow_private: true });
  });

  test("of the clouds takes what their own tools look for", () => {
    const isSet = set("AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY");
    expect(draft("bedrock", { isSet })).toMatchObject({
      lacksKey: undefined,
      draft: {
        kind: "bedrock",
        region: "${AWS_REGION}",
        access_key_id: "${AWS_ACCESS_KEY_ID}",
        secret_access_key: "${AWS_SECRET_ACCESS_KEY}",
      },
    });
    const token = set("AWS_BEARER_TOKEN_BEDROCK", "AWS_ACCESS_KEY_ID");
    expect(draft("bedrock", { isSet: token, options: ["region=eu-west-1"] }).draft).toEqual({
      kind: "bedrock",
      region: "eu-west-1",
      api_key: "${AWS_BEARER_TOKEN_BEDROCK}",
    });
  });

  test("is one of a table that has a line for each", () => {
    expect(vendorTable().map(([id]) => id)).toEqual(vendors.map(({ id }) => id));
  });
});

test("a secret in an option goes to the store, not to the file", () => {
  const { draft: fields, literals } = draft("vertex", {
    options: ["project=p", "location=l", 'credentials={"private_key":"x=y"}'],
  });
  expect(fields["credentials"]).toBe("<stored>");
  expect(literals).toEqual({ credentials: '{"private_key":"x=y"}' });
  const shown = { providers: { google: fields }, models: {} };
  expect(draftText(shown)).not.toContain("private_key");
  const whole = withLiterals(shown, { google: literals });
  const [provider] = readDraft(whole, { checkAddress: () => undefined }).providers;
  expect(provider?.options).toMatchObject(literals);
});

test("what is lacking or wrong is said with what would be right", () => {
  const problems: readonly (readonly [() => unknown, string | undefined, string])[] = [
    [() => draft("nobody"), "base_url", "base URL"],
    [() => draft("azure"), "base_url", "https://{resource}.openai.azure.com/openai/v1"],
    [() => draft("x", { kind: "telnet" }), "kind", providerKinds.join(", ")],
    [() => draft("groq", { kind: "gemini" }), "kind", "is of kind openai"],
    [
      () => draft("bedrock"),
      "options.region",
      "Option region is missing (for example us-east-1). Set it, or set the variable AWS_REGION.",
    ],
    [() => draft("vertex", { options: ["place=here"] }), "options.place", "Options: project"],
    [() => draft("groq", { options: ["nonsense"] }), "options", "name=value"],
    [() => draft("groq", { keyEnv: "sk-not-a-name" }), "key_env", "not the key itself"],
    [() => draft("groq", { name: "a b" }), "name", "not a valid provider name"],
  ];
  for (const [work, field, words] of problems)
    expect(work).toThrow(
      expect.objectContaining({ name: "Problem", field, message: expect.stringContaining(words) }),
    );
});

test("every vendor's draft is one that svc.yaml takes", () => {
  for (const { id, baseUrl } of vendors) {
    const { name, draft: fields } = draft(id, {
      isSet: () => true,
      ...(baseUrl.includes("{") ? { baseUrl: "https://mine.openai.azure.com/openai/v1" } : {}),
    });
    const text = draftText({ providers: { [name]: fields }, models: {} });
    const { providers } = readManifest(text, { checkAddress: () => undefined });
    expect(providers).toHaveLength(1);
  }
});
