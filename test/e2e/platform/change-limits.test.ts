import { beforeEach, expect, test } from "bun:test";
import {
  type Answer,
  joinMember,
  nobody,
  password,
  type Visitor,
} from "../../setup/platform-home.ts";
import { usePlatform } from "../../setup/use-platform.ts";

let nowMs = Date.UTC(2027, 0, 1);
const { gateway, operator } = usePlatform({ clock: { nowMs: () => nowMs } });
// What was used before is free again.
beforeEach(() => {
  nowMs += 3_600_000;
});

const member = (role: string, email = `${crypto.randomUUID()}@example.com`) =>
  joinMember(gateway, operator, { role, email });
/** To another name each time: the same one again would change nothing. */
const rename = (visitor: Visitor, name: string = crypto.randomUUID()) =>
  visitor.ask("PATCH /api/me", { body: { name } });

/** Asks until it is refused; how often it was not. */
async function countUntilRefused(ask: () => Promise<Answer>, most: number) {
  for (let count = 0; count <= most; count++) {
    const answer = await ask();
    if (answer.status === 429) return { count, answer };
    expect(answer.status).toBe(200);
  }
  throw new Error(`not refused after ${most}`);
}

test("a member makes a hundred changes at once and then one each second; reads go on", async () => {
  const viewer = await member("viewer");
  const { count, answer } = await countUntilRefused(() => rename(viewer), 200);
  expect(count).toBe(100);
  expect(answer.body.error.code).toBe("too_many_changes");
  expect(answer.body.error.message).toBe(
    "Too many changes. The limit is 60 per minute. Try again in 1 second.",
  );
  expect(answer.response.headers.get("retry-after")).toBe("1");
  expect((await viewer.ask("GET /api/me/sessions")).status).toBe(200);
  expect((await rename(operator)).status).toBe(200);
  expect((await rename(await member("viewer"))).status).toBe(200);
  nowMs += 1_000;
  expect((await rename(viewer)).status).toBe(200);
  expect((await rename(viewer)).status).toBe(429);
  // A refused change is not written down.
  const { body: me } = await viewer.ask("GET /api/session");
  expect(await countRenames(me.user.email)).toBe(101);
});

/** As the audit log has it, page by page. */
async function countRenames(actor: string): Promise<number> {
  let count = 0;
  let after: string | null = "";
  while (after !== null) {
    const { body }: Answer = await operator.ask("GET /api/audit", {
      query: { action: "person.rename", ...(after === "" ? {} : { after }) },
    });
    count += body.records.filter((row: { readonly actor: string }) => row.actor === actor).length;
    after = body.after;
  }
  return count;
}

test("a person who may change nothing for now can still end sessions and sign out", async () => {
  const email = "busy@example.com";
  const viewer = await member("viewer", email);
  const body = { email, password };
  expect((await nobody(gateway.platformUrl).ask("POST /api/session", { body })).status).toBe(200);
  await countUntilRefused(() => rename(viewer), 200);
  const { body: sessions } = await viewer.ask("GET /api/me/sessions");
  const other = sessions.find((one: { readonly is_current: boolean }) => !one.is_current);
  const end = await viewer.ask("DELETE /api/me/sessions/:id", { params: { id: other.id } });
  expect(end.status).toBe(200);
  expect((await viewer.ask("DELETE /api/session")).status).toBe(200);
});

test("signing in writes a session, so it is limited by person; other changes do not use it up", async () => {
  const email = "many-sessions@example.com";
  const viewer = await member("viewer", email);
  const signIn = (given: string) =>
    nobody(gateway.platformUrl).ask("POST /api/session", { body: { email: given, password } });
  await countUntilRefused(() => rename(viewer), 200);
  const { count, answer } = await countUntilRefused(() => signIn(email), 200);
  expect([count, answer.body.error.code]).toEqual([100, "too_many_changes"]);
  await member("viewer", "another@example.com");
  expect((await signIn("another@example.com")).status).toBe(200);
  nowMs += 1_000;
  expect((await signIn(email)).status).toBe(200);
});

test("one member's playground keys end no other's", async () => {
  const [bob, eve] = [await member("developer"), await member("developer")];
  const makeKey = async (of: Visitor) =>
    (await of.ask("POST /api/accounts/:account/playground-key")).body.key;
  const works = async (key: string) =>
    (await fetch(`${gateway.baseUrl}/models`, { headers: { authorization: `Bearer ${key}` } }))
      .status;
  const bobs = await makeKey(bob);
  const eves: string[] = [];
  for (let at = 0; at < 99; at++) eves.push(await makeKey(eve));
  expect(await works(bobs)).toBe(200);
  expect(await works(eves.at(-20) ?? "")).toBe(200);
  expect(await works(eves.at(-21) ?? "")).toBe(401);
});
