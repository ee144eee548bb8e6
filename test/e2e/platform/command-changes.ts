import type { Operations } from "../../../src/platform/operations.ts";

type CommandChanges = Readonly<Record<string, (remote: Operations) => Promise<unknown>>>;

/** What only commands can do, one successful use each. */
export const commandChanges = (account: () => string): CommandChanges => ({
  "model.routes add": ({ catalog }) =>
    catalog.addRoute({ id: "mini", provider: "fake", model: "gpt-4.1" }),
  "model.routes update": ({ catalog }) =>
    catalog.updateRoute({ id: "routed", provider: "fake", model: "gpt-4.1", weight: 3 }),
  "model.routes remove": ({ catalog }) =>
    catalog.removeRoute({ id: "routed", provider: "fake", model: "gpt-4o" }),
  "model.alias add": ({ catalog }) => catalog.addAlias({ id: "mini", alias: "tiny" }),
  "model.alias remove": ({ catalog }) => catalog.removeAlias({ id: "routed", alias: "small" }),
  "manifest.apply": (remote) =>
    remote.manifest.apply({ text: "models: { applied: { endpoint: chat } }", dryRun: false }),
  "manifest.add": (remote) =>
    remote.manifest.add({
      draft: { providers: {}, models: { added: { endpoint: "chat" } } },
      dryRun: false,
    }),
  "account.credit": ({ entries }) =>
    entries.add({ account: account(), kind: "credit", usd: "1", reference: "socket" }),
  "key.create": ({ keys }) => keys.create({ account: account(), name: "socket" }),
});
