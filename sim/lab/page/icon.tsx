import type { JSX } from 'preact';

/** The signs of a player, drawn: not every font has them. */
const SHAPES = {
  first: 'M4 3v10M13 3L6 8l7 5Z',
  back: 'M11 3L4 8l7 5Z',
  play: 'M5 3l8 5-8 5Z',
  pause: 'M5 3v10M11 3v10',
  forward: 'M5 3l7 5-7 5Z',
  last: 'M12 3v10M3 3l7 5-7 5Z',
} as const;

export function Icon({ name }: { name: keyof typeof SHAPES }): JSX.Element {
  return (
    <svg
      class={`icon-${name}`}
      viewBox="0 0 16 16"
      width="16"
      height="16"
      fill={name === 'back' || name === 'forward' ? 'none' : 'currentColor'}
      stroke="currentColor"
      stroke-width="1.6"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d={SHAPES[name]} />
    </svg>
  );
}
