/**
 * A copy of a video that is safe to hand to the demuxer.
 *
 * The demuxer trusts the counts and the pointers in a file: a dozen hostile bytes make it fill the
 * memory or loop for minutes, and it does so without yielding, where no timer can stop it. So we read
 * the structure first, in linear time, refuse what is cut or absurd, and in the copy rename whatever
 * does not time the video frames, which the demuxer then skips.
 */
export type Redaction =
  | { readonly ok: true; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly ok: false; readonly problem: string };
