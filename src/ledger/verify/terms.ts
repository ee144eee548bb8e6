import { idTimeMs } from "../../base/ids.ts";
import { costOf, type Price } from "../../call/price.ts";
import { holdOf } from "../need.ts";
import type { Receipt, ReceiptTerms } from "../receipt.ts";
import type { LedgerReader, StoredCosts, StoredPrice } from "../store.ts";
import type { Problems } from "./problems.ts";

/** How long a process may go by what it knew before, and a clock be off. */
const graceMs = 60_000;

interface Version {
  readonly version: number;
  readonly effectiveAtMs: number;
}

/** From when to when versions of something were in force, by its name. */
class Versions<T extends Version> {
  readonly #known = new Map<string, T & { readonly untilMs: number }>();
  readonly #firstMs = new Map<string, number>();

  constructor(list: readonly T[], nameOf: (version: T) => string) {
    for (const [name, versions] of Map.groupBy(list, nameOf)) {
      const inOrder = versions.toSorted(
        (one, other) => one.effectiveAtMs - other.effectiveAtMs || one.version - other.version,
      );
      for (const [at, version] of inOrder.entries()) {
        const untilMs = inOrder[at + 1]?.effectiveAtMs ?? Number.POSITIVE_INFINITY;
        this.#known.set(`${name} ${version.version}`, { ...version, untilMs });
      }
      const first = inOrder[0]?.effectiveAtMs;
      if (first !== undefined) this.#firstMs.set(name, first);
    }
  }

  get(name: string, version: number): T | undefined {
    return this.#known.get(`${name} ${version}`);
  }

  /** Whether a call may have been admitted by it at some moment of its life; 0: before the first. */
  wasInForce(name: string, version: number, { id, durationMs }: Receipt): boolean {
    const startMs = idTimeMs(id);
    if (version === 0)
      return startMs <= (this.#firstMs.get(name) ?? Number.POSITIVE_INFINITY) + graceMs;
    const known = this.#known.get(`${name} ${version}`);
    if (known === undefined) return false;
    const { effectiveAtMs, untilMs } = known;
    return effectiveAtMs <= startMs + durationMs + graceMs && untilMs >= startMs - graceMs;
  }
}

/**
 * Holds receipts to what was in force when their calls were admitted: prices, the parts of the
 * hold, limits, what the vendor asked. Receipts from before that was recorded are held to their
 * price alone.
 */
export class TermChecks {
  readonly #problems: Problems;
  readonly #prices: Versions<StoredPrice>;
  readonly #limits: Versions<Version>;
  readonly #costs: Versions<StoredCosts>;

  private constructor(
    problems: Problems,
    prices: readonly StoredPrice[],
    limits: readonly (Version & { readonly ownerId: string })[],
    costs: readonly StoredCosts[],
  ) {
    this.#problems = problems;
    this.#prices = new Versions(prices, ({ modelId }) => modelId);
    this.#limits = new Versions(limits, ({ ownerId }) => ownerId);
    this.#costs = new Versions(costs, ({ modelId }) => modelId);
  }

  static async read(reader: LedgerReader, problems: Problems): Promise<TermChecks> {
    return new TermChecks(
      problems,
      await reader.prices(),
      await reader.limits(),
      await reader.costs(),
    );
  }

  check(receipt: Receipt): void {
    const { id: subject, model, priceVersion, units, cost, terms } = receipt;
    const price = this.#prices.get(model, priceVersion)?.price;
    if (price === undefined || price === null)
      this.#problems.add({
        kind: "unknown-price",
        subject,
        expected: "a price of its model",
        found: `${model} version ${priceVersion}`,
      });
    else {
      const expected = costOf(units, price);
      this.#problems.compare({ kind: "cost", subject, expected, found: cost });
      if (terms !== undefined) this.#checkTerms(receipt, terms, price);
    }
  }

  #checkTerms(receipt: Receipt, terms: ReceiptTerms, price: Price): void {
    const { id: subject, model, accountId, keyId, hold } = receipt;
    const expected = holdOf(terms.hold, price);
    this.#problems.compare({ kind: "hold", subject, expected, found: hold });
    const wasInForce = (isSo: boolean, kind: string, found: string) => {
      if (isSo) return;
      this.#problems.add({
        kind,
        subject,
        expected: "a version that was active at the time",
        found,
      });
    };
    const { priceVersion } = receipt;
    wasInForce(
      this.#prices.wasInForce(model, priceVersion, receipt),
      "price-version",
      `${model} version ${priceVersion}`,
    );
    for (const [ownerId, version] of [
      [keyId, terms.keyLimits],
      [accountId, terms.accountLimits],
    ] as const)
      wasInForce(
        this.#limits.wasInForce(ownerId, version, receipt),
        "limits-version",
        `${ownerId} version ${version}`,
      );
    if (terms.cost !== undefined)
      wasInForce(
        this.#costs.wasInForce(model, terms.cost.version, receipt),
        "cost-version",
        `${model} version ${terms.cost.version}`,
      );
    this.#checkVendor(receipt, terms);
  }

  #checkVendor(
    { id: subject, model, provider, units, vendorCost }: Receipt,
    { cost }: ReceiptTerms,
  ): void {
    const route =
      cost === undefined ? undefined : this.#costs.get(model, cost.version)?.routes[cost.route];
    if (cost !== undefined && route?.provider !== provider)
      this.#problems.add({
        kind: "route",
        subject,
        expected: `a route to ${provider}`,
        found: `${model} version ${cost.version}, route ${cost.route}`,
      });
    const expected = route?.cost === undefined ? undefined : costOf(units, route.cost);
    if (expected !== vendorCost)
      this.#problems.add({
        kind: "vendor-cost",
        subject,
        expected: String(expected ?? "unknown"),
        found: String(vendorCost ?? "unknown"),
      });
  }
}
