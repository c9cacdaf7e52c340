import { plainPalette, type Palette, type Style } from '../report/palette.ts';

/** SGR codes that both light and dark themes render legibly: the sixteen colours are the reader's own. */
const CODES: Record<Exclude<Style, 'plain'>, [on: number, off: number]> = {
  heading: [1, 22],
  faint: [2, 22],
  change: [36, 39],
  fault: [33, 39],
  bad: [31, 39],
  good: [32, 39],
};

/** Colours for a terminal, or none. */
export function ansiPalette(colour: boolean): Palette {
  if (!colour) return plainPalette;
  return (style, text) => {
    if (style === 'plain') return text;
    const [on, off] = CODES[style];
    return `\u001b[${on}m${text}\u001b[${off}m`;
  };
}
