/** What a piece of a report is; how that looks is the palette's business, so that a browser can use classes. */
export type Style = 'plain' | 'heading' | 'faint' | 'change' | 'fault' | 'bad' | 'good';

/** Dresses text in a style: ANSI codes in a terminal, mark-up on a page, nothing in a file. */
export type Palette = (style: Style, text: string) => string;

/** The palette without colours. Every mark in a report is a word or a symbol too, so nothing is lost. */
export const plainPalette: Palette = (_style, text) => text;
