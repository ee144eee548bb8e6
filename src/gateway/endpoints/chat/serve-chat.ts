import { nextTurn } from "../../../base/clock.ts";
import { ApiError } from "../../../base/errors.ts";
import type { ChatCall, ChatResult } from "../../../call/chat.ts";
import { textsOf } from "../../../call/chat-size.ts";
import { endpointPaths } from "../../../call/endpoint.ts";
import { isHollow, type Usage } from "../../../call/usage.ts";
import type { Model } from "../../../catalog/model.ts";
import type { ChatDialect, ChatOrder, ReplyIdentity } from "../../../wire/v1/dialect.ts";
import { fieldError } from "../../../wire/v1/validate.ts";
import { callerLeft } from "../../active-calls.ts";
import type { CallCharge } from "../../billing/charge.ts";
import { notProvided } from "../../failures.ts";
import { checkTextBytes, isLargeBody } from "../../request/read-body.ts";
import type { ServedCall } from "../../served-call.ts";
import { toReplyStream } from "../../stream-reply.ts";
import type { CallTrace } from "../../tracing.ts";
import { chatNeed, countUsage, hasSaid, measured, saidIn } from "./chat-money.ts";
import { ChatSource } from "./chat-source.ts";
import { type OpenedChat, openChat } from "./open-chat.ts";

/** An admitted chat. */
interface AdmittedChat<Order extends ChatOrder> {
  readonly served: ServedCall;
  readonly dialect: ChatDialect<Order>;
  /** With those of its routes that can serve the call. */
  readonly model: Model;
  readonly order: Order;
  readonly chat: ChatCall;
  readonly charge: CallCharge;
  readonly identity: ReplyIdentity;
}

/** A call of a chat model, in any dialect: admission, routing, money and streams are the same. */
export function serveChat<Order extends ChatOrder>(
  served: ServedCall,
  dialect: ChatDialect<Order>,
): Promise<Response> {
  const { body, exchange, price } = served;
  const { id: modelId, maxOutputTokens } = served.model;
  const { headers } = exchange.request;
  const order = dialect.read(body, { modelId, maxOutputTokens, headers });
  if (order.stream) served.stream();
  checkTextBytes(exchange, dialect.promptField, () => textsOf(order.call).texts);
  const model = ableModel(served, order.call);
  // From here on, errors name the fields of the call.
  const { toField } = dialect;
  if (toField !== undefined) exchange.toField = (param) => toField(param, order);
  const sized = chatNeed({ order, model, price, tpm: exchange.tpm });
  const { need, tokens, isShortened, aboutInputTokens } = sized;
  if (isShortened) exchange.loweredCap = need.cap;
  const identity: ReplyIdentity = {
    id: dialect.idPrefix + exchange.requestId.slice("req_".length),
    createdS: Math.floor(exchange.startedMs / 1000),
    clock: served.dependencies.clock,
    model: served.asked,
    modelId,
    aboutInputTokens,
  };
  const begin = (charge: CallCharge): Promise<Response> => {
    // Without a cap there is no worst case; one that costs nothing needs none.
    const { messages, maxOutputTokens, options, original } = order.call;
    const hasCap = maxOutputTokens !== undefined || need.perToken > 0n || isShortened;
    const isSame = !hasCap || maxOutputTokens === charge.cap;
    const chat = isSame ? order.call : { messages, maxOutputTokens: charge.cap, options, original };
    const admitted = { served, dialect, model, order, chat, charge, identity };
    if (exchange.trace?.hasContent === true) exchange.trace.setInput(messages);
    const serve = () => (order.stream ? stream(admitted) : whole(admitted));
    return isLargeBody(exchange) ? nextTurn().then(serve) : serve();
  };
  const charge = served.admit(need, tokens);
  return charge instanceof Promise ? charge.then(begin) : begin(charge);
}

async function whole<Order extends ChatOrder>(admitted: AdmittedChat<Order>): Promise<Response> {
  const { served, dialect, model, order, chat, charge, identity } = admitted;
  const { dependencies, exchange, call } = served;
  const { counter } = dependencies;
  const countFor = { accountId: served.key.accountId, purpose: "reply" } as const;
  const counted = { counter, countFor, chat, model, choices: order.choices };
  const result = await dependencies.router.serve(model, call, (attempt) => {
    const { provider, target } = attempt;
    if (provider.chat === undefined) throw notProvided(model);
    charge.begin(attempt);
    const { signal, onDial } = call;
    return provider.chat({ call: chat, target, signal, onAccepted: charge.accepted, onDial });
  });
  if (exchange.trace !== undefined) traceReply(exchange.trace, result);
  const { usage: told } = result;
  // What was said is looked at only where the count of it is nothing.
  const isTold = told !== undefined && !isHollow(told, told.outputTokens === 0 && hasSaid(result));
  const said = () => saidIn(result, order.writtenPerReturned);
  const isNative = result.native !== undefined;
  const usage = isTold ? told : await countUsage({ ...counted, isNative, said: said() });
  const reply = dialect.toReply({ identity, order, result, usage });
  const text = typeof reply === "string" ? reply : await reply;
  await charge.settle(measured(usage), { contentType: "application/json", body: text });
  served.end();
  return exchange.json(text);
}

function traceReply(trace: CallTrace, result: ChatResult): void {
  for (const { finishReason } of result.choices) trace.finished(finishReason);
  if (trace.hasContent) trace.setOutput(saidIn(result).text);
}

async function stream<Order extends ChatOrder>(admitted: AdmittedChat<Order>): Promise<Response> {
  const { served, dialect, model, order, chat, charge, identity } = admitted;
  const { dependencies, exchange, call } = served;
  const writer = dialect.createWriter(identity, order);
  // Whether the target that was asked last speaks the dialect, for callers who leave before it has spoken.
  let isFluent = false;
  const opening = dependencies.router.serve(model, call, async (attempt): Promise<OpenedChat> => {
    const { provider, target } = attempt;
    if (provider.streamChat === undefined) throw notProvided(model);
    charge.begin(attempt);
    isFluent = provider.dialects?.includes(dialect.name) === true;
    const parts = await provider.streamChat({
      call: chat,
      target,
      signal: call.signal,
      onAccepted: charge.accepted,
      onDial: call.onDial,
      onHeard: call.onHeard,
    });
    return openChat(parts, provider.name);
  });
  const { reasoning, counter } = dependencies;
  // Asked once, when the caller leaves.
  let hidesWork = false;
  const mayHide = () => {
    hidesWork = reasoning.mayHide(model.id, asksForReasoning(chat), writer.reasoningChars);
    return hidesWork;
  };
  const count = () => {
    const purpose = call.isLeft ? "left" : "reply";
    const countFor = { accountId: served.key.accountId, purpose } as const;
    const hiddenTokens = hidesWork ? reasoning.meanOf(model.id) : 0;
    const { said } = writer;
    const counted = { counter, countFor, chat, said, model, choices: order.choices };
    const isNative = writer.hasBegun ? writer.isNative === true : isFluent;
    return countUsage({ ...counted, hiddenTokens, isNative });
  };
  const cap = chat.maxOutputTokens;
  const onCounted = ({ reasoningTokens = 0 }: Usage) =>
    reasoning.noteShown(model.id, reasoningTokens, writer.reasoningChars);
  const { trace } = exchange;
  const source = new ChatSource({ opening, writer, call, charge, cap, count, onCounted, trace });
  charge.measure = () => source.measure();
  call.hidesWork = () => charge.isTaken && !source.isCounted && mayHide();
  // Before the first output, a failure returns its real status. If there is no output within the
  // keep-alive interval, the caller gets the headers and a comment instead.
  source.startsSilent = await Promise.race([
    opening.then((opened) => {
      source.begin(opened);
      return false;
    }),
    new Promise<boolean>((resolve) => {
      call.onSilence = () => resolve(true);
    }),
  ]);
  // Left before the model spoke, and read on: there is nobody to reply to.
  if (call.isLeft) throw callerLeft("the caller closed the connection");
  return exchange.events(toReplyStream({ call, source, onEnd: (error) => served.end(error) }));
}

/** The fields by which callers ask a model to think. */
const asksForReasoning = ({ options }: ChatCall) =>
  (options["reasoning_effort"] ?? "none") !== "none" ||
  options["reasoning"] !== undefined ||
  options["thinking"] !== undefined;

/** The model, with those of its routes that can serve what only some vendors have. */
function ableModel({ model, dependencies: { router } }: ServedCall, { original }: ChatCall): Model {
  if (original?.nativeField === undefined) return model;
  const { dialect, nativeField } = original;
  const able = router.narrow(model, ({ dialects }) => dialects?.includes(dialect) === true);
  if (able.routes.length > 0) return able;
  if (nativeField !== "model")
    throw fieldError(
      nativeField,
      `is not supported by ${model.id}. Remove it or use another model`,
    );
  throw new ApiError({
    code: "wrong_endpoint",
    param: "model",
    message: `${model.id} is not available on this endpoint. Use POST ${endpointPaths.chat}.`,
  });
}
