import type { Actor } from "../audit/author.ts";
import type { LinkView } from "../people/schemas.ts";
import { type Letter, resetLetter } from "./letters.ts";
import { noPost, type Post } from "./post.ts";

interface Wish {
  readonly mail: boolean | undefined;
  readonly email: string | undefined;
  readonly by: Actor;
}

type Deliver = (view: LinkView, toLetter: (view: LinkView) => Letter) => Promise<LinkView>;

/** Checked before the link is created, so that a link that cannot be mailed never exists. */
export function toDelivery(post: Post | undefined, { mail, email, by }: Wish): Deliver {
  if (mail !== true) return (view) => Promise.resolve(view);
  if (post === undefined) throw noPost();
  const to = post.check(email);
  return async (view, toLetter) => {
    const problem = await post.send(to, toLetter(view), by);
    return { ...view, mailed_to: problem === null ? to : null, mail_problem: problem };
  };
}

export const toResetLetter = ({ link, expires_at: expiresAt }: LinkView): Letter =>
  resetLetter({ link, expiresAt });

/** For the audit log. */
export const mailDetail = ({ mail }: { readonly mail?: boolean | undefined }) =>
  mail === true ? { mail: true } : {};
