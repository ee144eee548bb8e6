import type { CatalogEntryView, ModelView } from "../../../platform/models/schemas.ts";
import { print, printHint, style } from "../../terminal/output.ts";

export function priceText({ price }: Pick<ModelView, "price">): string | null {
  return price === null
    ? null
    : Object.entries(price)
        .map(([key, usd]) => `${key} ${usd}`)
        .join(", ");
}

export function printSaved(model: CatalogEntryView, verb: string): void {
  print(`${style.green(verb)} ${model.id}`);
  if (model.aliases.length > 0) print(style.dim(`  aliases: ${model.aliases.join(", ")}`));
  for (const { provider, model: upstream, priority, weight, cost } of model.routes) {
    const costs = cost === null ? "" : `, costs ${priceText({ price: cost })}`;
    print(style.dim(`  ${provider}/${upstream}: priority ${priority}, weight ${weight}${costs}`));
  }
  const { id, state, not_served_because: reason } = model;
  if (reason === null) return;
  const needed = model.classes.filter((one) => one.needed).map((one) => one.name);
  const flags = needed.map((name) => `--${name.replaceAll("_", "-")} USD`).join(" ");
  if (state === "no_route")
    printHint(
      `${style.yellow("!")} Not served: ${id} has no route. Add one: svc model route add ${id} PROVIDER MODEL`,
    );
  else if (state === "needs_price")
    printHint(
      `${style.yellow("!")} Not served: ${id} has no complete price. Set one: svc price set ${id} ${flags}`,
    );
  else print(`${style.yellow("!")} Not served. ${reason}`);
}
