import { startTestGateway, type TestGateway } from "./harness.ts";
import { client, type RealProvider, startRealProvider } from "./identity-provider.ts";
import { freePort, joinOperator, type Visitor } from "./platform-home.ts";

/** A gateway whose users sign in through a real identity provider, which it calls "Example Corp". */
export interface IdentityHome {
  readonly gateway: TestGateway;
  readonly provider: RealProvider;
  readonly operator: Visitor;
  /** Adds a person at the provider, or changes one. */
  add(login: string, groups: readonly string[], more?: object): void;
  stop(): Promise<void>;
}

/** The settings of a platform that trusts the provider at a port. */
export const identitySettings = (port: string, roles: string) => ({
  SVC_OIDC_ISSUER: `http://127.0.0.1:${port}`,
  SVC_OIDC_CLIENT_ID: client.id,
  SVC_OIDC_CLIENT_SECRET: client.secret,
  SVC_OIDC_NAME: "Example Corp",
  SVC_OIDC_SCOPES: "openid email profile groups",
  SVC_OIDC_ROLES: roles,
});

export async function startIdentityHome(roles: string): Promise<IdentityHome> {
  const port = freePort();
  const gateway = await startTestGateway({ environment: identitySettings(port, roles) });
  const { platformUrl } = gateway;
  const provider = await startRealProvider({ port, platformUrl });
  return {
    gateway,
    provider,
    operator: await joinOperator(gateway),
    add: (login, groups, more = {}) =>
      void provider.users.set(login, {
        email: `${login}@example.com`,
        email_verified: true,
        name: `${login} Example`,
        groups,
        ...more,
      }),
    async stop() {
      await gateway.stop();
      await provider.stop();
    },
  };
}
