import { useEffect, useRef, useState } from "react";
import type { GatewayAccess } from "../gateway/gateway-access.ts";
import { callGateway } from "../gateway/gateway-call.ts";
import { useRun } from "../gateway/use-run.ts";
import { AudioIntake, levelsASecond, toBars } from "./audio-intake.ts";

export interface Spoken {
  readonly text: string;
  readonly format: "wav" | "pcm";
  readonly seconds: number;
  readonly bars: readonly number[];
  /** Of a WAV that plays, once the last byte is there. */
  readonly playUrl: string | undefined;
  readonly downloadUrl: string | undefined;
  readonly requestId: string | undefined;
}

interface SpeechBody {
  readonly model: string;
  readonly input: string;
  readonly voice: string;
  readonly response_format: "wav" | "pcm";
}

const barCount = 96;
/** About as fast as people speak; only to place the first bars of what is still coming. */
const charactersASecond = 15;

export function useSpeech(access: GatewayAccess) {
  const { isBusy, trouble, run, stop } = useRun();
  const [spoken, setSpoken] = useState<Spoken>();
  const urls = useRef<readonly string[]>([]);
  const release = () => {
    for (const url of urls.current) URL.revokeObjectURL(url);
    urls.current = [];
  };
  useEffect(() => release, []);
  const speak = (body: SpeechBody) =>
    void run(async (signal) => {
      release();
      setSpoken(undefined);
      const response = await callGateway(access, { path: "/audio/speech", body, signal });
      const requestId = response.headers.get("x-request-id") ?? undefined;
      const { input: text, response_format: format } = body;
      const intake = new AudioIntake(format);
      const view = (isWhole: boolean) => ({
        text,
        format,
        seconds: intake.seconds,
        bars: toBars({
          levels: intake.levels,
          count: barCount,
          total: isWhole ? 0 : (text.length / charactersASecond) * levelsASecond,
        }),
        playUrl: undefined,
        downloadUrl: undefined,
        requestId,
      });
      await readAll(response, (chunk) => {
        intake.add(chunk);
        setSpoken(view(false));
      });
      const playUrl = URL.createObjectURL(intake.toWav());
      const downloadUrl = format === "wav" ? playUrl : URL.createObjectURL(intake.toPcm());
      urls.current = [playUrl, downloadUrl];
      setSpoken({ ...view(true), playUrl, downloadUrl });
    });
  return { isBusy, trouble, spoken, speak, stop };
}

async function readAll(response: Response, take: (chunk: Uint8Array) => void): Promise<void> {
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  for (let read = await reader.read(); !read.done; read = await reader.read()) take(read.value);
}
