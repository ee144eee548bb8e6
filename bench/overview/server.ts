/** The real server on a large ledger, in a process of its own, and who looks at it. */
import { connectControl } from "../../src/platform/control-socket.ts";
import { join as joinByLink, type Visitor } from "../../test/setup/platform-home.ts";
import { type Gateway, prepareStock, type Stock, startGateway } from "../gateway/gateway.ts";
import { type Children, proxyEnv } from "../load/processes.ts";
import { benchSecret, type Made } from "./data.ts";

export type Served = Gateway & {
  readonly dataDir: string;
  readonly platformUrl: string;
  readonly operator: Visitor;
  readonly owner: Visitor;
  /** The busiest account, which the owner owns. */
  readonly account: string;
  /** Keys that can be called with. */
  readonly keys: readonly string[];
};

/** Where `prepareStock` looks for it: the ledger is made there before. */
export const ledgerFolder = "stock";

const env = { ...proxyEnv, SVC_ENGINE: "off", SVC_SECRET: benchSecret };
const callers = { accounts: 500, keys: 1_000 };

export async function startServed(options: {
  readonly children: Children;
  /** Of the bench; its folder `stock` has the ledger. */
  readonly dir: string;
  readonly upstreamPort: number;
  readonly made: Made;
  readonly tell: (line: string) => void;
}): Promise<Served> {
  const { children, dir, upstreamPort, made, tell } = options;
  const stock: Stock = await prepareStock({ children, dir, upstreamPort, ...callers, env, tell });
  const { dataDir, configPath, keys } = stock;
  const gateway = await startGateway({ children, name: "gateway", dataDir, configPath, env });
  const control = await connectControl(dataDir);
  if (control === undefined) throw new Error("the gateway has no control socket");
  const { link } = await control.operations.operators.invite({});
  const platformUrl = new URL(link).origin;
  const operator = await joinByLink(platformUrl, link, { email: "operator@example.com" });
  const account = made.accountIds[0] ?? "";
  const invited = await operator.ask("POST /api/accounts/:account/invites", {
    params: { account },
    body: { role: "owner" },
  });
  const owner = await joinByLink(platformUrl, invited.body.link, { email: "owner@example.com" });
  return { ...gateway, dataDir, platformUrl, operator, owner, account, keys };
}
