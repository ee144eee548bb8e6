import { Problem } from "../../base/problem.ts";
import { MigrationFailure } from "../sql/migrate.ts";
import { noAnswer } from "./client.ts";
import { onlyReading, toPostgresUrl } from "./postgres.ts";
import { tlsFiles } from "./tls.ts";

/**
 * A message for a person in place of a stack: what is wrong with the database server, and what to
 * do. Unknown errors are returned unchanged. The password is in no message.
 */
export function toPostgresProblem(error: unknown, url: string): unknown {
  // Its message is complete already, and its cause may be of another server than this one.
  if (error instanceof Problem && !(error instanceof MigrationFailure)) return error;
  const place = placeOf(url);
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth++) {
    const fault = faultOf(at);
    if (fault.path !== "" && !place.files.has(fault.path)) continue;
    const rule = rules.find(
      ({ code, text }) => (code?.test(fault.code) ?? true) && (text?.test(fault.text) ?? true),
    );
    if (rule === undefined) continue;
    const message = rule.say({ ...place, ...fault });
    return new Problem({ code: "failed", message, cause: error });
  }
  return error;
}

/** The server may answer again by itself: it is down, cut off, overloaded or restarting. */
export function isAway(error: unknown): boolean {
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth++) {
    const { code, text } = faultOf(at);
    if (away.test(code) || (code === "" && awayTexts.test(text))) return true;
  }
  return false;
}

const away = new RegExp(
  `^(${noAnswer}|ECONN\\w+|EPIPE|ETIMEDOUT|E(HOST|NET)UNREACH|ENETDOWN|EAI_AGAIN|57P0[123]|08\\w{3}|53300)$`,
);
/** The driver has no codes for them. */
const awayTexts =
  /timeout expired|connection timeout|timeout exceeded when trying to connect|not queryable|Connection terminated/;

interface Place {
  /** With its port. */
  readonly server: string;
  readonly host: string;
  readonly user: string;
  readonly database: string;
  /** Of TLS, with the word that names each. */
  readonly files: ReadonlyMap<string, string>;
}

interface Fault {
  /** Of the server or the system; "" where the driver gives none. */
  readonly code: string;
  readonly text: string;
  /** Of a file that could not be read; only those of TLS are ours. */
  readonly path: string;
}

function placeOf(url: string): Place {
  const parsed = toPostgresUrl(url);
  const host = parsed?.hostname ?? "";
  return {
    host,
    server: `${host}:${parsed?.port || "5432"}`,
    user: decodeURIComponent(parsed?.username ?? ""),
    database: decodeURIComponent(parsed?.pathname.slice(1) ?? ""),
    files: new Map(tlsFiles.map((name) => [parsed?.searchParams.get(name) ?? "", name])),
  };
}

function faultOf(error: Error): Fault {
  const textOf = (name: "code" | "path") => {
    const value: unknown = Reflect.get(error, name);
    return typeof value === "string" ? value : "";
  };
  return { code: textOf("code"), path: textOf("path"), text: error.message };
}

interface Rule {
  /** What the fault must have; the first rule that fits speaks. */
  readonly code?: RegExp;
  readonly text?: RegExp;
  readonly say: (fault: Place & Fault) => string;
}

/** As SQL wants it. */
const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;

const silent = (server: string) =>
  `The database server at ${server} does not answer. Check the address in SVC_DATABASE_URL, the firewall and the load of the server.`;

const connecting: readonly Rule[] = [
  {
    code: /^(ENOENT|EACCES|EISDIR|ENOTDIR)$/,
    say: ({ path, files, code }) =>
      `The file ${path} cannot be read (${code}). Correct ${files.get(path)} in SVC_DATABASE_URL.`,
  },
  {
    code: /^ECONNREFUSED$/,
    say: ({ server, code }) =>
      `No database server answers at ${server} (${code}). Start it, or correct the host and port in SVC_DATABASE_URL.`,
  },
  {
    code: /^(ENOTFOUND|EAI_\w+)$/,
    say: ({ host, code }) =>
      `The host ${host} of the database server cannot be found (${code}). Correct it in SVC_DATABASE_URL.`,
  },
  {
    code: /^(ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENETDOWN)$/,
    say: ({ server, code }) =>
      `The database server at ${server} cannot be reached (${code}). Check the address in SVC_DATABASE_URL, the network and the firewall.`,
  },
  { code: new RegExp(`^${noAnswer}$`), say: ({ server }) => silent(server) },
  {
    code: /^$/,
    text: /timeout expired|connection timeout|timeout exceeded when trying to connect|not queryable/,
    say: ({ server }) => silent(server),
  },
  {
    code: /^57P03$/,
    say: ({ server }) =>
      `The database server at ${server} is starting or shutting down. Try again in a moment.`,
  },
  {
    code: /^$/,
    text: /error establishing an SSL connection/,
    say: ({ server }) =>
      `What answers at ${server} is not a PostgreSQL server. Correct the host and port in SVC_DATABASE_URL.`,
  },
  {
    code: /^(ECONNRESET|EPIPE|57P0[12]|08\w{3})$/,
    say: ({ server, code }) =>
      `The database server at ${server} closed the connection (${code}). Check that it is running, and its log.`,
  },
  {
    code: /^$/,
    text: /Connection terminated unexpectedly/,
    say: ({ server }) =>
      `The database server at ${server} closed the connection. Check that it is a PostgreSQL server, and its log.`,
  },
  {
    code: /^53300$/,
    say: ({ server, user, code }) =>
      `The database server at ${server} has no free connection (${code}). Raise its max_connections or the CONNECTION LIMIT of role ${quoted(user)}, or lower SVC_DATABASE_CONNECTIONS.`,
  },
];

const tls: readonly Rule[] = [
  {
    code: /^$/,
    text: /does not support SSL/,
    say: ({ server }) =>
      `The database server at ${server} does not offer TLS, which sslmode requires. Switch on TLS at the server, or set sslmode=disable in SVC_DATABASE_URL if the network is trusted.`,
  },
  {
    code: /^(CERT_HAS_EXPIRED|CERT_NOT_YET_VALID)$/,
    say: ({ server, code }) =>
      `The certificate of the database server at ${server} is not valid now (${code}). Renew it, and check the clock of this machine.`,
  },
  {
    code: /^ERR_TLS_CERT_ALTNAME_INVALID$/,
    say: ({ host, code }) =>
      `The certificate of the database server is not for ${host} (${code}). Use a name that it has in SVC_DATABASE_URL, or sslmode=verify-ca.`,
  },
  {
    code: /SELF_SIGNED_CERT|UNABLE_TO_(GET|VERIFY)|CERT_(UNTRUSTED|REJECTED|SIGNATURE)/,
    say: ({ server, code }) =>
      `The certificate of the database server at ${server} is not trusted (${code}). Name the file with its authority's certificate in SVC_DATABASE_URL: sslrootcert=FILE.`,
  },
];

/** The certificate that this side shows. */
const clientCertificate: readonly Rule[] = [
  {
    code: /^ERR_(OSSL_\w+|BORINGSSL)$/,
    say: ({ code }) =>
      `The certificate files for the database server cannot be used (${code}). In SVC_DATABASE_URL, sslcert and sslrootcert must name PEM certificates, sslkey the key of sslcert, and sslpassword the password of the key if it has one.`,
  },
  {
    code: /^ERR_SSL_\w+_ALERT_(UNKNOWN_CA|\w*CERTIFICATE\w*)$/,
    say: ({ server, code }) =>
      `The database server at ${server} rejects the client certificate (${code}). Name a valid one of an authority that it trusts in SVC_DATABASE_URL: sslcert=FILE and sslkey=FILE.`,
  },
  {
    code: /^28000$/,
    text: /valid client certificate/,
    say: ({ user, code }) =>
      `The database server requires a client certificate from user ${quoted(user)} (${code}). Name its files in SVC_DATABASE_URL: sslcert=FILE and sslkey=FILE.`,
  },
  {
    code: /^28000$/,
    text: /certificate authentication failed/,
    say: ({ user, code }) =>
      `The client certificate is not for user ${quoted(user)} of the database server (${code}). Correct the user or sslcert in SVC_DATABASE_URL.`,
  },
];

const access: readonly Rule[] = [
  {
    code: /^28P01$/,
    say: ({ user, code }) =>
      `The database server rejects the password of user ${quoted(user)} (${code}). Correct it in SVC_DATABASE_URL, where characters such as @ and / must be percent-encoded.`,
  },
  {
    text: /client password must be a/,
    say: ({ user }) =>
      `The database server requires a password for user ${quoted(user)}. Add it to SVC_DATABASE_URL: postgres://user:password@host:5432/database.`,
  },
  {
    code: /^28000$/,
    text: /pg_hba\.conf.*no encryption/,
    say: ({ user, code }) =>
      `The database server does not accept user ${quoted(user)} from here without TLS (${code}). Set sslmode=require in SVC_DATABASE_URL, or add a line to its pg_hba.conf.`,
  },
  {
    code: /^28000$/,
    text: /pg_hba\.conf/,
    say: ({ user, database, code }) =>
      `The database server does not accept user ${quoted(user)} from here (${code}). Add a line for the database ${quoted(database)} to its pg_hba.conf.`,
  },
  {
    code: /^28000$/,
    say: ({ user, code }) =>
      `User ${quoted(user)} cannot log in to the database server (${code}). Create the user there, or correct SVC_DATABASE_URL.`,
  },
  {
    code: /^3D000$/,
    say: ({ database, server, code }) =>
      `The database ${quoted(database)} does not exist at ${server} (${code}). Run CREATE DATABASE ${quoted(database)} there, or correct SVC_DATABASE_URL.`,
  },
  {
    code: /^42501$/,
    text: /for database/,
    say: ({ user, database, code }) =>
      `User ${quoted(user)} has no right to use the database (${code}). Run GRANT CONNECT ON DATABASE ${quoted(database)} TO ${quoted(user)} as its owner.`,
  },
  {
    code: /^(42501|3F000)$/,
    text: /schema/,
    say: ({ user, database, code }) =>
      `User ${quoted(user)} has no right to create tables in the database ${quoted(database)} (${code}). Run GRANT USAGE, CREATE ON SCHEMA public TO ${quoted(user)} in it, as its owner.`,
  },
  {
    code: /^42501$/,
    say: ({ user, text, code }) =>
      `User ${quoted(user)} has no right to the tables of the database (${code}: ${text}). Use the user that created them in SVC_DATABASE_URL.`,
  },
];

const running: readonly Rule[] = [
  { code: /^25006$/, say: () => onlyReading },
  {
    code: /^(53100|53200)$/,
    say: ({ server, code }) =>
      `The database server at ${server} has no disk space or memory left (${code}). Free some and try again.`,
  },
  {
    code: /^42P01$/,
    say: ({ database, code }) =>
      `The database ${quoted(database)} does not have the gateway's tables yet (${code}). Run svc migrate, or start the server once.`,
  },
  {
    code: /^57014$/,
    say: ({ server, code }) =>
      `The database server at ${server} took too long and canceled the statement (${code}). Check its load, and what else holds locks, and try again.`,
  },
];

const rules: readonly Rule[] = [...connecting, ...tls, ...clientCertificate, ...access, ...running];
