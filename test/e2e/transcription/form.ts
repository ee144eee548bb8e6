import { fixtureBytes } from "../../fixtures/media/fixture.ts";

export type FormFields = Readonly<Record<string, string | readonly string[] | File | undefined>>;

export const speechFile = (name = "speech.wav") => new File([fixtureBytes(name)], name);

/** A list becomes several parts of one name. */
export function formOf(fields: FormFields): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields))
    for (const each of Array.isArray(value) ? value : [value])
      if (each !== undefined) form.append(name, each);
  return form;
}
