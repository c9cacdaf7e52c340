const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** Those that error texts are full of, in the form that everybody knows. */
const FAMILIAR: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/**
 * Text that is safe to print on one line: control characters, line breaks, direction overrides, lone
 * surrogates and unassigned code points become `\n` or `\u{…}`. Ids and error texts come from outside, and one
 * that holds an escape sequence must not be able to repaint the reader's terminal.
 */
export function visible(text: string): string {
  return text.replace(INVISIBLE, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return FAMILIAR[character] ?? `\\u{${code.toString(16)}}`;
  });
}
