import { Writable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { consoleOutput, type ProcessStream } from '../../../../sim/cli/console-output.ts';

/** A stream of the process, as a terminal of some width or as a pipe, that may break. */
function stream(columns?: number, error?: NodeJS.ErrnoException): ProcessStream {
  const written = new Writable({ write: (_chunk, _encoding, done) => done(error ?? null) });
  return Object.assign(written, columns === undefined ? {} : { isTTY: true, columns });
}

function broken(code: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`write ${code}`), { code });
}

describe('colour', () => {
  test.each([
    ['a terminal', 80, {}, true],
    ['a pipe', undefined, {}, false],
    ['a terminal with NO_COLOR', 80, { NO_COLOR: '1' }, false],
    ['a terminal with an empty NO_COLOR', 80, { NO_COLOR: '' }, true],
    ['a pipe with FORCE_COLOR', undefined, { FORCE_COLOR: '1' }, true],
    ['a pipe with an empty FORCE_COLOR', undefined, { FORCE_COLOR: '' }, true],
    ['a terminal with FORCE_COLOR=0', 80, { FORCE_COLOR: '0' }, false],
    ['both wishes', undefined, { FORCE_COLOR: '1', NO_COLOR: '1' }, true],
    ['a terminal that is dumb', 80, { TERM: 'dumb' }, false],
  ])('%s', (_name, columns, env, colour) => {
    expect(consoleOutput(stream(columns), env).colour).toBe(colour);
  });
});

describe('width', () => {
  test.each([
    ["the terminal's own", 132, {}, 132],
    ['100 where there is no terminal', undefined, {}, 100],
    ['what COLUMNS asks for, where there is no terminal', undefined, { COLUMNS: '120' }, 120],
    ['100 where COLUMNS is no number', undefined, { COLUMNS: 'wide' }, 100],
    ['60 at least: less cannot hold the columns', 20, {}, 60],
  ])('%s', (_name, columns, env, width) => {
    expect(consoleOutput(stream(columns), env).width).toBe(width);
  });
});

test('a reader that has gone away is no error, then and afterwards', async () => {
  const output = consoleOutput(stream(undefined, broken('EPIPE')), {});
  await expect(output.write('one')).resolves.toBeUndefined();
  await expect(output.write('two')).resolves.toBeUndefined();
});

test('a full disk is an error with its cause, and told once', async () => {
  const output = consoleOutput(stream(undefined, broken('ENOSPC')), {});
  await expect(output.write('one')).rejects.toMatchObject({ cause: { code: 'ENOSPC' } });
  await expect(output.write('two')).resolves.toBeUndefined();
});
