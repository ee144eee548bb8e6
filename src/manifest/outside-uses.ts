import { storedReference } from "../base/stored-reference.ts";
import { providerKindShapes, providerKinds } from "../catalog/provider-kinds.ts";
import { findVendor } from "../catalog/vendors.ts";
import { isRecord, type ProviderDraft } from "./draft.ts";

/** What a provider takes from the machine of the gateway, and who gets it or what it signs in to. */
export interface OutsideUse {
  readonly provider: string;
  readonly source: "variable" | "file" | "command";
  /** The name of the variable, the path of the file, or the command with its words. */
  readonly name: string;
  /** A host, or the vendor where the kind makes the address. */
  readonly receiver: string;
}

/** Of providers as svc.yaml has them: what somebody should read who has not written them. */
export function outsideUses(
  providers: Readonly<Record<string, ProviderDraft>>,
): readonly OutsideUse[] {
  return Object.entries(providers).flatMap(([provider, fields]) => {
    const receiver = receiverOf(fields);
    return Object.entries(fields).flatMap(([field, value]) =>
      textsIn(value).flatMap((text) => {
        const found = sourceOf(field, text);
        return found === undefined ? [] : [{ provider, ...found, receiver }];
      }),
    );
  });
}

/** One line for people, such as `sends the variable OPENAI_API_KEY to api.openai.com`. */
export function outsideUseText({ provider, source, name, receiver }: OutsideUse): string {
  const [verb, what] = {
    variable: ["sends", `the variable ${name}`],
    file: ["reads", `the file ${name}`],
    command: ["runs", name],
  }[source];
  return `provider ${provider} ${verb} ${what}${source === "variable" ? " to" : " for"} ${receiver}`;
}

type Source = Pick<OutsideUse, "source" | "name">;

function sourceOf(field: string, text: string): Source | undefined {
  const reference = storedReference(text);
  return reference === undefined ? fileOf(field, text) : referenceSource(reference);
}

/** Where an option has a path instead of the content. */
export const fileOf = (field: string, text: string): Source | undefined =>
  field.endsWith("_file") ? { source: "file", name: text } : undefined;

/** Of a reference without its braces, which may be any text. */
export function referenceSource(reference: string): Source {
  const [, source, name = ""] = /^(file|command):(.*)$/su.exec(reference) ?? [];
  if (source === "file" || source === "command") return { source, name };
  return { source: "variable", name: reference };
}

/** A list has the keys of a provider. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return Array.isArray(value)
    ? value.filter(isRecord).flatMap(({ key }) => (typeof key === "string" ? [key] : []))
    : [];
}

const vendorsOfKinds: Readonly<Record<string, string>> = {
  vertex: "Google Cloud",
  bedrock: "Amazon Bedrock",
};

/** The host that calls go to, or the vendor where the kind makes the address. */
export function receiverOf({ kind: named, vendor: id, base_url: given }: ProviderDraft): string {
  const vendor = typeof id === "string" ? findVendor(id) : undefined;
  const kind = providerKinds.find((one) => one === named) ?? vendor?.kind ?? "openai";
  const usual = vendor?.baseUrl || providerKindShapes[kind].baseUrl || "";
  const address = typeof given === "string" ? given : usual;
  return URL.canParse(address) ? new URL(address).host : (vendorsOfKinds[kind] ?? address);
}
