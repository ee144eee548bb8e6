import { Button, SegmentedControl, Textarea, VisuallyHidden } from "@mantine/core";
import { IconDownload, IconPlayerStop, IconVolume } from "@tabler/icons-react";
import { useState } from "react";
import { formatCount, formatMs } from "../../../format/figures.ts";
import { CodeButton } from "../code-button.tsx";
import { TroubleNotice } from "../gateway/trouble-notice.tsx";
import type { ModeProps } from "../models.ts";
import shared from "../playground.module.css";
import { Receipt } from "../receipt/receipt.tsx";
import { SettingsSide } from "../settings-side.tsx";
import { Player } from "./player.tsx";
import classes from "./speech.module.css";
import { type Spoken, useSpeech } from "./use-speech.ts";
import { VoicePicker, voices } from "./voice-picker.tsx";

const mostCharacters = 5_000;
const example = "Good morning. This text was turned into speech by a model behind this gateway.";

export function SpeechMode({ access, baseUrl, models, model, onModel }: ModeProps) {
  const [text, setText] = useState(example);
  const [voice, setVoice] = useState<string>(voices[0]);
  const [format, setFormat] = useState<"wav" | "pcm">("wav");
  const { isBusy, trouble, spoken, speak, stop } = useSpeech(access);
  const body = { model: model.id, input: text, voice, response_format: format };
  const isTooLong = text.length > mostCharacters;
  return (
    <div className={shared.layout}>
      <div className={classes.main}>
        <Textarea
          label="Text to speak"
          autosize
          minRows={4}
          maxRows={14}
          value={text}
          onChange={({ currentTarget }) => setText(currentTarget.value)}
          error={isTooLong && `At most ${formatCount(mostCharacters)} characters.`}
        />
        <div className={classes.actions}>
          <span className={classes.count}>
            {formatCount(text.length)} of {formatCount(mostCharacters)} characters
          </span>
          {isBusy ? (
            <Button variant="default" leftSection={<IconPlayerStop size={16} />} onClick={stop}>
              Stop
            </Button>
          ) : (
            <Button
              leftSection={<IconVolume size={16} />}
              disabled={text.trim() === "" || isTooLong}
              onClick={() => speak(body)}
            >
              {" "}
              Generate{" "}
            </Button>
          )}
        </div>
        <TroubleNotice trouble={trouble} onRetry={() => speak(body)} />
        {isBusy && spoken === undefined && <p className={classes.note}>Generating speech…</p>}
        {spoken !== undefined && <SpokenView spoken={spoken} isComing={isBusy} />}
      </div>
      <SettingsSide label="Speech settings" models={models} model={model} onModel={onModel}>
        <VoicePicker value={voice} onChange={setVoice} />
        <div>
          <p className={classes.label} id="speech-format">
            Format
          </p>
          <SegmentedControl
            fullWidth
            aria-labelledby="speech-format"
            data={[
              { value: "wav", label: "WAV" },
              { value: "pcm", label: "PCM" },
            ]}
            value={format}
            onChange={(value) => setFormat(value === "pcm" ? "pcm" : "wav")}
          />
        </div>
        <CodeButton options={() => ({ path: "/audio/speech", baseUrl, body })} />
        <p className="soft small below">
          Speech is in preview and may change. Audio streams in as 24 kHz, 16-bit mono.
        </p>
      </SettingsSide>
    </div>
  );
}

function SpokenView({ spoken, isComing }: { readonly spoken: Spoken; readonly isComing: boolean }) {
  const { seconds, bars, playUrl, downloadUrl, format, requestId } = spoken;
  const length = formatMs(seconds * 1_000);
  const isWhole = playUrl !== undefined;
  return (
    <section className={shared.result} aria-label="Audio">
      <div className={classes.spoken}>
        <Player url={playUrl} seconds={seconds} bars={bars} />
        <div className={classes.below}>
          <span>
            {isWhole ? `${length} of speech` : `${length} so far${isComing ? "…" : ", stopped"}`}
          </span>
          {downloadUrl !== undefined && (
            <Button
              component="a"
              href={downloadUrl}
              download={`speech.${format}`}
              variant="default"
              size="xs"
              leftSection={<IconDownload size={16} />}
            >
              Download {format.toUpperCase()}
            </Button>
          )}
        </div>
        <VisuallyHidden role="status">
          {isWhole ? `Ready: ${length} of speech.` : ""}
        </VisuallyHidden>
      </div>
      {requestId !== undefined && !isComing && <Receipt requestId={requestId} />}
    </section>
  );
}
