import { type ChildServer, createHome, type Home } from "../../setup/child.ts";
import { standardManifest } from "../../setup/harness.ts";
import { join, machine } from "../../setup/platform-home.ts";
import { responsesModel } from "./cases/dialect-cases.ts";
import { transcriptionModel } from "./cases/stall-case.ts";
import { vendorModels } from "./cases/vendor-cases.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "./scripted-upstream.ts";

/** The real gateway as a process of its own, and all that is needed to call it. */
export interface StallTarget {
  readonly pid: number;
  readonly origin: string;
  readonly platformOrigin: string;
  readonly key: string;
  /** The operator's, for the platform. */
  readonly token: string;
  readonly account: string;
  readonly upstream: ScriptedUpstream;
  /** Puts the upstream back in service after replies that took it out. */
  heal(): Promise<void>;
  stop(): Promise<void>;
}

export async function startStallTarget(): Promise<StallTarget> {
  const upstream = await startScriptedUpstream();
  const home = createHome({ isProcess: true });
  home.writeConfig(manifest.replaceAll("UPSTREAM", upstream.baseUrl));
  const server = await home.serve({
    FAKE_KEY: "vendor-secret",
    SVC_STORE_RESPONSES: "on",
    // It describes no identity provider: what comes after the form is read ends there.
    SVC_OIDC_ISSUER: new URL(upstream.baseUrl).origin,
    SVC_OIDC_CLIENT_ID: "stalls",
    SVC_OIDC_ROLES: "*=default:viewer",
  });
  await home.svc(["account", "credit", "default", "1000000", "--reference", "stalls"]);
  const token = await operatorToken(server);
  const operator = machine(server.platformUrl, token);
  return {
    pid: server.pid,
    origin: server.origin,
    platformOrigin: server.platformUrl,
    key: server.key ?? "",
    token,
    account: await accountId(home),
    upstream,
    async heal() {
      for (const name of providers) {
        const reset = await operator.ask(`POST /api/providers/${name}/reset`, { body: {} });
        // The command takes a second, but has no limit of changes.
        if (reset.status >= 300) await home.svc(["provider", "reset", name]);
      }
    },
    async stop() {
      await home.remove();
      await upstream.stop();
    },
  };
}

/** Each provider with what its entry says of itself, and its model. */
const ownModels: Readonly<Record<string, readonly [entry: string, model: string]>> = {
  gemini: ["kind: gemini", vendorModels.gemini],
  anthropic: ["kind: anthropic", vendorModels.anthropic],
  openai: ["kind: openai, vendor: openai", responsesModel],
};
const providers = ["fake", ...Object.keys(ownModels)];

/** The standard models, one that transcribes, and one for each vendor that has requests or replies of its own. */
const manifest = Object.entries(ownModels).reduce(
  (text, [name, [entry, model]]) =>
    `${text.replace(
      "models:\n",
      `  ${name}: { ${entry}, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }\nmodels:\n`,
    )}  ${model}: { endpoint: chat, max_output_tokens: 8192, price: { input: 0, output: 0 }, routes: [{ provider: ${name}, model: x }] }\n`,
  `${standardManifest}  ${transcriptionModel}: { endpoint: transcription, price: { audio_second: 0 }, routes: [{ provider: fake, model: x }] }\n`,
);

async function accountId(home: Home): Promise<string> {
  const shown = await home.json<{ readonly id: string }>(["account", "show", "default"]);
  return shown.id;
}

const scopes = ["usage", "keys", "members", "billing", "providers", "catalog", "prices"];
const operatorScopes = ["accounts", "engine", "settings", "audit", "metrics"];

/** Joins by the link of the first start, as a person would, and makes a token for a machine. */
async function operatorToken({ platformUrl, operatorLink = "" }: ChildServer): Promise<string> {
  const person = await join(platformUrl, operatorLink, { email: "ada@example.com" });
  const made = await person.ask("POST /api/tokens", {
    body: { name: "stalls", scopes: [...scopes, ...operatorScopes].map((area) => `${area}:write`) },
  });
  return String(made.body["token"]);
}
