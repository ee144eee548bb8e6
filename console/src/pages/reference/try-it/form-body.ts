import { type FormField } from "../../../../../src/base/text/curl.ts";
import { type OpenApi, resolve, type Schema } from "../document.ts";

/** A field of a form, as multipart bodies have them. */
export interface FormInput {
  readonly name: string;
  readonly isFile: boolean;
  readonly isRequired: boolean;
  /** What it can be, where that is a choice. */
  readonly values: readonly string[];
}

/** What was typed or chosen, by field; what is empty is not sent. */
export type FormValues = Readonly<Record<string, string | File>>;

export function formInputs(document: OpenApi, given: Schema | undefined): readonly FormInput[] {
  const schema = resolve<Schema>(document, given ?? {});
  return Object.entries(schema.properties ?? {}).map(([name, field]) => {
    const { format, type, enum: values = [] } = resolve<Schema>(document, field);
    return {
      name,
      isFile: format === "binary",
      isRequired: schema.required?.includes(name) === true,
      values: type === "boolean" ? ["true", "false"] : values.map(String),
    };
  });
}

/** To begin with: what the example has beside files. */
export function formStart(inputs: readonly FormInput[], example: unknown): FormValues {
  const fields = (typeof example === "object" ? example : {}) as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    inputs.flatMap(({ name, isFile }) => {
      const value = fields[name];
      const isPlain = !isFile && (typeof value !== "object" || value === null);
      return isPlain && value !== undefined && value !== null ? [[name, String(value)]] : [];
    }),
  );
}

export function toFormData(values: FormValues): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(values))
    if (value instanceof File) form.append(name, value, value.name);
    else if (value !== "") form.append(name, value);
  return form;
}

/** Required fields that are still empty. */
export const missingIn = (inputs: readonly FormInput[], values: FormValues) =>
  inputs.filter(({ name, isRequired }) => isRequired && (values[name] ?? "") === "");

/** As curl sends it; a file that is not chosen yet has a name all the same. */
export function toFormFields(
  inputs: readonly FormInput[],
  values: FormValues,
): readonly FormField[] {
  return inputs.flatMap(({ name, isFile, isRequired }): readonly FormField[] => {
    const value = values[name];
    if (value instanceof File) return [{ name, value: value.name, isFile: true }];
    if (isFile) return isRequired ? [{ name, value: "speech.mp3", isFile: true }] : [];
    return value === undefined || value === "" ? [] : [{ name, value }];
  });
}
