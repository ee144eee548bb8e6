import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ApiProblem, call, type Reply } from "../../../api.ts";
import { formatCount, formatMs } from "../../../format/figures.ts";
import { formatUsdExact } from "../../../format/money.ts";
import { usePlaygroundAccount } from "../account.ts";
import classes from "./receipt.module.css";

const perWords: Readonly<Record<string, string>> = {
  million: "per 1M",
  image: "per image",
  second: "per second",
};

/** What a call cost, and why, beside its answer. */
export function Receipt({ requestId }: { readonly requestId: string }) {
  const account = usePlaygroundAccount();
  const receipt = useReceipt(account, requestId);
  return (
    <div role="group" className={classes.slip} aria-label="Receipt">
      <div className={classes.head}>
        <span className={classes.title}>Receipt</span>
        <Link
          to="/a/$account/requests/$request"
          params={{ account, request: requestId }}
          aria-label={`Open request ${requestId}`}
        >
          Open
        </Link>
      </div>
      {receipt.isPending && <p className={classes.quiet}>Loading…</p>}
      {receipt.error !== null && <p className={classes.quiet}>{missing(receipt.error.status)}</p>}
      {receipt.data !== undefined && <Figures receipt={receipt.data} />}
    </div>
  );
}

function missing(status: number): string {
  return status === 404
    ? "No receipt. The call ended before it cost anything."
    : "The receipt is not available right now. Find it under Requests.";
}

type ReceiptData = NonNullable<ReturnType<typeof useReceipt>["data"]>;

function Figures({ receipt }: { readonly receipt: ReceiptData }) {
  const { arithmetic, timeline, charged_usd, cost_usd, estimated } = receipt;
  return (
    <>
      <dl>
        {(arithmetic?.rows ?? []).map((row) => (
          <div key={row.class} className={classes.row}>
            <dt>
              {formatCount(row.units)} {row.words}
              <span className={classes.unit}>
                × {formatUsdExact(row.price_usd)} {perWords[row.per] ?? row.per}
              </span>
            </dt>
            <dd>{formatUsdExact(row.cost_usd)}</dd>
          </div>
        ))}
        {isSome(arithmetic?.rounding_usd) && (
          <div className={classes.row}>
            <dt>Rounding</dt>
            <dd>{formatUsdExact(arithmetic?.rounding_usd ?? "")}</dd>
          </div>
        )}
        <div className={classes.total}>
          <dt>Charged</dt>
          <dd>{formatUsdExact(charged_usd)}</dd>
        </div>
        {cost_usd !== charged_usd && (
          <div className={classes.row}>
            <dt>Cost</dt>
            <dd>{formatUsdExact(cost_usd)}</dd>
          </div>
        )}
      </dl>
      <Times firstMs={timeline.first_byte_ms} wholeMs={timeline.duration_ms} />
      {estimated && <p className={classes.quiet}>Tokens were estimated.</p>}
    </>
  );
}

const isSome = (usd: string | undefined) => usd !== undefined && /[1-9]/.test(usd);

interface TimesProps {
  readonly firstMs: number | null;
  readonly wholeMs: number;
}

function Times({ firstMs, wholeMs }: TimesProps) {
  const share = firstMs === null || wholeMs === 0 ? 0 : Math.min(firstMs / wholeMs, 1);
  return (
    <div className={classes.times}>
      <svg width="100%" height={4} aria-hidden="true" className={classes.bar}>
        <rect width="100%" height={4} rx={2} className={classes.whole} />
        <rect width={`${share * 100}%`} height={4} rx={2} className={classes.first} />
      </svg>
      <p>
        {firstMs !== null && <>first byte {formatMs(firstMs)} · </>}
        {formatMs(wholeMs)} total
      </p>
    </div>
  );
}

type ReceiptReply = Reply<"GET /api/accounts/:account/requests/:id">;

const tries = 6;
const firstDelayMs = 300;

/**
 * The receipt of a call that is over. It is durable before the last byte of an answer; only that
 * of a call which was stopped here may come a moment later.
 */
export function useReceipt(account: string, id: string) {
  return useQuery<ReceiptReply, ApiProblem>({
    queryKey: ["playground-receipt", account, id],
    queryFn: () => call("GET /api/accounts/:account/requests/:id", { params: { account, id } }),
    retry: (count, problem) =>
      count < tries && problem instanceof ApiProblem && problem.status === 404,
    retryDelay: (count) => firstDelayMs * 2 ** count,
    staleTime: Number.POSITIVE_INFINITY,
  });
}
