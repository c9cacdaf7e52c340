import { plainPalette, type Palette } from './palette.ts';
import { visible } from './visible.ts';
import { wrap } from './wrap.ts';

/** The longest title: all texts begin in the same column. */
const WIDEST_TITLE = 'Why it matters'.length;

/** A title and its text, wrapped beside it. */
export function paragraph(
  title: string,
  text: string,
  options: { width: number; palette?: Palette },
): string[] {
  const palette = options.palette ?? plainPalette;
  const indent = WIDEST_TITLE + 4;
  return wrap(visible(text), Math.max(options.width - indent, 30)).map((line, index) => {
    const lead = index === 0 ? title : '';
    return `  ${palette('heading', lead)}${' '.repeat(indent - 2 - lead.length)}${line}`;
  });
}
