import { createServer } from "node:http";
import { exportJWK, generateKeyPair } from "jose";
import { Provider } from "oidc-provider";

/** A person at the provider; tests change them between sign-ins. */
export interface ProviderUser {
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly name?: string;
  readonly groups?: readonly string[];
}

export interface RealProvider {
  readonly issuer: string;
  readonly users: Map<string, ProviderUser>;
  stop(): Promise<void>;
}

export const client = {
  id: "svc-gateway",
  secret: "a-client-secret-of-the-tests-1234567890",
} as const;

/** The library `oidc-provider` on loopback, with the pages for development that it brings along. */
export async function startRealProvider(options: {
  readonly port: string;
  /** The platform that people sign in to. */
  readonly platformUrl: string;
}): Promise<RealProvider> {
  const { port, platformUrl } = options;
  const issuer = `http://127.0.0.1:${port}`;
  const users = new Map<string, ProviderUser>();
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        redirect_uris: [`${platformUrl}/sign-in/callback`],
        backchannel_logout_uri: `${platformUrl}/api/session/oidc/back-channel`,
        backchannel_logout_session_required: true,
        post_logout_redirect_uris: [`${platformUrl}/sign-in`],
        grant_types: ["authorization_code"],
        response_types: ["code"],
      },
    ],
    jwks: { keys: [{ ...(await exportJWK(privateKey)), kid: "one", alg: "RS256", use: "sig" }] },
    features: { backchannelLogout: { enabled: true } },
    cookies: { keys: ["of the tests"] },
    scopes: ["openid", "email", "profile", "groups"],
    claims: {
      openid: ["sub"],
      email: ["email", "email_verified"],
      profile: ["name"],
      groups: ["groups"],
    },
    findAccount: (_: unknown, id: string) => ({
      accountId: id,
      claims: () => ({ sub: id, ...users.get(id) }),
    }),
  });
  const server = createServer(provider.callback());
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(Number(port), "127.0.0.1", resolve);
  await promise;
  return {
    issuer,
    users,
    async stop() {
      server.closeAllConnections();
      const { promise: closed, resolve: onClosed } = Promise.withResolvers<void>();
      server.close(() => onClosed());
      await closed;
    },
  };
}

/** Follows links, sends forms and keeps cookies, as a browser without scripts. */
export class PlainBrowser {
  readonly #cookies = new Map<string, string>();

  /** Signs in at the pages of the provider; the address on which the platform is reached again. */
  async signIn(url: string, login: string, until: string): Promise<URL> {
    let page = await this.#open(url, until);
    for (let steps = 0; steps < 4 && !("back" in page); steps++) {
      const action = /<form[^>]*action="([^"]+)"/.exec(page.text)?.[1];
      if (action === undefined) throw new Error(`no form: ${page.text.slice(0, 500)}`);
      const isLogin = page.text.includes('name="login"');
      const fields = isLogin ? { prompt: "login", login, password: "any" } : { prompt: "consent" };
      page = await this.#open(new URL(action, page.url).href, until, new URLSearchParams(fields));
    }
    if ("back" in page) return page.back;
    throw new Error("the provider did not send the browser back");
  }

  /** Confirms at the provider; the address on which the platform is reached again. */
  async signOut(url: string, until: string): Promise<URL> {
    const page = await this.#open(url, until);
    if ("back" in page) return page.back;
    const action = /<form[^>]*action="([^"]+)"/.exec(page.text)?.[1] ?? "";
    const xsrf = /name="xsrf" value="([^"]+)"/.exec(page.text)?.[1] ?? "";
    const form = new URLSearchParams({ xsrf, logout: "yes" });
    const left = await this.#open(new URL(action, page.url).href, until, form);
    if ("back" in left) return left.back;
    throw new Error(`not signed out: ${left.text.slice(0, 500)}`);
  }

  async #open(
    start: string,
    until: string,
    form?: URLSearchParams,
  ): Promise<{ readonly back: URL } | { readonly text: string; readonly url: string }> {
    let url = start;
    let body = form;
    for (let hops = 0; hops < 10; hops++) {
      const { host } = new URL(url);
      const response = await fetch(url, {
        redirect: "manual",
        headers: { cookie: this.#cookieOf(host) },
        ...(body === undefined ? {} : { method: "POST", body }),
      });
      for (const text of response.headers.getSetCookie()) this.#keep(host, text);
      const location = response.headers.get("location");
      if (location === null) return { text: await response.text(), url };
      url = new URL(location, url).href;
      body = undefined;
      if (url.startsWith(until)) return { back: new URL(url) };
    }
    throw new Error(`too many redirects from ${start}`);
  }

  #keep(host: string, text: string): void {
    const [pair = ""] = text.split(";");
    const name = pair.slice(0, pair.indexOf("="));
    if (/expires=Thu, 01 Jan 1970/i.test(text)) this.#cookies.delete(`${host} ${name}`);
    else this.#cookies.set(`${host} ${name}`, pair);
  }

  #cookieOf(host: string): string {
    return [...this.#cookies]
      .filter(([key]) => key.startsWith(`${host} `))
      .map(([, pair]) => pair)
      .join("; ");
  }
}
