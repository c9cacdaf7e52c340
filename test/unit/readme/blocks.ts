/** A fenced block of a Markdown text. */
export interface Block {
  language: string;
  text: string;
  /** The line of its first line of text, from 1 on. */
  line: number;
}

/** The fenced blocks of a Markdown text, in order. */
export function blocksOf(markdown: string): Block[] {
  return [...markdown.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map((match) => ({
    language: match[1] ?? '',
    text: match[2] ?? '',
    line: markdown.slice(0, match.index).split('\n').length + 1,
  }));
}
