import { readFileSync, realpathSync, statSync } from "node:fs";
import { dirname } from "node:path";

interface User {
  readonly uid: number;
  /** Undefined if they are not known; a group's permission then counts as theirs. */
  readonly groups: ReadonlySet<number> | undefined;
}

const canWrite = 2;
const canEnter = 1;

/**
 * Whether a user may create files in a directory, by the owners, groups and modes on its path. It is
 * for root, which may do so everywhere. Access control lists are not read.
 */
export function mayCreateIn(dir: string, user: User): boolean {
  const path = realpathSync(dir);
  if (!has(path, user, canWrite + canEnter)) return false;
  for (let at = path; at !== dirname(at); at = dirname(at))
    if (!has(dirname(at), user, canEnter)) return false;
  return true;
}

function has(path: string, { uid, groups }: User, wanted: number): boolean {
  const { mode, uid: owner, gid } = statSync(path);
  const allows = (permissions: number) => (permissions & wanted) === wanted;
  if (uid === owner) return allows(mode >> 6);
  if (groups === undefined) return allows(mode >> 3) || allows(mode);
  return allows(groups.has(gid) ? mode >> 3 : mode);
}

/** By the files of this machine; users of a directory service are not in them. */
export function groupsOf(
  uid: number,
  { passwd = "/etc/passwd", group = "/etc/group" } = {},
): ReadonlySet<number> | undefined {
  const entry = entriesOf(passwd).find(([, , id]) => Number(id) === uid);
  if (entry === undefined) return undefined;
  const [name = "", , , primary] = entry;
  const further = entriesOf(group).filter(([, , , members = ""]) =>
    members.split(",").includes(name),
  );
  return new Set([Number(primary), ...further.map(([, , id]) => Number(id))]);
}

function entriesOf(path: string): readonly (readonly string[])[] {
  try {
    return readFileSync(path, "utf8")
      .split("\n")
      .map((line) => line.split(":"))
      .filter((fields) => fields.length >= 4);
  } catch {
    return [];
  }
}
