import type { Cluster } from "./cluster.ts";

/** Accounts and keys as an installation of some years has them; no gateway hears of them. */
export async function addMany(
  cluster: Cluster,
  { accounts, keys }: { readonly accounts: number; readonly keys: number },
): Promise<void> {
  await cluster.query(
    `insert into accounts (id, name, created_at_ms)
      select 'acct_many' || lpad(at::text, 7, '0'), 'many ' || at, 1 from generate_series(1, $1) at`,
    [accounts],
  );
  await cluster.query(
    `insert into keys (id, account_id, name, hash, hint, created_at_ms)
      select 'key_many' || lpad(at::text, 7, '0'),
        'acct_many' || lpad((1 + at % $2)::text, 7, '0'), 'many ' || at,
        encode(sha256(at::text::bytea), 'hex'), 'sk-…' || at, 1 from generate_series(1, $1) at`,
    [keys, accounts],
  );
  await cluster.query("analyze");
}

/** The feed advances by this many changes at once; each is of an account that has not changed. */
export async function addChanges(cluster: Cluster, count: number): Promise<void> {
  await cluster.query(
    `with next as (
        update feed set sequence = sequence + $1 where id = 1 returning sequence),
      dropped as (delete from changes where sequence <= (select sequence - 1000 from next))
    insert into changes (sequence, topic, subject)
      select sequence - $1 + at, 'accounts', 'acct_many' || lpad(at::text, 7, '0')
      from next, generate_series(1, $1) at`,
    [count],
  );
}
