import type { SpeechAudioDone } from "../openapi/replies.ts";

/** Speech as server-sent events; the pieces, decoded and joined, are the audio file. */
export function toSpeechDelta(audio: Uint8Array): string {
  const { buffer, byteOffset, byteLength } = audio;
  // Base64 needs no escaping in JSON.
  const text = Buffer.from(buffer, byteOffset, byteLength).toString("base64");
  return `data: {"type":"speech.audio.delta","audio":"${text}"}\n\n`;
}

export function toSpeechDone(usage: { readonly input: number; readonly output: number }): string {
  const { input, output } = usage;
  const done: SpeechAudioDone = {
    type: "speech.audio.done",
    usage: { input_tokens: input, output_tokens: output, total_tokens: input + output },
  };
  return `data: ${JSON.stringify(done)}\n\n`;
}
