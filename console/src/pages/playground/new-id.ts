let last = 0;

/** For things of this page; browsers have crypto.randomUUID only where a page came by https. */
export function newId(): string {
  last += 1;
  return `thing-${last}`;
}
