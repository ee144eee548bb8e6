import type { Operations } from "../../platform/operations.ts";
import { type Checks, within } from "./checks.ts";

const askMs = 15_000;
const atOnce = 8;
/** Of one list in a line. */
const shownNames = 5;

/** Asks each provider for its models, which is free and shows whether its key works. */
export async function checkProviders(checks: Checks, operations: Operations): Promise<void> {
  const providers = await operations.providers.list({});
  if (providers.length === 0)
    return checks.skipped("No provider is connected", "svc init connects one.");
  const waiting = providers.map((provider) => async (checks: Checks) => {
    const { name, paused: isPaused } = provider;
    checkShortfall(checks, provider);
    if (isPaused) return checks.skipped(`${name} is paused`);
    try {
      const offer = await within(askMs, name, operations.providers.offerOf({ provider: name }));
      if (offer.problem?.trouble === "no_list") noteWithoutList(checks, provider);
      else if (offer.problem !== null) checks.problem(offer.problem.what, offer.problem.advice);
      else if (offer.listed === null)
        checks.skipped(`${name} lists no models, so its key was not checked`, oneCall(name));
      else checks.ok(`${name} responds`);
    } catch (error) {
      checks.failed(error, `svc provider test ${name} makes one real call and says more.`);
    }
    checkPrices(checks, provider);
  });
  for (let at = 0; at < waiting.length; at += atOnce)
    await checks.sideBySide(waiting.slice(at, at + atOnce));
  checkTargets(checks, providers);
}

type Providers = Awaited<ReturnType<Operations["providers"]["list"]>>;

const oneCall = (name: string) => `svc provider test ${name} makes one real call.`;

/** A server without a list of models is a problem only if no route names a model of it. */
function noteWithoutList(checks: Checks, { name, models }: Providers[number]): void {
  if (models.length > 0)
    return checks.skipped(
      `${name} answers, but has no list of models, so its key was not checked`,
      oneCall(name),
    );
  checks.warning(
    `${name} answers, but not with a list of models, and no model is routed to it.`,
    "Check its base_url. If the server has no list, add its models by name: svc model add --help",
  );
}

/** A provider that reports more than a call may use costs the operator money with every call. */
function checkShortfall(checks: Checks, { name, last_24h: lastDay }: Providers[number]): void {
  if (lastDay === null || Number(lastDay.shortfall_usd) === 0) return;
  checks.warning(
    `Calls to ${name} cost ${lastDay.shortfall_usd} USD more than their holds in the last 24 hours, and you bear the difference.`,
    "Look for “call cost more than its hold” in the log: it names model, tokens and request. If the provider reports usage that cannot be right, pause it: svc provider pause --help",
  );
}

function checkPrices(checks: Checks, { name, needs_price: unpriced }: Providers[number]): void {
  if (unpriced.length === 0) return;
  checks.warning(
    `Models of ${name} without a price are not served: ${shortList(unpriced)}.`,
    "svc price set sets one; svc price import takes the vendors' list prices.",
  );
}

function checkTargets(checks: Checks, providers: Providers): void {
  for (const { name, targets } of providers)
    for (const { model, state, reason } of targets ?? [])
      if (state === "open" || state === "resting")
        checks.warning(
          `${name} ${model} is out of service at the moment${reason === null ? "" : `: ${reason}`}.`,
          `svc provider test ${name} shows whether it works again.`,
        );
}

function shortList(names: readonly string[]): string {
  const rest = names.length - shownNames;
  return `${names.slice(0, shownNames).join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
}
