import { Problem } from "../../../../base/problem.ts";
import type { FileSettings, Settings, SettingValue } from "../tool.ts";

export type Path = readonly (string | number)[];

/** One value that is to be set. A list may get an element behind its last one. */
export interface Assignment {
  readonly path: Path;
  readonly value: SettingValue;
}

/** What has to be set so that a file has the settings; empty where it has them already. */
export function planAssignments(
  present: unknown,
  { defaults = {}, settings, entries = [] }: FileSettings,
): readonly Assignment[] {
  const missing = leavesOf(defaults).filter(({ path }) => isAbsent(valueAt(present, path)));
  const wanted = [...missing, ...leavesOf(settings)];
  for (const { path, by, entry } of entries) {
    const list = valueAt(present, path);
    if (!isAbsent(list) && !Array.isArray(list)) throw mustBe(path, "a list");
    const elements: readonly unknown[] = Array.isArray(list) ? list : [];
    const at = elements.findIndex((one) => isObject(one) && one[by] === entry[by]);
    // Elements of a new list come with it: not every format can have an empty one.
    if (elements.length === 0) wanted.push({ path, value: [entry] });
    else if (at === -1) wanted.push({ path: [...path, elements.length], value: entry });
    else wanted.push(...leavesOf(entry, [...path, at]));
  }
  return wanted.filter(({ path, value }) => !Bun.deepEquals(valueAt(present, path), value));
}

/** The values as they are to be once all is set. */
export function applied(present: unknown, assignments: readonly Assignment[]): unknown {
  return assignments.reduce<unknown>(
    (value, assignment) => withValue(value, assignment.path, assignment.value),
    present,
  );
}

function withValue(present: unknown, path: Path, value: SettingValue): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  if (typeof step === "number") {
    const list: readonly unknown[] = Array.isArray(present) ? present : [];
    return Object.assign([...list], { [step]: withValue(list[step], rest, value) });
  }
  const object = isObject(present) ? present : {};
  return { ...object, [step]: withValue(object[step], rest, value) };
}

function leavesOf(settings: Settings, under: Path = []): readonly Assignment[] {
  return Object.entries(settings).flatMap(([name, value]) => {
    const path = [...under, name];
    return isSettings(value) ? leavesOf(value, path) : [{ path, value }];
  });
}

/** Throws where something else is in the way: it is not ours to replace. */
export function valueAt(present: unknown, path: Path): unknown {
  let value = present;
  for (const [at, step] of path.entries()) {
    if (isAbsent(value)) return undefined;
    if (typeof step === "number") {
      value = Array.isArray(value) ? value[step] : undefined;
      continue;
    }
    if (!isObject(value)) throw mustBe(path.slice(0, at), "an object");
    value = Object.hasOwn(value, step) ? value[step] : undefined;
  }
  return value;
}

/** YAML has names without a value. */
const isAbsent = (value: unknown) => value === undefined || value === null;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isSettings = (value: SettingValue): value is Settings => isObject(value);

function mustBe(path: Path, what: string): Problem {
  const name = path.length === 0 ? "The file" : path.join(".");
  return new Problem({ code: "invalid", message: `${name} must be ${what}.` });
}
