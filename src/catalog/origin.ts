import { Problem } from "../base/problem.ts";

/**
 * Where an entry of the catalog came from, if that was a file. The file owns the entry's name and
 * the fields that it states, by the names of svc.yaml; only the file can change those.
 */
export interface Origin {
  /** Its path from the folder of the config file, whose own is its name alone. */
  readonly file: string;
  readonly fields: readonly string[];
  /** The targets whose cost the file states. */
  readonly costs?: readonly Target[];
}

interface Target {
  readonly provider: string;
  readonly model: string;
}

interface Owned {
  readonly origin?: Origin;
}

export const ownsField = ({ origin }: Owned, field: string): boolean =>
  origin?.fields.includes(field) === true;

export const ownsCost = ({ origin }: Owned, { provider, model }: Target): boolean =>
  origin?.costs?.some((one) => one.provider === provider && one.model === model) === true;

/** Refuses to change fields that a file owns. */
export function checkFields(options: {
  /** Such as `Model svc-3-flash`. */
  readonly subject: string;
  readonly entry: Owned;
  readonly fields: readonly string[];
}): void {
  const { subject, entry, fields } = options;
  const owned = fields.find((field) => ownsField(entry, field));
  if (owned !== undefined && entry.origin !== undefined)
    throw definedIn({
      subject: `${subject}: field ${owned}`,
      file: entry.origin.file,
      field: owned,
    });
}

export function definedIn(options: {
  readonly subject: string;
  readonly file: string;
  readonly field?: string;
}): Problem {
  const { subject, file, field } = options;
  return new Problem({
    code: "conflict",
    message: `${subject} is defined in ${file}. Change it there and apply the file.`,
    field,
    command: `apply ${file}`,
  });
}
