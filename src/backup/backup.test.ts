import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import type { BackupAbout } from "./about.ts";
import { encodeHeader, fixedBytes, formatVersion, magic } from "./header.ts";
import { newKey } from "./protection.ts";
import { openBackup } from "./reader.ts";
import { chunkBytes, writeBackup } from "./writer.ts";

/** Guessing would be cheap; the tests derive many keys. */
const key = (passphrase: string) => newKey(passphrase, { n: 2, r: 1, p: 1 });
const passphrase = "correct horse battery staple";
const secret = "0123456789abcdef".repeat(4);
/** Three chunks, of which two are alike in length. */
const database = randomBytes(700);
const chunks = [database.subarray(0, 300), database.subarray(300, 600), database.subarray(600)];

const about: BackupAbout = {
  databaseBytes: database.length,
  secretFingerprint: "00ff00ff00ff00ff",
  hasSecret: false,
  migrations: ["0001-foundation"],
  newestReceipt: "req_1",
  sequence: 4,
  receipts: 2,
  accounts: 1,
};
const header = { version: "1.2.3", createdAtMs: 1_700_000_000_000 };

interface Wanted {
  readonly phrase?: string;
  readonly pieces?: readonly Uint8Array[];
  readonly more?: Partial<BackupAbout>;
}

async function written({ phrase, pieces = chunks, more = {} }: Wanted = {}): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  const hasSecret = phrase !== undefined;
  await writeBackup(
    {
      header,
      about: { ...about, hasSecret, ...more },
      secret: hasSecret ? secret : undefined,
      database: pieces,
    },
    {
      key: phrase === undefined ? undefined : await key(phrase),
      write: async (bytes) => void parts.push(bytes),
    },
  );
  return Buffer.concat(parts);
}

/** What a restore would write, in pieces as a slow pipe brings them. */
async function read(bytes: Buffer, phrase = passphrase) {
  const stream = (async function* () {
    for (let at = 0; at < bytes.length; at += 333) yield bytes.subarray(at, at + 333);
  })();
  const backup = await openBackup({
    name: "x.svcbackup",
    bytes: stream,
    passphrase: async () => phrase,
  });
  const pieces = await Array.fromAsync(backup.database());
  return { ...backup, bytes: Buffer.concat(pieces) };
}

const messageOf = (bytes: Buffer, phrase?: string) =>
  read(bytes, phrase).then(
    () => "read",
    (error: unknown) => String(error),
  );

/** Where each frame of the file begins. */
function framesOf(bytes: Buffer): readonly (readonly [number, number])[] {
  const frames: [number, number][] = [];
  let at = fixedBytes + bytes.readUInt32BE(magic.length + 4) + 32;
  while (at < bytes.length) {
    const end = at + 5 + bytes.readUInt32BE(at + 1);
    frames.push([at, end]);
    at = end;
  }
  return frames;
}

const kinds = [
  ["checksummed", {}],
  ["encrypted", { phrase: passphrase }],
] as const;

test.each(kinds)("a backup that is %s is read as it was written", async (_, wanted: Wanted) => {
  const found = await read(await written(wanted));
  expect(found.bytes.equals(database)).toBe(true);
  expect(found.header).toMatchObject(header);
  const isEncrypted = wanted.phrase !== undefined;
  expect(found.about).toEqual({ ...about, hasSecret: isEncrypted });
  expect(found.secret).toBe(isEncrypted ? secret : undefined);
});

test.each(kinds)("a backup that is %s and cut anywhere is refused", async (_, wanted: Wanted) => {
  const bytes = await written(wanted);
  for (let length = 1; length < bytes.length; length++)
    expect(await messageOf(bytes.subarray(0, length))).toContain("is cut short");
  expect(await messageOf(bytes.subarray(0, 0))).toContain("is empty");
});

test.each(kinds)(
  "a backup that is %s is refused with any byte changed",
  async (_, wanted: Wanted) => {
    const bytes = await written(wanted);
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 0x21;
      expect(await messageOf(changed)).toMatch(
        /is damaged|is cut short|is not a backup|has backup format/,
      );
    }
    expect(await messageOf(Buffer.concat([bytes, Buffer.of(0)]))).toContain("bytes follow its end");
  },
);

test.each(kinds)(
  "a backup that is %s is refused with frames swapped, left out, repeated or from another backup",
  async (_, wanted: Wanted) => {
    const bytes = await written(wanted);
    const frames = framesOf(bytes);
    const start = bytes.subarray(0, frames[0]?.[0]);
    const part = ([from, to]: readonly [number, number] = [0, 0], of = bytes) =>
      of.subarray(from, to);
    const whole = frames.map((frame) => part(frame));
    const first = frames.length - 4;
    const [one, two] = [whole[first], whole[first + 1]];
    const isPart = (piece: Buffer | undefined): piece is Buffer => piece !== undefined;
    const with_ = (...parts: (Buffer | undefined)[]) =>
      Buffer.concat([start, ...parts.filter(isPart)]);
    const before = whole.slice(0, first);
    const after = whole.slice(first + 2);
    expect(await messageOf(with_(...whole))).toBe("read");
    const other = await written(wanted);
    const foreign = part(framesOf(other)[first], other);
    for (const changed of [
      with_(...before, two, one, ...after),
      with_(...before, two, ...after),
      with_(...before, one, one, two, ...after),
      with_(...before, whole.at(-1)),
      // Without a passphrase, nothing tells two backups of the same moment apart.
      ...(wanted.phrase === undefined ? [] : [with_(...before, foreign, two, ...after)]),
    ])
      expect(await messageOf(changed)).toContain("is damaged");
  },
);

test("an encrypted backup shows nothing of its content, and needs its passphrase", async () => {
  const bytes = await written({ phrase: passphrase, pieces: [Buffer.alloc(700, "svc-content ")] });
  for (const word of [secret, "req_1", "svc-content", about.secretFingerprint, passphrase])
    expect(bytes.includes(word)).toBe(false);
  expect(await messageOf(bytes, "another passphrase")).toContain(
    "The passphrase is wrong for x.svcbackup. Nothing was changed.",
  );
  // An accent can be typed as one character or as two.
  const accented = await written({ phrase: "caf\u00e9 caf\u00e9 caf\u00e9" });
  expect((await read(accented, "cafe\u0301 cafe\u0301 cafe\u0301")).secret).toBe(secret);
});

test("a newer format and other files are named", async () => {
  const bytes = await written();
  bytes.writeUInt32BE(formatVersion + 1, magic.length);
  expect(await messageOf(bytes)).toContain(
    "has backup format 2, but this version of svc reads only format 1. Restore it with the version",
  );
  expect(await messageOf(Buffer.from("SQLite format 3\0".repeat(9)))).toContain(
    "x.svcbackup is not a backup of svc gateway",
  );
});

test("what a hostile file claims costs neither memory nor time", async () => {
  // A chunk of 60 MB that compresses to nearly nothing, with valid checksums.
  const bomb = await written({ pieces: [Buffer.alloc(60 * chunkBytes)] });
  expect(bomb.length).toBeLessThan(20_000);
  expect(await messageOf(bomb)).toContain("cannot be decompressed");
  const more = await written({ pieces: [...chunks, Buffer.alloc(9)] });
  expect(await messageOf(more)).toContain("more data than its description says");
  const less = await written({ pieces: chunks.slice(1) });
  expect(await messageOf(less)).toContain("its database is incomplete");
  const long = await written();
  const [from = 0] = framesOf(long)[1] ?? [];
  long.writeUInt32BE(0xffff_ffff, from + 1);
  expect(await messageOf(long)).toContain("is not a part of it");
  const costs = [
    { n: 2 ** 30, r: 8, p: 1 },
    { n: 2 ** 20, r: 64, p: 1 },
    { n: 2, r: 1, p: 1_000_000 },
    { n: 0, r: 0, p: 0 },
  ];
  const hex = "00".repeat(16);
  for (const cost of costs) {
    const expensive = encodeHeader({ ...header, scrypt: { ...cost, salt: hex, check: hex } });
    expect(await messageOf(expensive)).toContain("its key derivation is invalid");
  }
  const large = Buffer.from(await written());
  large.writeUInt32BE(0x7fff_ffff, magic.length + 4);
  expect(await messageOf(large)).toContain("its header is too large");
});
