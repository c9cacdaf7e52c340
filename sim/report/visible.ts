const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}]/gu;

/**
 * Text that is safe to print on one line: control characters, line breaks, direction overrides, lone
 * surrogates and unassigned code points become `\u{…}`. Ids and error texts come from outside, and one that holds an escape sequence
 * must not be able to repaint the reader's terminal.
 */
export function visible(text: string): string {
  return text.replace(INVISIBLE, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `\\u{${code.toString(16)}}`;
  });
}
