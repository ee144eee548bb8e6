import { toDateText } from "../../base/dates.ts";
import { Problem } from "../../base/problem.ts";
import type { AccountStore } from "../../ledger/account.ts";
import { Invites } from "../../people/invites.ts";
import { noMember, type People } from "../../people/people.ts";
import type { AccountRole } from "../../people/role.ts";
import { type Audits, before, makerOf, type Unbound } from "../audit/author.ts";
import { mailDetail, toDelivery, toResetLetter } from "../mail/delivery.ts";
import { invitationLetter, inviterName } from "../mail/letters.ts";
import type { Post } from "../mail/post.ts";
import type { LinkView } from "../people/schemas.ts";
import { toInvited, toLink, toWaysIn } from "../people/views.ts";
import type { MembersView } from "./schemas.ts";

interface Member {
  /** Of the account and of the person. */
  readonly account: string;
  readonly id: string;
}

export interface MemberOperations {
  list(input: { account: string }): Promise<MembersView>;
  /** A link by which one person can join the account. */
  invite(input: {
    account: string;
    role: AccountRole;
    email?: string | undefined;
    mail?: boolean | undefined;
  }): Promise<LinkView>;
  uninvite(input: { account: string; id: string }): Promise<void>;
  /** Forced: also where the account is left without an owner. */
  setRole(input: Member & { role: AccountRole; isForced: boolean }): Promise<void>;
  remove(input: Member & { isForced: boolean }): Promise<void>;
  resetPassword(input: Member & { mail?: boolean | undefined }): Promise<LinkView>;
}

export const memberAudits = {
  list: null,
  invite: {
    action: "member.invite",
    detail: ({ role, mail }) => ({ role, ...mailDetail({ mail }) }),
  },
  uninvite: { action: "member.uninvite" },
  setRole: { action: "member.role", detail: ({ role }) => ({ role }) },
  remove: { action: "member.remove" },
  resetPassword: { action: "person.reset", detail: mailDetail },
} satisfies Audits<MemberOperations>;

export interface MemberDependencies {
  readonly people: People;
  readonly accounts: Pick<AccountStore, "find">;
  readonly platformUrl: () => string;
  readonly post?: Post | undefined;
  readonly gateway?: { endTemporaryKeys(owner: string): Promise<void> } | undefined;
}

export function memberOperations(
  dependencies: MemberDependencies,
): Unbound<MemberOperations, typeof memberAudits> {
  const { people, accounts, platformUrl, gateway, post } = dependencies;
  const { store } = people;
  const invites = new Invites(people);
  return {
    list: ({ account }) => listMembers(people, account),
    async invite({ account: accountId, role, email, mail }, { actor, audit }) {
      const delivery = toDelivery(post, { mail, email, by: actor });
      const made = await invites.member(
        { accountId, role, email, by: makerOf(actor) },
        ({ id, email: asked = id }) => audit({ subject: asked, accountId }),
      );
      const name = (await accounts.find(accountId))?.name ?? accountId;
      const by = inviterName(actor);
      return delivery(toLink(platformUrl(), made), ({ link, expires_at: expiresAt }) =>
        invitationLetter({ by, account: { name, role }, link, expiresAt }),
      );
    },
    async uninvite({ account: accountId, id }, { audit }) {
      const mine = (await store.invites(accountId)).find((one) => one.id === id);
      const { email = id } = mine ?? {};
      const isRemoved =
        mine !== undefined && (await store.removeInvite(id, audit({ subject: email, accountId })));
      if (!isRemoved)
        throw new Problem({ code: "not_found", message: "This invitation no longer exists." });
    },
    async setRole({ account: accountId, id, role, isForced }, { audit }) {
      const member = { accountId, userId: id, role, isForced };
      const known = (await store.memberships({ userId: id })).find(
        (one) => one.accountId === accountId,
      );
      const detail = before({ role: known?.role }, { role });
      await people.setRole(member, audit({ subject: await people.emailOf(id), accountId, detail }));
      await gateway?.endTemporaryKeys(id);
    },
    async remove({ account: accountId, id, isForced }, { audit }) {
      const member = { accountId, userId: id, isForced };
      await people.removeMember(member, audit({ subject: await people.emailOf(id), accountId }));
      await gateway?.endTemporaryKeys(id);
    },
    async resetPassword({ account: accountId, id, mail }, { actor, audit }) {
      const members = await store.memberships({ accountId });
      const isMember = members.some(({ userId }) => userId === id);
      const user = isMember ? await store.user(id) : undefined;
      if (user === undefined) throw noMember();
      const delivery = toDelivery(post, { mail, email: user.email, by: actor });
      const made = await invites.reset(user, makerOf(actor), () =>
        audit({ subject: user.email, accountId }),
      );
      return delivery(toLink(platformUrl(), made), toResetLetter);
    },
  };
}

async function listMembers(people: People, accountId: string): Promise<MembersView> {
  const { store, clock, policy } = people;
  const withFactors = await store.withFactors();
  const withIdentities = await store.withIdentities();
  const members = (await store.memberships({ accountId })).map(async (membership) => {
    const { userId: id, role, createdAtMs, isByIdentity = false } = membership;
    const user = await store.user(id);
    if (user === undefined) return [];
    const { email, name } = user;
    const joined = toDateText(createdAtMs);
    const all = { user, memberships: await store.memberships({ userId: id }) };
    const member = {
      id,
      email,
      name,
      role,
      joined_at: joined,
      has_second_factor: withFactors.has(id),
      is_by_identity: isByIdentity,
      ...toWaysIn(all, { hasIdentity: withIdentities.has(id), policy }),
    };
    return [member];
  });
  const invites = await store.invites(accountId);
  const open = invites.filter(({ expiresAtMs }) => expiresAtMs > clock.nowMs());
  return { members: (await Promise.all(members)).flat(), invited: open.map(toInvited) };
}
