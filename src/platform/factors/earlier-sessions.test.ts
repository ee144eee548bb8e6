import { expect, test } from "bun:test";
import { briefGateway, joinOperator, nobody, password } from "../../../test/setup/platform-home.ts";
import { addApp, firstStep, signedIn, TestClock } from "../../../test/setup/second-factor.ts";

for (const rule of ["all", "off"])
  test(`a session from before the first factor is of no use after it (required: ${rule})`, async () => {
    const clock = new TestClock();
    const environment = { SVC_REQUIRE_SECOND_FACTOR: rule };
    await using gateway = await briefGateway({ clock, environment });
    const url = gateway.platformUrl;
    const owner = await joinOperator(gateway);
    const { email } = (await owner.ask("GET /api/session")).body.user;
    const given = { body: { email, password } };
    const thief = signedIn(url, await nobody(url).ask("POST /api/session", given));
    const people = (who: typeof thief) => who.ask("GET /api/people");
    expect((await people(thief)).status).toBe(rule === "all" ? 403 : 200);
    const { app } = await addApp(owner, clock);
    expect((await people(thief)).status).toBe(401);
    expect((await thief.ask("POST /api/me/verify", { body: { password } })).status).toBe(401);
    expect((await people(owner)).status).toBe(200);
    const { body: sessions } = await owner.ask("GET /api/me/sessions");
    expect(sessions).toMatchObject([{ factor: "totp", is_current: true }]);
    const { finish } = await firstStep(url, email);
    const proved = signedIn(url, await finish({ code: app.code() }));
    expect((await people(proved)).status).toBe(200);
    expect((await people(owner)).status).toBe(200);
  });
