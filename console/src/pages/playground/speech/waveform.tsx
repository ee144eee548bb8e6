import classes from "./speech.module.css";

const height = 72;
const step = 5;
const width = 3;

interface WaveformProps {
  /** From 0 to 1, one a bar. */
  readonly bars: readonly number[];
  /** How much of it was played, from 0 to 1. */
  readonly played: number;
}

/** How loud it is where; beside controls that say the same in words. */
export function Waveform({ bars, played }: WaveformProps) {
  const loudest = Math.max(...bars, 0.05);
  return (
    <svg
      className={classes.wave}
      viewBox={`0 0 ${bars.length * step} ${height}`}
      preserveAspectRatio="none"
      aria-hidden="true"
      focusable="false"
    >
      {bars.map((level, at) => {
        const tall = Math.max(2, (level / loudest) * height);
        return (
          <rect
            key={at}
            x={at * step}
            y={(height - tall) / 2}
            width={width}
            height={tall}
            rx={1.5}
            data-played={(at + 0.5) / bars.length <= played}
          />
        );
      })}
    </svg>
  );
}
