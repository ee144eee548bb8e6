import {
  type ProviderKind,
  providerKindShapes,
  providerKinds,
} from "../../catalog/provider-kinds.ts";
import { findVendor } from "../../catalog/vendors.ts";
import type { ProviderDraft } from "../../manifest/draft.ts";
import { storedMark } from "../../manifest/literals.ts";
import type { ProviderView, SecretView } from "./schemas.ts";
import { vendorOf } from "./views.ts";

/** Where an entry of svc.yaml leads, with all that it leaves to its vendor or kind filled in. */
export interface ProviderPlace {
  readonly kind: ProviderKind;
  /** Undefined where it is none that is known. */
  readonly vendor: string | undefined;
  /** Empty where the kind makes its own. */
  readonly baseUrl: string;
  /** On the operator's own machine. */
  readonly isLocal: boolean;
}

export function placeOf(fields: ProviderDraft): ProviderPlace {
  const named = textOf(fields["vendor"]);
  const vendor = named === undefined ? undefined : findVendor(named);
  const kind = providerKinds.find((one) => one === fields["kind"]) ?? vendor?.kind ?? "openai";
  const usual = vendor === undefined || vendor.baseUrl === "" ? undefined : vendor.baseUrl;
  const given = textOf(fields["base_url"]) ?? usual ?? providerKindShapes[kind].baseUrl ?? "";
  const baseUrl = given.replace(/\/+$/, "");
  const known = vendorOf({
    name: "",
    kind,
    baseUrl,
    allowPrivate: false,
    options: vendor === undefined ? {} : { vendor: { text: vendor.id } },
  });
  return { kind, vendor: known?.id, baseUrl, isLocal: known?.isLocal === true };
}

/** An existing provider as it would appear in svc.yaml; literals as `<stored>`. */
export function toDraft(view: ProviderView): ProviderDraft {
  const { kind, vendor, base_url, api_key, allow_private, options } = view;
  const secret = ({ variable }: SecretView) => (variable === null ? storedMark : `\${${variable}}`);
  const texts = Object.entries(options).map(([name, value]) => [
    name,
    typeof value === "string" ? value : secret(value),
  ]);
  return {
    kind,
    ...(base_url === null ? {} : { base_url }),
    ...(api_key === null ? {} : { api_key: secret(api_key) }),
    ...(allow_private ? { allow_private } : {}),
    ...Object.fromEntries(texts),
    ...(vendor === null ? {} : { vendor }),
  };
}

const placeOptions = ["project", "location", "region"];

/** Whether two entries lead to the same server, however each of them says it. */
export function isSamePlace(one: ProviderDraft, other: ProviderDraft): boolean {
  const [left, right] = [placeOf(one), placeOf(other)];
  const isOtherVendor =
    left.vendor !== right.vendor && left.vendor !== undefined && right.vendor !== undefined;
  return (
    left.kind === right.kind &&
    !isOtherVendor &&
    plainAddress(left.baseUrl) === plainAddress(right.baseUrl) &&
    placeOptions.every((name) => String(one[name]) === String(other[name]))
  );
}

/** This machine has more than one name. */
function plainAddress(baseUrl: string): string {
  if (!URL.canParse(baseUrl)) return baseUrl;
  const url = new URL(baseUrl);
  if (/^(localhost|\[::1\])$/.test(url.hostname)) url.hostname = "127.0.0.1";
  return url.href.replace(/\/+$/, "");
}

const textOf = (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined);
