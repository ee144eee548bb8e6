import { homedir } from "node:os";
import { join } from "node:path";
import { Problem } from "../../../base/problem.ts";
import type { CatalogEntryView } from "../../../platform/models/schemas.ts";
import { toBaseUrl } from "../../call/gateway-client.ts";
import { addressForTools } from "../../call/own-certificate.ts";
import type { Invocation, Wiring } from "../../command.ts";
import type { Places, Target } from "./tool.ts";

/** The gateway and the model that a tool is to call. */
export async function findTarget({
  flags,
  wiring,
}: Pick<Invocation, "flags" | "wiring">): Promise<Target> {
  const { model, url } = flags;
  if (url === undefined) {
    const baseUrl = await publicUrl(wiring);
    const models = await wiring.withOperations(({ catalog }) => catalog.list({}));
    const chosen = chooseModel(models, model);
    return toTarget(baseUrl, model ?? chosen.id, chosen.context_length ?? undefined);
  }
  if (model === undefined)
    throw new Problem({
      code: "invalid",
      field: "model",
      message: "--url requires --model, because only the local models are known here.",
    });
  return toTarget(toBaseUrl(url), model);
}

function toTarget(baseUrl: string, model: string, contextTokens?: number): Target {
  const rootUrl = baseUrl.replace(/\/v1$/, "");
  return { baseUrl, rootUrl, model, contextTokens, key: undefined };
}

/** As the server has it, which may have chosen its port; without a server, as the settings have it. */
async function publicUrl({ configuration, withOperations }: Wiring): Promise<string> {
  const running = await withOperations(({ gateway }) => gateway.show({})).catch(() => undefined);
  if (running !== undefined) return addressForTools(configuration().settings, running.base_url);
  const setting = configuration().inForce.find(({ name }) => name === "SVC_PUBLIC_URL");
  return toBaseUrl(setting?.value ?? "");
}

function chooseModel(
  models: readonly CatalogEntryView[],
  named: string | undefined,
): CatalogEntryView {
  if (named !== undefined) {
    const model = models.find(({ id, aliases }) => id === named || aliases.includes(named));
    if (model === undefined)
      throw new Problem({
        code: "not_found",
        message: `Model "${named}" does not exist.`,
        command: "model list",
      });
    if (model.endpoint === "chat") return model;
    throw new Problem({
      code: "invalid",
      field: "model",
      message: `${named} is not a chat model.`,
      command: "model list",
    });
  }
  const served = models.filter(({ endpoint, served }) => endpoint === "chat" && served);
  const found = served.find(({ status }) => status === "active") ?? served[0];
  if (found !== undefined) return found;
  throw new Problem({
    code: "not_found",
    message: "No chat model is served. Add one, or name a model with --model.",
    command: "model list",
  });
}

export function findPlaces({ configuration }: Wiring): Places {
  const { variable } = configuration();
  const homeDir = variable("HOME") || homedir();
  const home = (path: string) => join(homeDir, path);
  return {
    home,
    named: (name, usual, path) => join(variable(name) || home(usual), path),
    isMac: process.platform === "darwin",
  };
}

/** As people write it. */
export function shownPath(path: string, { home }: Places): string {
  const root = home("/");
  return path.startsWith(root) ? `~/${path.slice(root.length)}` : path;
}
