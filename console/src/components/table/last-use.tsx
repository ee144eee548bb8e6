import { Moment } from "./moment.tsx";

interface LastUseProps {
  readonly of: { readonly last_used_at: string | null; readonly last_rejected_at: string | null };
}

/** Of a key. One that was only ever rejected must not look unused. */
export function LastUse({ of: { last_used_at: at, last_rejected_at: rejectedAt } }: LastUseProps) {
  if (at !== null)
    return (
      <span className="nowrap">
        <Moment at={at} />
      </span>
    );
  if (rejectedAt === null) return "Never";
  return (
    <span>
      Rejected <Moment at={rejectedAt} />
    </span>
  );
}
