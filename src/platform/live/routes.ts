import { type Context, route } from "../context.ts";
import { actorOf } from "../http/context.ts";
import { apiHeaders, Refused } from "../http/refusal.ts";
import { toReceiptRow } from "../requests/views.ts";
import type { LiveNews } from "./live.ts";

/** Interval of keep-alives and access checks. */
const beatMs = 15_000;

/**
 * Live requests as server-sent events: `news` has the newest requests and their number, `rejections`
 * the number of calls that were rejected.
 */
export const liveRoutes = [
  route("GET /api/accounts/:account/live", {
    about: "Streams the requests of an account as they end, as server-sent events.",
    access: "viewer",
    area: "usage",
    contentType: "text/event-stream",
    handle: (context) => listen(context, context.account.id),
  }),
  route("GET /api/live", {
    about: "Streams the requests of all accounts as they end, as server-sent events.",
    access: "operator",
    area: "usage",
    contentType: "text/event-stream",
    handle: (context) => listen(context, undefined),
  }),
] as const;

async function listen(context: Context, accountId: string | undefined): Promise<Response> {
  const { live } = context.dependencies;
  const actorId = actorOf(context.actor).id;
  if (!live.hasRoomFor(actorId))
    throw new Refused({
      status: 503,
      code: "busy",
      message: "Too many open live pages. Close some, or try again later.",
    });
  const encoder = new TextEncoder();
  let end = () => {};
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const say = (text: string) => {
        // A slow reader misses events; it fetches the page again.
        if ((controller.desiredSize ?? 0) > -100) controller.enqueue(encoder.encode(text));
      };
      const close = () => {
        end();
        try {
          controller.close();
        } catch {
          // The reader has closed it already.
        }
      };
      const check = async () => {
        if (await mayGoOn(context)) return true;
        close();
        return false;
      };
      const stop = live.listen({
        accountId,
        actorId,
        tell: (news) => say(toEvent(news, context.isOperator)),
        recheck: async () => void (await check()),
        end: close,
      });
      const beat = setInterval(
        () => void check().then((goesOn) => goesOn && say(": still here\n\n")),
        beatMs,
      );
      end = () => {
        stop();
        clearInterval(beat);
      };
      context.signal.addEventListener("abort", () => end());
      say("retry: 2000\n\n");
      // Access may have been revoked between admission and listening.
      void check();
    },
    cancel: () => end(),
  });
  await live.listening();
  return new Response(body, {
    headers: { ...apiHeaders, "content-type": "text/event-stream; charset=utf-8" },
  });
}

/** After a role change the client must reconnect, because the content depends on the role. */
async function mayGoOn({ permission, isOperator }: Context): Promise<boolean> {
  try {
    const now = await permission();
    return now.isAllowed && now.isOperator === isOperator;
  } catch {
    return false;
  }
}

function toEvent({ count, receipts, rejected }: LiveNews, forOperator: boolean): string {
  const requests = receipts.map((receipt) => toReceiptRow({ receipt, forOperator }));
  const news = count === 0 ? "" : event("news", { count, requests });
  return rejected === 0 ? news : `${news}${event("rejections", { count: rejected })}`;
}

const event = (name: string, data: unknown) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
