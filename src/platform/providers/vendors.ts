import { providerKindShapes } from "../../catalog/provider-kinds.ts";
import { vendors } from "../../catalog/vendors.ts";

/** A vendor, for a form: what it needs to be called. */
export interface VendorView {
  readonly id: string;
  readonly title: string;
  readonly kind: string;
  /** `{name}` in it stands for what only the operator knows; null where the kind makes its own. */
  readonly base_url: string | null;
  readonly on_this_machine: boolean;
  /** Where its key is kept by custom, and whether it is there now. */
  readonly variables: readonly { readonly name: string; readonly is_set: boolean }[];
  readonly needs_key: boolean;
  readonly options: readonly {
    readonly name: string;
    readonly about: string;
    readonly needed: boolean;
    readonly secret: boolean;
    /** Read from there where none is given. */
    readonly variable: string | null;
  }[];
}

export function vendorViews(isSet: (name: string) => boolean): readonly VendorView[] {
  return vendors.map(({ id, title, kind, baseUrl, keyVariables, isLocal }) => {
    const shape = providerKindShapes[kind];
    return {
      id,
      title,
      kind,
      base_url: baseUrl === "" ? (shape.baseUrl ?? "") || null : baseUrl,
      on_this_machine: isLocal === true,
      variables: keyVariables.map((name) => ({ name, is_set: isSet(name) })),
      needs_key: shape.needsKey || (keyVariables.length > 0 && kind === "openai"),
      options: Object.entries(shape.options)
        .filter(([name]) => name !== "vendor" && name !== "image_urls")
        .map(([name, { about, isNeeded, isSecret, variable }]) => ({
          name,
          about,
          needed: isNeeded === true,
          secret: isSecret === true,
          variable: variable ?? null,
        })),
    };
  });
}
