/** The font of the timeline's words; the style sheet names the same. */
const TIMELINE_FONT = '13px system-ui, sans-serif';
const BOLD = `600 ${TIMELINE_FONT}`;

let context: CanvasRenderingContext2D | null = null;
const known = new Map<string, number>();
const MOST_KNOWN = 20_000;

/** A text's width in pixels. Where there is no canvas to measure on, a fair guess. */
export function textWidth(text: string, isBold: boolean): number {
  const key = isBold ? `bold ${text}` : `thin ${text}`;
  const found = known.get(key);
  if (found !== undefined) return found;
  context ??= document.createElement('canvas').getContext('2d');
  if (known.size >= MOST_KNOWN) known.clear();
  if (context !== null) context.font = isBold ? BOLD : TIMELINE_FONT;
  const width = context?.measureText(text).width ?? text.length * 8;
  known.set(key, width);
  return width;
}
