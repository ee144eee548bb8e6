import { ActionIcon } from "@mantine/core";
import { IconPlayerPause, IconPlayerPlay } from "@tabler/icons-react";
import { useEffect, useEffectEvent, useRef, useState } from "react";
import classes from "./speech.module.css";
import { Waveform } from "./waveform.tsx";

interface PlayerProps {
  /** Of the audio; undefined while it is still coming. */
  readonly url: string | undefined;
  readonly seconds: number;
  readonly bars: readonly number[];
}

/** The waveform is the slider: click, drag, or the arrow keys. */
export function Player({ url, seconds, bars }: PlayerProps) {
  const audio = useRef<HTMLAudioElement>(null);
  const [isPlaying, setPlaying] = useState(false);
  const [at, setAt] = useState(0);
  useFrames(isPlaying, () => setAt(audio.current?.currentTime ?? 0));
  const toggle = () => {
    if (audio.current === null) return;
    if (isPlaying) audio.current.pause();
    else void audio.current.play().catch(() => setPlaying(false));
  };
  const seek = (to: number) => {
    if (audio.current !== null) audio.current.currentTime = to;
    setAt(to);
  };
  return (
    <div className={classes.player}>
      {/* Speech that was just made from the text above it: the text is its caption. */}
      <audio
        ref={audio}
        src={url}
        preload="auto"
        onPlay={() => setPlaying(true)}
        onPause={() => setPlaying(false)}
        onEnded={() => setAt(seconds)}
      />
      <ActionIcon
        size={44}
        radius="xl"
        variant="filled"
        color="lagoon"
        disabled={url === undefined}
        aria-label={isPlaying ? "Pause" : "Play"}
        onClick={toggle}
      >
        {isPlaying ? <IconPlayerPause size={20} /> : <IconPlayerPlay size={20} />}
      </ActionIcon>
      <div className={classes.track}>
        <Waveform bars={bars} played={seconds === 0 ? 0 : at / seconds} />
        <input
          type="range"
          className={classes.seek}
          aria-label="Position in the audio"
          aria-valuetext={`${toTime(at)} of ${toTime(seconds)}`}
          min={0}
          max={seconds}
          step={0.1}
          value={Math.min(at, seconds)}
          disabled={url === undefined}
          onChange={({ currentTarget }) => seek(Number(currentTarget.value))}
        />
      </div>
      <span className={classes.time}>
        {toTime(at)} / {toTime(seconds)}
      </span>
    </div>
  );
}

/** Calls at every frame while it is asked to. */
function useFrames(isOn: boolean, onFrame: () => void): void {
  const tell = useEffectEvent(onFrame);
  useEffect(() => {
    if (!isOn) return;
    let frame = requestAnimationFrame(function next() {
      tell();
      frame = requestAnimationFrame(next);
    });
    return () => cancelAnimationFrame(frame);
  }, [isOn]);
}

function toTime(seconds: number): string {
  const tenths = Math.round(seconds * 10);
  const rest = (tenths % 600) / 10;
  return `${Math.floor(tenths / 600)}:${rest.toFixed(1).padStart(4, "0")}`;
}
