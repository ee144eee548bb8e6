/** The same models behind Google Cloud's door: a sign-in before the calls, other paths, other refusals. */

import { Dialer } from "../../../src/providers/kit/dial.ts";
import { createVertexProvider } from "../../../src/providers/vertex/provider.ts";
import { errorDetails, geminiError } from "../../fake/vendors/gemini-replies.ts";
import { serviceAccount } from "../../fake/vendors/vertex-account.ts";
import {
  type Dialect,
  type ErrorClass,
  operatorKey,
  type SentRequest,
  type VendorReply,
} from "../dialect.ts";
import { geminiDialect } from "./gemini.ts";

const json = { "content-type": "application/json; charset=UTF-8" };
const project = "operators-project";
const location = "us-central1";
const models = `/v1/projects/${project}/locations/${location}/publishers/google/models/`;

/** What differs from the same models elsewhere. */
const refusals: Readonly<Partial<Record<ErrorClass, Parameters<typeof geminiError>[0]>>> = {
  badKey: {
    code: 401,
    status: "UNAUTHENTICATED",
    message: "Request had invalid authentication credentials.",
    details: [errorDetails.reason("ACCESS_TOKEN_TYPE_UNSUPPORTED")],
  },
  noPermission: {
    code: 403,
    status: "PERMISSION_DENIED",
    message: "Permission 'aiplatform.endpoints.predict' denied on resource.",
    details: [errorDetails.reason("IAM_PERMISSION_DENIED")],
  },
  outOfMoney: {
    code: 403,
    status: "PERMISSION_DENIED",
    message: "This API method requires billing to be enabled.",
    details: [errorDetails.reason("BILLING_DISABLED")],
  },
  modelMissing: {
    code: 404,
    status: "NOT_FOUND",
    message: `Publisher Model ${models.slice(4)}gemini-9 was not found.`,
  },
};

export const vertexDialect: Dialect = {
  ...geminiDialect,
  name: "vertex",
  vendorWords: [...geminiDialect.vendorWords, "vertex", "aiplatform", project],
  headers: ["authorization"],
  create: ({ origin, name, network }) =>
    createVertexProvider({
      name,
      baseUrl: `${origin}/v1`,
      apiKey: undefined,
      allowPrivate: true,
      options: { project, location, credentials: serviceAccount(`${origin}/token`) },
      dialer: new Dialer({ provider: name, allowPrivate: true, ...network }),
      // Its token stays young: an older one is made anew when it is refused, which adds a request.
      clock: { nowMs: () => Date.parse("2026-10-14T09:00:00Z") },
    }),
  beside: ({ path }) => {
    if (path !== "/token") return undefined;
    const token = { access_token: operatorKey, expires_in: 3599, token_type: "Bearer" };
    return { headers: json, packets: [JSON.stringify(token)] };
  },
  error: (kind, options): VendorReply | undefined => {
    const said = refusals[kind];
    if (said === undefined) return geminiDialect.error(kind, options);
    const body = geminiError({ ...said, message: `${said.message} ${options.words}` });
    return { status: said.code, headers: json, packets: [JSON.stringify(body, null, 2)] };
  },
  asked: (request) => geminiDialect.asked(atGemini(request)),
  credential: ({ headers }) => /^Bearer (.+)$/.exec(headers["authorization"] ?? "")?.[1],
  models: (ids) => {
    const publisherModels = ids.map((id) => ({
      name: `publishers/google/models/${id}`,
      versionId: "default",
      launchStage: "GA",
    }));
    const body = ids.length === 0 ? {} : { publisherModels };
    return { headers: json, packets: [JSON.stringify(body)] };
  },
  modelsPath: "/v1beta1/publishers/google/models",
};

/** The same request at the address where the body is known. */
function atGemini({ method, path, json }: SentRequest): SentRequest {
  if (!path.startsWith(models)) throw new Error(`${path} is no model's`);
  return { method, path: `/v1beta/models/${path.slice(models.length)}`, json };
}
