/** The checksum of a page of Ogg, whose own four bytes for it count as zeros. */
export function oggChecksum(page: Uint8Array): number {
  let crc = 0;
  for (let at = 0; at < page.length; at++) {
    const byte = at >= fieldStart && at < fieldEnd ? 0 : (page[at] ?? 0);
    crc = (crc << 8) ^ (table[(crc >>> 24) ^ byte] ?? 0);
  }
  return crc >>> 0;
}

const fieldStart = 22;
const fieldEnd = 26;
const polynomial = 0x04c11db7;

const table = Int32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 24;
  for (let bit = 0; bit < 8; bit++) crc = (crc << 1) ^ (crc < 0 ? polynomial : 0);
  return crc;
});
