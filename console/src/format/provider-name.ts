import { engineProvider } from "../../../src/catalog/model.ts";

/** Serves the embedded models; it is in no list of providers. */
export const engineOption = { value: engineProvider, label: "Embedded models" } as const;

/** A provider as people know it. */
export const providerName = (name: string) =>
  name === engineOption.value ? engineOption.label : name;
