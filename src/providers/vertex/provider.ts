import type { Clock } from "../../base/clock.ts";
import type { Provider } from "../contract.ts";
import { createGenerateCalls } from "../gemini/chat/generate.ts";
import { createBroken } from "../kit/broken.ts";
import type { Dialer } from "../kit/dial.ts";
import { SetupFault } from "../kit/setup-fault.ts";
import { modelPath, type Place, placePath, placeProblem, toBaseUrl } from "./address.ts";
import { createEmbed } from "./embed.ts";
import { createListModels } from "./list-models.ts";
import { createSend } from "./send.ts";

export interface VertexOptions {
  readonly name: string;
  /** Instead of the location's own; empty where there is none. */
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly allowPrivate: boolean;
  /** project, location, credentials, credentials_file. */
  readonly options: Readonly<Record<string, string>>;
  readonly dialer: Dialer;
  readonly clock?: Clock;
}

/** Google Cloud's own door to its models: as Gemini behind a sign-in, with embeddings of another form. */
export function createVertexProvider(parts: VertexOptions): Provider {
  const { name, apiKey } = parts;
  const { project = "", location = "" } = parts.options;
  const place: Place = { project, location, isExpress: apiKey !== undefined };
  const problem = placeProblem(place);
  if (problem !== undefined)
    return createBroken({
      name,
      problem,
      cause: new SetupFault("settings", {
        what: `The settings of ${name} are invalid: ${problem}.`,
        advice: "",
      }),
    });
  const baseUrl = parts.baseUrl === "" ? toBaseUrl(place) : parts.baseUrl;
  const base = new URL(baseUrl).pathname.replace(/\/+$/, "");
  const { credentials: text, credentials_file: file } = parts.options;
  const send = createSend({
    name,
    baseUrl,
    apiKey,
    credentials: { text, file, allowPrivate: parts.allowPrivate },
    dialer: parts.dialer,
    clock: parts.clock,
  });
  const models = base + placePath(place);
  const toPath = (model: string, method: string) => `${models}${modelPath(model)}:${method}`;
  return {
    name,
    ...createGenerateCalls({
      name,
      send: ({ model, method, body, call }) => {
        const path = toPath(model, method);
        // Without it the stream is one JSON array.
        const query = method === "streamGenerateContent" ? "?alt=sse" : "";
        return send({ path: path + query, body, call });
      },
    }),
    embed: createEmbed({ name, send, toPath }),
    listModels: createListModels({ name, send, base }),
  };
}
