import stringWidth from 'string-width';
import type { Palette, Style } from './palette.ts';

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Text whose every character is one cell wide: nearly all, and not worth a segmenter. */
const PLAIN = /^[\x20-\x7e\u2500-\u257f]*$/;

interface Cell {
  /** A grapheme, or the empty string in the second cell of a wide one. */
  text: string;
  style: Style;
}

/** One line of a drawing. What is put later covers what was there, cell by cell. */
export class Line {
  readonly #cells: Cell[] = [];

  /** Puts text at a cell (0 is the leftmost). Text must have passed `visible`. */
  put(at: number, text: string, style: Style = 'plain'): this {
    while (this.#cells.length < at) this.#cells.push({ text: ' ', style: 'plain' });
    if (PLAIN.test(text)) {
      for (let index = 0; index < text.length; index += 1) {
        this.#cells[at + index] = { text: text.charAt(index), style };
      }
      return this;
    }
    let column = at;
    for (const { segment } of graphemes.segment(text)) {
      const width = stringWidth(segment);
      if (width === 0) continue;
      this.#cells[column] = { text: segment, style };
      for (let covered = 1; covered < width; covered += 1) {
        this.#cells[column + covered] = { text: '', style };
      }
      column += width;
    }
    return this;
  }

  /** Puts another line's cells, with their styles, from a cell on. */
  append(at: number, other: Line): this {
    while (this.#cells.length < at) this.#cells.push({ text: ' ', style: 'plain' });
    for (const [offset, cell] of other.#cells.entries()) this.#cells[at + offset] = cell;
    return this;
  }

  /** Cells in use, blanks at the end left out. */
  get width(): number {
    let end = this.#cells.length;
    while (end > 0 && this.#cells[end - 1]?.text === ' ') end -= 1;
    return end;
  }

  /** The line with its colours, without blanks at its end. */
  render(palette: Palette): string {
    let out = '';
    let run = '';
    let style: Style = 'plain';
    for (const cell of this.#cells.slice(0, this.width)) {
      if (cell.style !== style && cell.text !== ' ') {
        if (run !== '') out += style === 'plain' ? run : palette(style, run);
        run = '';
        style = cell.style;
      }
      run += cell.text;
    }
    return out + (style === 'plain' || run === '' ? run : palette(style, run));
  }
}
