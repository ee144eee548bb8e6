import { Problem } from "../../base/problem.ts";
import { print, printJson, style } from "../terminal/output.ts";
import type { Found } from "./discover.ts";

/** A numbered line each, with a tick for what is connected by default. */
function showFound(found: readonly Found[]): void {
  const width = Math.max(0, ...found.map(({ name }) => name.length));
  const titles = Math.max(0, ...found.map(({ title }) => title.length));
  for (const [at, { name, title, by, isShared, problem, notes }] of found.entries()) {
    const mark = isShared || problem !== undefined ? style.dim("·") : style.green("✓");
    const number = String(at + 1).padStart(String(found.length).length);
    print(`  ${number}  ${mark} ${name.padEnd(width)}  ${title.padEnd(titles)}  ${style.dim(by)}`);
    const hint = isShared ? ["other tools use this variable too"] : [];
    for (const note of [...hint, ...(problem === undefined ? [] : [problem]), ...notes])
      print(`  ${" ".repeat(number.length)}    ${style.yellow("!")} ${note}`);
  }
}

/** Without a terminal, shows the providers found and which flags to use. */
export function tellFound(options: {
  readonly found: readonly Found[];
  readonly isJson: boolean;
  readonly preset: string | undefined;
}): void {
  const { found, isJson, preset } = options;
  if (isJson) printJson({ written: false, found: found.map(toFoundView) });
  if (preset === undefined && found.length === 0) throw withNothing();
  if (isJson) return;
  if (found.length > 0) {
    print("Found");
    showFound(found);
  }
  const yes =
    preset === undefined ? "connects the checked providers" : `applies the preset ${preset}`;
  throw new Problem({
    code: "invalid",
    message: `Nothing was changed, because svc init cannot ask questions without a terminal.
svc init --yes ${yes}. --provider, --models, --all-models and --markup change the selection.`,
  });
}

export const withNothing = () =>
  new Problem({
    code: "not_found",
    message: `${nothingFound} Set a vendor's key, such as OPENAI_API_KEY, and run svc init again, or add any server.`,
    command: "provider add --help",
  });

const nothingFound =
  "No provider found: no vendor key is set, and no model server is running on this machine.";

const toFoundView = ({ name, vendor, title, by, isLocal, isShared, problem, notes }: Found) => ({
  name,
  vendor: vendor === "" ? null : vendor,
  title,
  found_by: by,
  is_local: isLocal,
  by_default: !isShared && problem === undefined,
  problem: problem ?? null,
  notes,
});

export const notListed = (provider: string) => `The models of ${provider} could not be listed`;

export const priceText = (price: Readonly<Record<string, string>>) =>
  Object.values(price).every((usd) => Number(usd) === 0)
    ? "free"
    : Object.entries(price)
        .map(([key, usd]) => `${key} ${usd}`)
        .join(", ");
