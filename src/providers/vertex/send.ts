import { type Clock, systemClock } from "../../base/clock.ts";
import type { ProviderCall } from "../contract.ts";
import type { Dialer } from "../kit/dial.ts";
import { baseHeaders, send as sendTo } from "../kit/http.ts";
import type { UpstreamReply } from "../kit/reply.ts";
import type { CredentialsSource } from "./credentials.ts";
import { type Pass, SignIn } from "./sign-in.ts";

/** Posted, or without a body a GET. */
interface VertexRequest {
  readonly path: string;
  readonly body: string | undefined;
  readonly call: Sending;
}

type Sending = Pick<ProviderCall<unknown>, "signal"> &
  Partial<Pick<ProviderCall<unknown>, "onAccepted" | "onDial">>;

export type VertexSend = (request: VertexRequest) => Promise<UpstreamReply>;

export interface SendOptions {
  readonly name: string;
  readonly baseUrl: string;
  /** Instead of a sign-in. */
  readonly apiKey: string | undefined;
  readonly credentials: Omit<CredentialsSource, "provider">;
  readonly dialer: Dialer;
  readonly clock?: Clock | undefined;
}

/** Requests with a key, or with the token of a sign-in. */
export function createSend(parts: SendOptions): VertexSend {
  const { name: provider, baseUrl, apiKey, credentials, dialer, clock = systemClock } = parts;
  const pin = dialer.pin(baseUrl);
  const headers = baseHeaders(pin);
  const sendWith = ({ headers }: Pass, { path, body, call }: VertexRequest, watch?: Watch) =>
    sendTo({
      provider,
      pin,
      path,
      headers,
      body,
      signal: call.signal,
      onAccepted: call.onAccepted ?? ignore,
      onRefused: watch ?? ignore,
      onDial: call.onDial,
    });
  if (apiKey !== undefined) {
    const pass: Pass = { headers: { ...headers, "x-goog-api-key": apiKey } };
    return (request) => sendWith(pass, request);
  }
  const signIn = new SignIn({
    source: { provider, ...credentials },
    dialer,
    clock,
    headers,
  });
  const sendSignedIn = async (pass: Pass, request: VertexRequest): Promise<UpstreamReply> => {
    let status = 0;
    try {
      return await sendWith(pass, request, (refused) => (status = refused));
    } catch (error) {
      // Tokens are ended early now and then; nothing was done with this one, so another is tried, once.
      if (status !== 401 || !signIn.drop(pass)) throw error;
      return sendWith(await signIn.pass(request.call.signal), request);
    }
  };
  return (request) => {
    const pass = signIn.pass(request.call.signal);
    return pass instanceof Promise
      ? pass.then((made) => sendSignedIn(made, request))
      : sendSignedIn(pass, request);
  };
}

type Watch = (status: number) => void;
const ignore = () => {};
