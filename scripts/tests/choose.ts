/** Which test files the words of a command name. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { giveUp, root } from "./checkout.ts";
import { changedSince, reachedBy } from "./since.ts";
import { filesOfTier, listTestFiles, type TierName } from "./tiers.ts";

export interface Choice {
  /** Undefined: the whole tier. */
  readonly files?: readonly string[];
  readonly flags: readonly string[];
}

/** Flags of the runner that have a value of their own. */
const withValue = ["-t", "--test-name-pattern", "--seed", "--bail", "--rerun-each"];

/**
 * `npm test -- src/keys test/e2e/chat -t usage`: a folder or a file, whatever tier it is of, and
 * flags of the runner. `--since REF`: the files of the tier that the changes since the branch left
 * REF can reach. Without either, `files` is undefined: the whole tier.
 */
export function chooseFiles(tier: TierName, words: readonly string[]): Choice {
  const flags: string[] = [];
  const paths: string[] = [];
  let since: string | undefined;
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    if (word === "--since" || word.startsWith("--since="))
      since = word === "--since" ? (words[++at] ?? "") : word.slice("--since=".length);
    else if (withValue.includes(word)) flags.push(word, words[++at] ?? "");
    else if (word.startsWith("-")) flags.push(word);
    else paths.push(word);
  }
  if (since !== undefined) return { files: chooseSince(tier, since), flags };
  return { ...(paths.length > 0 ? { files: chooseNamed(paths) } : {}), flags };
}

function chooseSince(tier: TierName, ref: string): readonly string[] {
  if (ref === "") giveUp("--since needs a branch or a commit: --since main.");
  const changed = changedSince(ref);
  const all = filesOfTier(tier);
  const files = changed.length === 0 ? [] : reachedBy(changed, all);
  process.stdout.write(
    `${changed.length} files changed since ${ref}; they can reach ${files.length} of ${all.length} test files.\n`,
  );
  return files;
}

function chooseNamed(paths: readonly string[]): readonly string[] {
  const all = listTestFiles();
  return paths.flatMap((path) => {
    const clean = path.replace(/^\.\//, "").replace(/\/$/, "");
    const own = all.filter((file) => file === clean || file.startsWith(`${clean}/`));
    if (own.length > 0) return own;
    return giveUp(
      existsSync(join(root, clean))
        ? `${path} contains no test file (x.test.ts).`
        : `${path} does not exist. Name a test file or a folder, relative to ${root}.`,
    );
  });
}
